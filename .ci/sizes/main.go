// Command sizes says what weighs in the binary that is released, by library:
// `sizes [-most MB]`, from the root of the module. It fails for a binary above the
// budget, and for one whose methods the linker may not leave out.
//
// It does not know what a library is for. What it reads is the linker's own word: the
// symbols of a binary for Linux, and the list of what each of them needs.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	target  = "./cmd/tenon"
	product = "github.com/tenon-mcp/tenon"
	shown   = 100_000 // bytes below which a library is not listed
)

func main() {
	most := flag.Float64("most", 44, "MB that the stripped binary for Linux on amd64 may have")
	flag.Parse()
	if err := run(*most); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func run(most float64) error {
	dir, err := os.MkdirTemp("", "sizes")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	full, stripped := filepath.Join(dir, "full"), filepath.Join(dir, "stripped")
	needs, err := build(full, "-dumpdep")
	if err != nil {
		return err
	}
	if _, err := build(stripped, "-s -w"); err != nil {
		return err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	weights, err := weigh(full)
	if err != nil {
		return err
	}
	weights.print(info.Size())
	if byName := reflecting(needs); len(byName) > 0 {
		return fmt.Errorf("methods are looked up by name, so that all of them stay in the binary (decision 124), in\n  %s", strings.Join(byName, "\n  "))
	}
	if mb := float64(info.Size()) / 1e6; mb > most {
		return fmt.Errorf("the binary has %.1f MB, and %.1f are the most: find out what came (git stash; make sizes), or write down why in decision 124 and raise it", mb, most)
	}
	return nil
}

// build builds the binary as a release does, and returns what the linker says.
func build(out, flags string) ([]byte, error) {
	c := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", out, target)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	said, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", c, err, said[max(0, len(said)-2000):])
	}
	return said, nil
}

// reflecting returns the functions for whose sake the linker keeps all methods.
func reflecting(needs []byte) (all []string) {
	for line := range bytes.Lines(needs) {
		from, _, _ := strings.Cut(string(line), " -> ")
		if name, marked := strings.CutSuffix(from, " <ReflectMethod>"); marked && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// weights are bytes of a binary.
type weights struct {
	library map[string]uint64 // code and data of a module; "": the standard library and the runtime
	tables  uint64            // that Go has of its functions
}

// weigh adds up the symbols of a binary by module.
func weigh(path string) (*weights, error) {
	built, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	modules := []string{product}
	for _, d := range built.Deps {
		modules = append(modules, d.Path)
	}
	slices.SortFunc(modules, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest that fits counts
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	w := &weights{library: map[string]uint64{}}
	for _, s := range symbols {
		if int(s.Section) >= len(f.Sections) || f.Sections[s.Section].Type == elf.SHT_NOBITS {
			continue // a name, or memory that the file does not have
		}
		if f.Sections[s.Section].Name == ".gopclntab" {
			continue
		}
		name := packageOf(s.Name)
		if name == "main" {
			name = product
		}
		i := slices.IndexFunc(modules, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
		if i < 0 {
			w.library[""] += s.Size
		} else {
			w.library[modules[i]] += s.Size
		}
	}
	tables := f.Section(".gopclntab")
	if tables == nil || len(w.library) < 2 {
		return nil, errors.New("the binary has no symbols of Go")
	}
	w.tables = tables.Size
	return w, nil
}

// packageOf is the path of the package of a symbol: a function, a method, a type or
// a table of methods.
func packageOf(symbol string) string {
	_, symbol = cutAfter(symbol, "go:itab.", "type:.eq.", "type:.hash.", "type:")
	symbol = strings.TrimLeft(symbol, "*[]")
	symbol, _, _ = strings.Cut(symbol, "[") // of what a generic one is made
	slash := strings.LastIndex(symbol, "/")
	last, _, _ := strings.Cut(symbol[slash+1:], ".")
	name := symbol[:slash+1] + last
	if plain, err := url.PathUnescape(name); err == nil { // dots are escaped
		return plain
	}
	return name
}

// cutAfter cuts the first of some prefixes that text has.
func cutAfter(text string, prefixes ...string) (prefix, rest string) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(text, p); ok {
			return p, rest
		}
	}
	return "", text
}

func (w *weights) print(file int64) {
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	line := func(bytes uint64, what string) { fmt.Fprintf(out, "%6.1f MB  %s\n", float64(bytes)/1e6, what) }
	line(uint64(file), "linux/amd64, stripped, of which")
	line(w.tables, "tables of functions, for the collector and stack traces")
	var rest, small uint64 = uint64(file) - w.tables, 0
	for _, name := range slices.SortedFunc(maps.Keys(w.library), func(a, b string) int { return cmp.Compare(w.library[b], w.library[a]) }) {
		size := w.library[name]
		rest -= min(rest, size)
		switch {
		case size < shown:
			small += size
		case name == "":
			line(size, "the standard library and the runtime")
		default:
			line(size, name)
		}
	}
	line(small, fmt.Sprintf("smaller libraries, each below %.1f MB", shown/1e6))
	line(rest, "names and types, which belong to no library")
}
