// Command corpus opens every OpenAPI document below a folder, publishes every
// tool and has every distinct schema compiled by two validators that are not
// ours. It compares what it counts with kin-openapi, and with a small counter
// over the raw JSON where kin-openapi refuses the document.
//
//	corpus [-ajv FOLDER] [-state FILE] [-only N] DIR > report.md
//
// With -state it goes on where it was stopped: what FILE says of a document is
// not worked out again. FOLDER is one with ajv in its node_modules; without it
// only santhosh compiles. -only takes N documents, chosen by a hash of their
// names, so that it is always the same ones.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is what is known of one document.
type row struct {
	Name      string   `json:"name"`
	Opened    bool     `json:"opened"`
	Error     string   `json:"error,omitempty"`
	Tools     int      `json:"tools"`
	Skipped   int      `json:"skipped"` // operations with a fault instead of a tool
	Schemas   int      `json:"schemas"`
	Distinct  int      `json:"distinct"`            // not seen in an earlier document
	Bad       []string `json:"bad,omitempty"`       // that a validator refuses
	FirstPage float64  `json:"firstPage"`           // CPU seconds: open, index, first page
	All       float64  `json:"all"`                 // CPU seconds: all pages
	Oracle    string   `json:"oracle"`              // who counted for comparison
	Differs   string   `json:"differs,omitempty"`   // how the counts differ
	OracleErr string   `json:"oracleErr,omitempty"` // why kin-openapi has no count
}

func main() {
	log.SetFlags(0)
	ajv := flag.String("ajv", "", "folder with ajv in its node_modules")
	state := flag.String("state", "", "file that keeps what is done")
	only := flag.Int("only", 0, "how many documents, chosen by a hash; 0: all")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: corpus [-ajv FOLDER] [-state FILE] [-only N] DIR")
	}
	names, err := documents(flag.Arg(0), *only)
	if err != nil {
		log.Fatal(err)
	}
	done, keep, err := openState(*state)
	if err != nil {
		log.Fatal(err)
	}
	v := newValidators(*ajv)
	rows := make([]row, 0, len(names))
	for i, name := range names {
		r, known := done[name]
		if !known {
			r = examine(flag.Arg(0), name, v)
			keep(r)
		}
		rows = append(rows, r)
		if i%100 == 99 || len(r.Bad) > 0 || !r.Opened || r.Differs != "" {
			fmt.Fprintf(os.Stderr, "%d of %d: %s %s %s %s\n", i+1, len(names), name, r.Error, r.Differs, strings.Join(r.Bad, "; "))
		}
	}
	if err := v.close(); err != nil {
		log.Fatal(err)
	}
	report(os.Stdout, rows, *ajv != "")
	if !good(rows) {
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

// openState reads what was done before and returns how to add to it.
func openState(name string) (map[string]row, func(row), error) {
	done := map[string]row{}
	if name == "" {
		return done, func(row) {}, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r row
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last line may be half written
			done[r.Name] = r
		}
	}
	return done, func(r row) {
		line, err := json.Marshal(r)
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		if err != nil {
			log.Fatal(err)
		}
	}, lines.Err()
}
