package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Object is a JSON object with ordered members, including unknown ones, so that
// it can be written again without loss.
type Object []Member

// Member is one member of an Object.
type Member struct {
	Key    string
	Value  []byte // compact JSON
	Offset int    // offset of the value in its text, for reports; 0: unknown
}

// Error describes what is wrong with a binding, a file or a message, and where.
type Error struct {
	Key    string // the invalid member; empty: the whole
	Offset int    // offset in bytes in the text; 0: its beginning, or unknown
	What   string // may be empty if Err has the reason
	Err    error  // the cause; may be nil
}

// Error formats e as "key: what: cause".
func (e *Error) Error() string {
	var parts []string
	for _, s := range []string{e.Key, e.What} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Diagnostic is something that works here but that Azure's host would ignore or
// reject.
type Diagnostic struct {
	Key  string
	What string
}

// String formats n as "key: what".
func (n Diagnostic) String() string { return n.Key + ": " + n.What }

// parse parses the text of an object. what names it in errors.
func parse(text []byte, what string) (*rawjson.Doc, error) {
	doc, err := rawjson.Parse(text)
	if err != nil {
		return nil, notJSON(err, what)
	}
	if doc.Kind(doc.Root()) != rawjson.Object {
		return nil, &Error{What: what + " is not a JSON object"}
	}
	return doc, nil
}

// parseObject parses the text of an object.
func parseObject(text []byte, what string) (Object, error) {
	whole, err := rawjson.AppendCompact(nil, text)
	if err != nil {
		return nil, notJSON(err, what)
	}
	if whole[0] != '{' {
		return nil, &Error{What: what + " is not a JSON object"}
	}
	var o Object
	for m := range rawjson.Members(whole) {
		o = append(o, Member{Key: string(rawjson.AppendUnescaped(nil, m.Key)), Value: whole[m.Value:m.End:m.End], Offset: m.Value})
	}
	return o, nil
}

func notJSON(err error, what string) error {
	offset := 0
	if e, ok := err.(*rawjson.SyntaxError); ok { //nolint:errorlint // the functions of rawjson return nothing else
		offset = e.Offset
	}
	return &Error{Offset: offset, What: what + " is not JSON", Err: err}
}

// maxValues bounds the values of JSON that is taken apart, each of which needs
// many times the memory of its text.
const maxValues = 1 << 20

// parseBounded reads JSON that is not an answer's value but says what it is.
func parseBounded(text []byte) (*rawjson.Doc, error) {
	values, inString := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString:
			if c == '\\' {
				i++
			}
			inString = c != '"'
		case c == '"':
			inString = true
		case c == ',' || c == '[' || c == '{':
			values++
		}
	}
	if values > maxValues {
		return nil, &Error{What: fmt.Sprintf("more than %d values", maxValues)}
	}
	return rawjson.Parse(text)
}

func objectAt(doc *rawjson.Doc, n rawjson.Node) Object {
	o := make(Object, 0, doc.Len(n))
	for m := doc.First(n); m != rawjson.None; m = doc.Next(m) {
		o = append(o, Member{Key: doc.Key(m), Value: doc.AppendCompact(nil, m), Offset: doc.Offset(m)})
	}
	return o
}

// find returns the last member with that key: an exact match, else one ignoring
// case, or nil.
func (o Object) find(key string) *Member {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return &o[i]
		}
	}
	for i := len(o) - 1; i >= 0; i-- {
		if strings.EqualFold(o[i].Key, key) {
			return &o[i]
		}
	}
	return nil
}

// Get returns the value of a key, ignoring case; nil where it is missing or
// null. An exact match wins.
func (o Object) Get(key string) []byte {
	m := o.find(key)
	if m == nil || string(m.Value) == "null" {
		return nil
	}
	return m.Value
}

// Text returns the string of a key, or "".
func (o Object) Text(key string) (string, error) {
	v := o.Get(key)
	if v == nil {
		return "", nil
	}
	if v[0] != '"' {
		return "", o.bad(key, "must be a string")
	}
	return unquote(v), nil
}

// need is Text for a required, nonblank key.
func (o Object) need(key string) (string, error) {
	s, err := o.Text(key)
	if err == nil && strings.TrimSpace(s) == "" {
		return "", o.bad(key, "is missing or blank")
	}
	return s, err
}

// flag returns the boolean of a key, or false. Like in hosts, "true" is true.
func (o Object) flag(key string) (bool, error) {
	switch v := string(o.Get(key)); strings.ToLower(strings.Trim(v, `"`)) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, o.bad(key, "must be true or false")
}

// nested returns JSON contained in a string. Some workers write the JSON
// itself: then wrapped is false. It is "" where the key is missing.
func (o Object) nested(key string) (text string, wrapped bool, err error) {
	v := o.Get(key)
	switch {
	case v == nil:
		return "", true, nil
	case v[0] == '"':
		return unquote(v), true, nil
	case v[0] == '{' || v[0] == '[':
		return string(v), false, nil
	}
	return "", true, o.bad(key, "must be a string that contains JSON")
}

func (o Object) bad(key, what string) error {
	e := &Error{Key: key, What: what}
	if m := o.find(key); m != nil {
		e.Offset = m.Offset
	}
	return e
}

// wrap adds the position of a key's value to an error.
func (o Object) wrap(key string, err error) error {
	e := &Error{Key: key, Err: err}
	if m := o.find(key); m != nil {
		e.Offset = m.Offset
	}
	return e
}

// Append writes o without white space.
func (o Object) Append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, m.Key), ':')
		dst = append(dst, m.Value...)
	}
	return append(dst, '}')
}

// Constructors of members.
func textMember(key, s string) Member {
	return Member{Key: key, Value: rawjson.AppendString(nil, s)}
}

// nestedMember wraps JSON in a string.
func nestedMember(key string, text []byte) Member {
	return Member{Key: key, Value: rawjson.AppendString(nil, text)}
}

func objectMember(key string, members ...Member) Member {
	return Member{Key: key, Value: Object(members).Append(nil)}
}

func flagMember(key string, b bool) Member {
	return Member{Key: key, Value: fmt.Appendf(nil, "%t", b)}
}

// unquote returns the text of a JSON string.
func unquote(v []byte) string {
	return string(rawjson.AppendUnescaped(nil, v[1:len(v)-1]))
}
