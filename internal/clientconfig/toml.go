package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat is TOML. A server is a table of its own with a header, [key.name], and
// the tables below it; one that is written otherwise, inline or with dotted keys, is
// listed and not edited.
type tomlFormat struct{}

// tomlTable is a table with a header, and where its lines are: from the header to
// the next table. Blank lines and comments before the next header belong to that.
type tomlTable struct {
	keys       []string
	start, end int
}

// maxBrackets bounds the nesting of a text, which is read recursively.
const maxBrackets = 10_000

// checkTOML says where a text is broken.
func checkTOML(text []byte) (map[string]any, error) {
	depth := 0
	for _, c := range text { // also in strings: no configuration has so many
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxBrackets {
			return nil, &SyntaxError{Line: 1, Column: 1, Message: "nested too deeply"}
		}
	}
	if !utf8.Valid(text) {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: "the file is not UTF-8"}
	}
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := bad.Position()
		return nil, &SyntaxError{Line: line, Column: column, Message: "no TOML from here on"}
	}
	if err != nil {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: "no TOML"}
	}
	return all, nil
}

// tables are the tables with headers.
func tables(text []byte) ([]tomlTable, error) {
	var all []tomlTable
	p := unstable.Parser{}
	p.Reset(text)
	end := 0 // of what was read
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		t := tomlTable{}
		first := -1
		for keys := e.Key(); keys.Next(); {
			t.keys = append(t.keys, string(keys.Node().Data))
			if first < 0 {
				first = int(keys.Node().Raw.Offset)
			}
		}
		// The header's line begins with its bracket.
		t.start = bytes.LastIndexByte(text[:max(first, 0)], '\n') + 1
		if first < end {
			return nil, errNotEdited
		}
		end = first
		if len(all) > 0 {
			all[len(all)-1].end = t.start
		}
		t.end = len(text)
		all = append(all, t)
	}
	if p.Error() != nil {
		return nil, errNotEdited
	}
	for i := range all {
		all[i].end = all[i].start + withoutLead(text[all[i].start:all[i].end])
	}
	return all, nil
}

// withoutLead is how much of a table remains without the blank lines and comments
// at its end, which lead to the next one.
func withoutLead(table []byte) int {
	lines := bytes.SplitAfter(table, []byte("\n"))
	n := len(table)
	for i := len(lines) - 1; i > 0; i-- {
		line := bytes.TrimSpace(lines[i])
		if len(line) > 0 && line[0] != '#' {
			break
		}
		n -= len(lines[i])
	}
	return n
}

func (tomlFormat) servers(text []byte, key string) ([]Server, error) {
	all, err := checkTOML(text)
	if err != nil {
		return nil, err
	}
	found, ok := all[key].(map[string]any)
	if !ok {
		if all[key] != nil {
			return nil, fmt.Errorf("%q is no table", key)
		}
		return nil, nil
	}
	var servers []Server
	for name, v := range found {
		s := Server{Name: name}
		entry, _ := v.(map[string]any)
		s.Command, _ = entry["command"].(string)
		args, _ := entry["args"].([]any)
		for _, arg := range args {
			word, _ := arg.(string)
			s.Args = append(s.Args, word)
		}
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return servers, nil
}

func (f tomlFormat) set(text []byte, key string, s *Server, entry []field) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s.%s]%s", key, s.Name, newline) // a checked name needs no quotes
	for _, e := range entry {
		switch v := e.value.(type) {
		case string:
			fmt.Fprintf(&b, "%s = %s%s", e.name, tomlQuoted(v), newline)
		case []string:
			words := make([]string, len(v))
			for i := range v {
				words[i] = tomlQuoted(v[i])
			}
			fmt.Fprintf(&b, "%s = [%s]%s", e.name, strings.Join(words, ", "), newline)
		}
	}
	servers, err := f.servers(text, key)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(servers, func(o Server) bool { return o.Name == s.Name }) {
		lead, table := "", b.String()
		if len(text) > 0 {
			lead = newline
			if !bytes.HasSuffix(text, []byte("\n")) { // nor does it end so afterwards
				lead, table = newline+newline, strings.TrimSuffix(table, newline)
			}
		}
		changed := slices.Concat(text, []byte(lead), []byte(table))
		_, err := checkTOML(changed) // an inline table takes no more members
		if err != nil {
			return nil, errNotEdited
		}
		return changed, nil
	}
	at, err := f.table(text, key, s.Name)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:at.start], []byte(b.String()), text[at.end:]), nil
}

// table is the table of a server with those below it.
func (tomlFormat) table(text []byte, key, name string) (tomlTable, error) {
	all, err := tables(text)
	if err != nil {
		return tomlTable{}, err
	}
	of := func(t tomlTable) bool { return len(t.keys) >= 2 && t.keys[0] == key && t.keys[1] == name }
	first := slices.IndexFunc(all, of)
	if first < 0 || len(all[first].keys) != 2 {
		return tomlTable{}, errNotEdited
	}
	last := first
	for last+1 < len(all) && of(all[last+1]) {
		last++
	}
	if slices.ContainsFunc(all[last+1:], of) {
		return tomlTable{}, errNotEdited // others stand between its tables
	}
	return tomlTable{start: all[first].start, end: all[last].end}, nil
}

func (f tomlFormat) remove(text []byte, key, name string) ([]byte, error) {
	at, err := f.table(text, key, name)
	if err != nil {
		return nil, err
	}
	// One blank line before it was written with it, and the end of the line before
	// that where the text had none.
	before := text[:at.start]
	if rest, found := cutNewline(before); found && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))) {
		before = rest
		if at.end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
			before, _ = cutNewline(before)
		}
	}
	return slices.Concat(before, text[at.end:]), nil
}

func cutNewline(text []byte) ([]byte, bool) {
	rest, found := bytes.CutSuffix(text, []byte("\n"))
	return bytes.TrimSuffix(rest, []byte("\r")), found
}

func (tomlFormat) empty(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// tomlQuoted is a text as a basic string of TOML.
func tomlQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
