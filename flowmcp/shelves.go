package flowmcp

import (
	"os"
	"path/filepath"
	"slices"
)

// SharedList is a table that several schema files use.
type SharedList struct {
	File     string
	Name     string
	Version  string
	Fields   []string
	Entries  [][]byte // JSON objects; nil with errors
	Findings []Finding
}

// SharedLists reads the lists in a folder, in the order of their files. spec
// may also be a schema file or a folder of them: then it is the folder of
// lists above it.
func SharedLists(spec string) ([]SharedList, error) {
	dir := spec
	if base := filepath.Base(spec); base != "_lists" && base != "_shared" {
		if found := listsNear(filepath.Join(spec, "x")); found != "" {
			dir = found
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, plain(err)
	}
	var all []SharedList
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".mjs" {
			continue
		}
		text, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		l := SharedList{File: filepath.Join(dir, e.Name())}
		read, findings := parseList(text, false)
		l.Findings = findings
		if read != nil {
			l.Name, l.Version = read.name, read.version
			for field := range read.fields {
				l.Fields = append(l.Fields, field)
			}
			slices.Sort(l.Fields)
			for _, n := range read.entries {
				l.Entries = append(l.Entries, n.appendJSON(nil))
			}
		}
		all = append(all, l)
	}
	return all, nil
}
