package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Object is a JSON object with its members in their order, unknown ones
// included, so that it can be written again and nothing is lost.
type Object []Member

// Member is one member of an Object.
type Member struct {
	Key    string
	Value  []byte // JSON, without white space between its tokens
	Offset int    // of the value in the text that it was read from, for reports; 0: it was read from none
}

// Error says what is wrong with a binding, a file or a message, and where.
type Error struct {
	Key    string // the member that is wrong; empty: the whole
	Offset int    // of the place, in bytes, in the text that was read; 0: its beginning, or not known
	What   string // may be empty where Err says it all
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

// Diagnostic is something that works here, and that the operator should know all
// the same: what Azure's host would not read or would refuse.
type Diagnostic struct {
	Key  string
	What string
}

// String formats n as "key: what".
func (n Diagnostic) String() string { return n.Key + ": " + n.What }

// parse reads the text of an object. what names it in errors.
func parse(text []byte, what string) (*rawjson.Doc, error) {
	doc, err := rawjson.Parse(text)
	if err != nil {
		offset := 0
		if e, ok := err.(*rawjson.SyntaxError); ok { //nolint:errorlint // Parse returns nothing else
			offset = e.Offset
		}
		return nil, &Error{Offset: offset, What: what + " is not JSON", Err: err}
	}
	if doc.Kind(doc.Root()) != rawjson.Object {
		return nil, &Error{What: what + " is not a JSON object"}
	}
	return doc, nil
}

// parseObject reads the text of an object.
func parseObject(text []byte, what string) (Object, error) {
	doc, err := parse(text, what)
	if err != nil {
		return nil, err
	}
	return objectAt(doc, doc.Root()), nil
}

func objectAt(doc *rawjson.Doc, n rawjson.Node) Object {
	o := make(Object, 0, doc.Len(n))
	for m := doc.First(n); m != rawjson.None; m = doc.Next(m) {
		o = append(o, Member{Key: doc.Key(m), Value: doc.AppendCompact(nil, m), Offset: doc.Offset(m)})
	}
	return o
}

// find returns the last member with that key: exactly so written, else
// written in another case. nil: there is none.
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

// Get returns the value with that key, whatever its case; nil where there is
// none and where it is null. An exact key wins.
func (o Object) Get(key string) []byte {
	m := o.find(key)
	if m == nil || string(m.Value) == "null" {
		return nil
	}
	return m.Value
}

// Text returns the string with that key, "" where there is none.
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

// need is Text for a key that must be there and not blank.
func (o Object) need(key string) (string, error) {
	s, err := o.Text(key)
	if err == nil && strings.TrimSpace(s) == "" {
		return "", o.bad(key, "is missing or blank")
	}
	return s, err
}

// flag returns the boolean with that key, false where there is none. Hosts
// convert strings, so "true" is true.
func (o Object) flag(key string) (bool, error) {
	switch v := string(o.Get(key)); strings.ToLower(strings.Trim(v, `"`)) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, o.bad(key, "must be true or false")
}

// nested returns JSON that stands in a string. Some workers write the JSON
// itself instead: wrapped is false there. "" where there is none.
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

// wrap gives an error about the value of key its place.
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

// The makers of members.
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

// unquote returns the text of a JSON string, which must be one.
func unquote(v []byte) string {
	return string(rawjson.AppendUnescaped(nil, v[1:len(v)-1]))
}
