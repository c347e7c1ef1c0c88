// Package reserve knows the arguments that are the gateway's own and not the
// tool's: __confirmed, resume_token, _fields. It takes them out of a call's
// arguments and writes them into a published input schema.
//
// It does not know what they mean, nor which tool has which of them: the root
// decides that. It stands before wall one.
package reserve

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Set is a set of reserved arguments.
type Set uint8

// The reserved arguments.
const (
	Confirmed Set = 1 << iota // __confirmed: the caller says that the user agreed
	Token                     // resume_token: the next part of an answer
	Fields                    // _fields: the part of the answer that is wanted
)

// names are in the order in which they are published.
func names() [3]struct {
	set    Set
	name   string
	schema string
} {
	return [...]struct {
		set    Set
		name   string
		schema string
	}{
		{Confirmed, "__confirmed", `{"type":"boolean","description":"true: the user agreed to this call"}`},
		{Token, "resume_token", `{"type":"string","description":"of a partial answer: returns its next part, needs no other argument"}`},
		{Fields, "_fields", `{"type":"array","items":{"type":"string"},"description":"return only these parts of the answer, for example [\"items[].id\"]"}`},
	}
}

// Own is what stood in the reserved arguments.
type Own struct {
	Asserts   bool   // __confirmed stood there
	Confirmed bool   // and was true
	Token     string // empty: none
	Fields    []byte // JSON; nil: none
}

// Take takes the arguments of set out of args, a JSON object, and returns the
// rest, which is args itself where there were none. What is no JSON object,
// or no strict one, is left to wall one.
func Take(args []byte, set Set) (rest []byte, own Own) {
	if !mayHold(args, set) || rawjson.Check(args) != nil {
		return args, own
	}
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return args, own
	}
	rest = append(make([]byte, 0, len(args)), '{')
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		switch set & member(doc.Key(m)) {
		case Confirmed:
			own.Asserts = true
			own.Confirmed = doc.Kind(m) == rawjson.Bool && string(doc.Raw(m)) == "true"
		case Token:
			own.Token = token(doc, m)
		case Fields:
			own.Fields = doc.Raw(m)
		default:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, '"'), doc.RawKey(m)...), '"', ':')
			rest = append(rest, doc.Raw(m)...)
		}
	}
	return append(rest, '}'), own
}

// token reads a token. What is none is one that nobody knows: its JSON, which
// no token looks like.
func token(doc *rawjson.Doc, m rawjson.Node) string {
	if s := doc.Str(m); s != "" {
		return s
	}
	return string(doc.Raw(m))
}

// mayHold is quick and errs on the side of true: a name may be written with
// escapes.
func mayHold(args []byte, set Set) bool {
	if bytes.IndexByte(args, '\\') >= 0 {
		return set != 0
	}
	for _, n := range names() {
		if set&n.set != 0 && bytes.Contains(args, []byte(n.name)) {
			return true
		}
	}
	return false
}

func member(key string) Set {
	for _, n := range names() {
		if n.name == key {
			return n.set
		}
	}
	return 0
}

// Declared returns the names of the set that an input schema declares for
// itself: there they are the tool's.
func Declared(input []byte) (set Set) {
	if !mayHold(input, Confirmed|Token|Fields) {
		return 0
	}
	doc, err := rawjson.Parse(input)
	if err != nil {
		return 0
	}
	return declared(doc)
}

func declared(doc *rawjson.Doc) (set Set) {
	properties := doc.Get(doc.Root(), "properties")
	for _, n := range names() {
		if doc.Get(properties, n.name) != rawjson.None {
			set |= n.set
		}
	}
	return set
}

// Publish returns the input schema, a JSON object, with the properties of set
// that it does not declare itself.
func Publish(input []byte, set Set) []byte {
	last := bytes.LastIndexByte(input, '}')
	if set == 0 || last < 0 {
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
	for m := range rawjson.Members(input[properties.Value:properties.End]) {
		none = false
		set &^= member(plain(m.Key))
	}
	var added []byte
	for _, n := range names() {
		if set&n.set != 0 {
			added = append(append(added, `,"`+n.name+`":`...), n.schema...)
		}
	}
	if added == nil {
		return input
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

// plain is a key without escapes; few have any.
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
