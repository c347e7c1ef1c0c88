// Package reservedargs handles the arguments that belong to the gateway and not
// to the tool: confirmed, resume_token, fields. It finds names that the tool
// does not use, extracts the values from a call's arguments and adds the
// properties to a published input schema.
//
// It does not know what they mean, nor which tool has which of them: package
// gateway does. It runs before input validation.
package reservedargs

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Values are the values of the reserved arguments of a call.
type Values struct {
	Confirmed bool
	Token     string // empty: none
	Fields    []byte // JSON; nil: none
	Coerced   []Coercion
	Invalid   string // why one of them is invalid; empty: all are valid
}

// Coercion is a value that was coerced.
type Coercion struct{ Name, Kind, Old, New string }

// The kinds of coercion.
const (
	DropNull  = "drop-null"  // null counts as absent
	DropEmpty = "drop-empty" // so do an empty token and list: some models must fill in every argument
	ReadJSON  = "parse-json" // a string became the JSON that it holds
)

const nothing = "nothing"

// Extract removes the reserved arguments from args, a JSON object, and returns
// the remaining object, which is args itself if there were none. Invalid JSON is
// left to input validation.
func (n *Names) Extract(args []byte) (rest []byte, own Values) {
	if !mayHold(args, n.set) || rawjson.Check(args) != nil {
		return args, own
	}
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return args, own
	}
	rest = append(make([]byte, 0, len(args)), '{')
	var before [count]rawjson.Node // the zero value is the object itself: none
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		i := n.find(doc.Key(m))
		if i < 0 {
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, '"'), doc.RawKey(m)...), '"', ':')
			rest = append(rest, doc.Raw(m)...)
			continue
		}
		if b := before[i]; b != 0 && !bytes.Equal(doc.Raw(b), doc.Raw(m)) {
			own.refuse(doc.Key(b) + " and " + doc.Key(m) + " are the same argument and differ")
		}
		before[i] = m
		own.read(arguments()[i].set, doc.Key(m), doc.Raw(m))
	}
	return append(rest, '}'), own
}

// read parses the value of an argument. A string can hold the JSON of the value;
// the values that some clients send for an absent one are dropped.
func (o *Values) read(s Set, name string, raw []byte) {
	value := raw
	if s != Token {
		value = text(raw)
	}
	kind := ReadJSON
	switch {
	case string(value) == "null":
		kind = DropNull
	case s == Token && string(value) == `""`, s == Fields && isEmpty(value):
		kind = DropEmpty
	case s == Token && value[0] == '"':
		doc, err := rawjson.Parse(value)
		if err == nil {
			o.Token = doc.Str(doc.Root())
		}
		return
	case s == Confirmed && (string(value) == "true" || string(value) == "false"):
		o.Confirmed = string(value) == "true"
	case s == Fields && value[0] == '[':
		o.Fields = value
	default:
		o.refuse(name + " is " + wants(s) + ", and " + excerpt(raw) + " is none")
		return
	}
	switch {
	case kind != ReadJSON:
		o.Coerced = append(o.Coerced, Coercion{name, kind, excerpt(raw), nothing})
	case len(value) != len(raw):
		o.Coerced = append(o.Coerced, Coercion{name, kind, excerpt(raw), excerpt(value)})
	}
}

func (o *Values) refuse(why string) {
	if o.Invalid == "" {
		o.Invalid = why
	}
}

func wants(s Set) string {
	switch s {
	case Confirmed:
		return "true or false"
	case Token:
		return "a string"
	case Fields:
	}
	return `a list of paths such as ["items[].id"]`
}

// text returns the JSON that a string holds, or raw.
func text(raw []byte) []byte {
	if raw[0] != '"' {
		return raw
	}
	inner := rawjson.AppendUnescaped(nil, raw[1:len(raw)-1])
	if len(bytes.TrimSpace(inner)) == 0 || rawjson.Check(inner) != nil {
		return raw
	}
	return bytes.TrimSpace(inner)
}

func isEmpty(value []byte) bool {
	doc, err := rawjson.Parse(value)
	return string(value) == `""` || err == nil && doc.Kind(doc.Root()) == rawjson.Array && doc.Len(doc.Root()) == 0
}

func excerpt(raw []byte) string {
	const most = 100
	if len(raw) <= most {
		return string(raw)
	}
	return string(bytes.ToValidUTF8(raw[:most], nil)) + "…"
}

// Publish returns the input schema, a JSON object, with the properties of set.
func (n *Names) Publish(input []byte, set Set) []byte {
	var added []byte
	for i, a := range arguments() {
		if set&n.set&a.set != 0 {
			added = append(append(added, `,"`+n.names[i]+`":`...), a.schema...)
		}
	}
	last := bytes.LastIndexByte(input, '}')
	if added == nil || last < 0 {
		return input
	}
	var properties rawjson.Member // zero: there are none
	empty := true
	for m := range rawjson.Members(input) {
		if empty = false; plain(m.Key) == "properties" && bytes.HasPrefix(input[m.Value:], []byte{'{'}) {
			properties = m
		}
	}
	none := true
	for range rawjson.Members(input[properties.Value:properties.End]) {
		none = false
		break
	}
	at := properties.End - 1
	if properties.End == 0 {
		at, none = last, empty
		added = append(append([]byte(`,"properties":{`), added[1:]...), '}')
	}
	if none {
		added = added[1:]
	}
	out := append(make([]byte, 0, len(input)+len(added)), input[:at]...)
	return append(append(out, added...), input[at:]...)
}

// plain returns the text of a key, fast if it has no escapes.
func plain(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	doc, err := rawjson.Parse(slices.Concat([]byte{'"'}, key, []byte{'"'}))
	if err != nil {
		return ""
	}
	return doc.Str(doc.Root())
}
