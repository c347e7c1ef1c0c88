package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON with comments and trailing commas. Edits are splices of the
// text: what a person wrote stays, and how they wrote it is how the rest is
// written.
type jsonFormat struct{}

// maxDepth bounds the nesting of a text, which is read recursively.
const maxDepth = 1000

const byteOrderMark = "\xef\xbb\xbf"

// jsonText is a text that was read. Offsets in root count from after the mark.
type jsonText struct {
	mark    []byte // byte order mark; usually there is none
	text    []byte
	root    *hujson.Object
	start   int // of the inside of root
	newline string
	indent  string // of one level
}

// readJSON reads a text. One without a value is an empty object.
func readJSON(whole []byte) (*jsonText, error) {
	t := &jsonText{text: whole, newline: "\n", indent: "  "}
	if rest, found := bytes.CutPrefix(whole, []byte(byteOrderMark)); found {
		t.mark, t.text = []byte(byteOrderMark), rest
	}
	if bytes.Contains(t.text, []byte("\r\n")) {
		t.newline = "\r\n"
	}
	if len(bytes.TrimSpace(t.text)) == 0 {
		t.text = []byte("{}" + t.newline)
	}
	if err := checkDepth(t.text); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(t.text)
	if err != nil {
		return nil, syntaxError(err)
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: "the file holds no JSON object"}
	}
	t.root, t.start = root, v.StartOffset+len("{")
	if len(root.Members) > 0 {
		if after, found := behindLast(string(root.Members[0].Name.BeforeExtra), "\n"); found && after != "" && strings.Trim(after, " \t") == "" {
			t.indent = after
		}
	}
	return t, nil
}

// checkDepth refuses a text that is nested too deeply.
func checkDepth(text []byte) error {
	depth, line := 0, 1
	for i := 0; i < len(text); {
		n := 1
		switch text[i] {
		case '"', '/':
			n = opaque(text[i:])
		case '{', '[':
			if depth++; depth > maxDepth {
				return &SyntaxError{Line: line, Column: 1, Message: "nested too deeply"}
			}
		case '}', ']':
			depth--
		}
		line += bytes.Count(text[i:i+n], []byte("\n"))
		i += n
	}
	return nil
}

// opaque is the length of the text or comment at the beginning of rest, in which
// brackets mean nothing. Of one without an end it is everything: the reader says
// that there is none.
func opaque(rest []byte) int {
	end := []byte("\n")
	switch {
	case rest[0] == '"':
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"', '\n':
				return i + 1
			}
		}
		return len(rest)
	case bytes.HasPrefix(rest, []byte("/*")):
		end = []byte("*/")
	case !bytes.HasPrefix(rest, []byte("//")):
		return 1
	}
	at := bytes.Index(rest[2:], end)
	if at < 0 {
		return len(rest)
	}
	return 2 + at + len(end)
}

var placeInError = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

// syntaxError reads what the library says.
func syntaxError(err error) error {
	found := placeInError.FindStringSubmatch(err.Error())
	if found == nil {
		return &SyntaxError{Line: 1, Column: 1, Message: strings.TrimPrefix(err.Error(), "hujson: ")}
	}
	line, _ := strconv.Atoi(found[1])
	column, _ := strconv.Atoi(found[2])
	// What is quoted may be anything that stands in the file, such as a secret.
	message := found[3]
	for _, quote := range []string{" '", ` "`, ": "} {
		message, _, _ = strings.Cut(message, quote)
	}
	return &SyntaxError{Line: line, Column: column, Message: message}
}

// member returns the place of a member; -1: there is none. Twice the same name is an
// error: readers do not agree on which counts.
func member(o *hujson.Object, name string) (int, error) {
	found := -1
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); !ok || literal.String() != name {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("%q stands there twice", name)
		}
		found = i
	}
	return found, nil
}

// container is the object with the servers; nil: there is none.
func (t *jsonText) container(key string) (*hujson.Object, error) {
	at, err := member(t.root, key)
	if at < 0 {
		return nil, err
	}
	o, ok := t.root.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q is no object", key)
	}
	return o, nil
}

func (jsonFormat) servers(text []byte, key string) ([]Server, error) {
	t, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	o, err := t.container(key)
	if o == nil {
		return nil, err
	}
	var all []Server
	for i := range o.Members {
		s := Server{}
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok {
			s.Name = literal.String()
		}
		if _, err := member(o, s.Name); err != nil {
			return nil, err
		}
		plain := o.Members[i].Value.Clone()
		plain.Standardize()
		var read struct {
			Command string
			Args    []string
		}
		// Servers without a command are others': their fields are of any type.
		if json.Unmarshal(plain.Pack(), &read) == nil {
			s.Command, s.Args = read.Command, read.Args
		}
		all = append(all, s)
	}
	return all, nil
}

func (f jsonFormat) set(text []byte, key string, s *Server, entry []field) ([]byte, error) {
	t, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	o, err := t.container(key)
	if err != nil {
		return nil, err
	}
	if o == nil {
		inside := t.indent + t.indent
		value := "{" + t.newline + inside + t.object(s.Name, inside, entry) + t.newline + t.indent + "}"
		return t.insert(t.root, "", quoted(key)+": "+value), nil
	}
	at, err := member(o, s.Name)
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		old := o.Members[at]
		indent, _ := behindLast(string(old.Name.BeforeExtra), "\n")
		replaced := t.object(s.Name, onlyBlank(indent), entry)
		replaced = strings.TrimPrefix(replaced, quoted(s.Name)+": ")
		return t.splice(splice{old.Value.StartOffset, old.Value.EndOffset, replaced}), nil
	}
	return t.insert(o, t.indent, t.object(s.Name, t.memberIndent(o, t.indent), entry)), nil
}

// memberIndent is the indentation of the members of an object that stands in a line
// with the indentation outer.
func (t *jsonText) memberIndent(o *hujson.Object, outer string) string {
	if last := len(o.Members) - 1; last >= 0 {
		if indent, found := behindLast(string(o.Members[last].Name.BeforeExtra), "\n"); found {
			return onlyBlank(indent)
		}
	}
	return outer + t.indent
}

// object is the member of a server, with its lines indented.
func (t *jsonText) object(name, indent string, entry []field) string {
	var b strings.Builder
	b.WriteString(quoted(name) + ": {")
	inside := t.newline + indent + t.indent
	for i, f := range entry {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inside + quoted(f.name) + ": ")
		switch v := f.value.(type) {
		case string:
			b.WriteString(quoted(v))
		case []string:
			b.WriteByte('[')
			for j, item := range v {
				if j > 0 {
					b.WriteByte(',')
				}
				b.WriteString(inside + t.indent + quoted(item))
			}
			b.WriteString(inside + "]")
		}
	}
	b.WriteString(t.newline + indent + "}")
	return b.String()
}

// quoted is a text as JSON.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text has a form
	return strings.TrimSuffix(b.String(), "\n")
}

// insert adds a member behind the last one of an object that stands in a line with
// the indentation outer.
func (t *jsonText) insert(o *hujson.Object, outer, text string) []byte {
	last := len(o.Members) - 1
	if last < 0 {
		end := t.endOf(o)
		start := end - len(trailing(o.AfterExtra))
		after := t.newline + outer
		if blanks := string(trailing(o.AfterExtra)); strings.Contains(blanks, "\n") {
			after = blanks
		}
		return t.splice(splice{start, end, t.newline + outer + t.indent + text + after})
	}
	value := &o.Members[last].Value
	gap := " "
	if strings.Contains(string(o.Members[last].Name.BeforeExtra), "\n") || bytes.Contains(o.AfterExtra, []byte("//")) {
		gap = t.newline + t.memberIndent(o, outer)
	}
	at := t.endOf(o) - len(trailing(o.AfterExtra))
	if value.AfterExtra != nil { // there is a comma behind it
		return t.splice(splice{at, at, gap + text + ","})
	}
	return t.splice(splice{value.EndOffset, value.EndOffset, ","}, splice{at, at, gap + text})
}

// endOf is where the closing brace of an object stands.
func (t *jsonText) endOf(o *hujson.Object) int {
	last := len(o.Members) - 1
	if last < 0 {
		return t.startOf(o) + len(o.AfterExtra)
	}
	value := &o.Members[last].Value
	end := value.EndOffset + len(o.AfterExtra)
	if value.AfterExtra != nil {
		end += len(value.AfterExtra) + len(",")
	}
	return end
}

// startOf is where the inside of an object without members begins.
func (t *jsonText) startOf(o *hujson.Object) int {
	if o == t.root {
		return t.start
	}
	for i := range t.root.Members {
		if t.root.Members[i].Value.Value == hujson.ValueTrimmed(o) {
			return t.root.Members[i].Value.StartOffset + len("{")
		}
	}
	return 0
}

func (f jsonFormat) remove(text []byte, key, name string) ([]byte, error) {
	t, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	o, err := t.container(key)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, ErrNoEntry
	}
	at, err := member(o, name)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		return nil, ErrNoEntry
	}
	// The last server takes with it an object that was made for it: one at the end
	// without a comment.
	if in, _ := member(t.root, key); len(o.Members) == 1 && in == len(t.root.Members)-1 && blank(o.Members[0].Name.BeforeExtra) && blank(o.AfterExtra) {
		return t.without(t.root, in), nil
	}
	return t.without(o, at), nil
}

// without removes a member with its comma, the line in which it begins, and for the
// last one the comma before it. Comments stay.
func (t *jsonText) without(o *hujson.Object, at int) []byte {
	m := &o.Members[at]
	start := m.Name.StartOffset - len(trailing(m.Name.BeforeExtra))
	end := m.Value.EndOffset
	last := at == len(o.Members)-1
	comma := m.Value.AfterExtra != nil || !last
	if comma {
		end += len(m.Value.AfterExtra) + len(",")
	}
	edits := []splice{{start, end, ""}}
	switch {
	case last && !comma && at > 0:
		before := o.Members[at-1].Value
		place := before.EndOffset + len(before.AfterExtra)
		edits = append([]splice{{place, place + len(","), ""}}, edits...)
	case len(o.Members) == 1 && blank(m.Name.BeforeExtra) && blank(o.AfterExtra):
		edits[0].end = t.endOf(o) // {} on one line
	}
	rest := t.splice(edits...)
	if _, err := hujson.Parse(bytes.TrimPrefix(rest, []byte(byteOrderMark))); err != nil {
		// What follows would stand in a comment: its line break stays.
		edits[len(edits)-1].text = t.newline
		rest = t.splice(edits...)
	}
	return rest
}

func (jsonFormat) empty(text []byte) bool {
	t, err := readJSON(text)
	return err == nil && len(t.root.Members) == 0 && len(bytes.TrimSpace(t.text)) == len("{}")
}

// splice replaces a part of a text.
type splice struct {
	start, end int
	text       string
}

// splice makes edits, which are in their order.
func (t *jsonText) splice(edits ...splice) []byte {
	out := slices.Clone(t.mark)
	done := 0
	for _, e := range edits {
		out = append(append(out, t.text[done:e.start]...), e.text...)
		done = e.end
	}
	return append(out, t.text[done:]...)
}

// trailing is the white space at the end of an extra, behind its last comment.
func trailing(extra hujson.Extra) hujson.Extra {
	return extra[len(bytes.TrimRight(extra, " \t\r\n")):]
}

func blank(extra hujson.Extra) bool { return len(trailing(extra)) == len(extra) }

// onlyBlank is s if it is white space.
func onlyBlank(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// behindLast is what stands behind the last separator.
func behindLast(s, separator string) (after string, found bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		return s[at+len(separator):], true
	}
	return "", false
}
