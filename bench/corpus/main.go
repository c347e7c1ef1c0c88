// Command corpus opens every OpenAPI document below a folder, publishes every
// tool and has every distinct schema compiled by two validators that are not
// ours. It compares what it counts with kin-openapi, and with a small counter
// over the raw JSON where kin-openapi refuses the document.
//
//	corpus [-ajv FOLDER] [-state FILE] [-figures FILE] [-only N] DIR > report.md
//
// With -state a schema whose bytes FILE knows is not compiled again, by the same
// compilers; so a run goes on where the last one was stopped, and after a change
// of tenon only what it publishes differently is worked out. FOLDER is one with
// ajv in its node_modules; without it only santhosh compiles. -only takes N
// documents, chosen by a hash of their names, so that it is always the same ones.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is what is known of one document.
type row struct {
	Name       string
	Opened     bool
	Error      string
	Tools      int
	Skipped    int // operations with a diagnostic instead of a tool
	Schemas    int
	Distinct   int      // not seen in an earlier document
	Bad        []string // that a validator refuses
	All        float64  // CPU seconds: all pages
	Oracle     string   // who counted for comparison
	Differs    string   // how the counts differ
	Undeclared int      // arguments that a path names and no parameter declares
	OracleErr  string   // why kin-openapi has no count
}

func main() {
	log.SetFlags(0)
	ajv := flag.String("ajv", "", "folder with ajv in its node_modules")
	state := flag.String("state", "", "file that keeps what is known of schemas")
	figures := flag.String("figures", "", "file that gets the sums as JSON")
	only := flag.Int("only", 0, "how many documents, chosen by a hash; 0: all")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: corpus [-ajv FOLDER] [-state FILE] [-figures FILE] [-only N] DIR")
	}
	names, err := documents(flag.Arg(0), *only)
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := openLedger(*state)
	if err != nil {
		log.Fatal(err)
	}
	v, err := newValidators(*ajv, ledger)
	if err != nil {
		log.Fatal(err)
	}
	pages := firstPages(flag.Arg(0), names)
	rows := make([]row, 0, len(names))
	for i, name := range names {
		r := examine(flag.Arg(0), name, v)
		if k, ok := known[name]; ok && k.differs == r.Differs {
			fmt.Fprintf(os.Stderr, "%s: %s, as is meant: %s\n", name, r.Differs, k.reason)
			r.Differs = ""
		}
		rows = append(rows, r)
		if i%100 == 99 || len(r.Bad) > 0 || !r.Opened || r.Differs != "" {
			fmt.Fprintf(os.Stderr, "%d of %d: %s %s %s %s\n", i+1, len(names), name, r.Error, r.Differs, strings.Join(r.Bad, "; "))
		}
	}
	if err := v.close(); err != nil {
		log.Fatal(err)
	}
	s := sumOf(rows)
	s.FirstPages = pages
	s.report(os.Stdout, rows, v.names)
	if *figures != "" {
		if err := s.write(*figures); err != nil {
			log.Fatal(err)
		}
	}
	if s.Unopened+s.Refused+s.Differing > 0 {
		os.Exit(1)
	}
}

// documents lists the JSON and YAML files below dir.
func documents(dir string, only int) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(file)) {
			name, _ := filepath.Rel(dir, file)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if only > 0 && only < len(names) {
		hash := func(s string) uint32 {
			h := fnv.New32a()
			_, _ = h.Write([]byte(s))
			return h.Sum32()
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })
		names = names[:only]
	}
	slices.Sort(names)
	return names, err
}

// openLedger opens the file that tells what is known of schemas; none where
// name is empty.
func openLedger(name string) (io.ReadWriter, error) {
	if name == "" {
		return new(bytes.Buffer), nil
	}
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}
