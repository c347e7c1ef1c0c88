package flowmcp

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// kind is the type of a value in a schema file.
type kind uint8

const (
	invalidKind kind = iota // not there, or no literal; reported when it was read
	nullKind
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

func (k kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// node is one evaluated value. The nil node stands for nothing: every method
// answers for it.
type node struct {
	kind  kind
	text  string // a string's value, a number's text as ECMAScript prints it, true or false
	keys  []string
	items []*node // elements, or the values of keys
	at    int     // offset in the file
}

func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// there reports whether a value stands here, be it null.
func (n *node) there() bool { return n != nil }

func (n *node) get(key string) *node {
	if !n.is(objectKind) {
		return nil
	}
	for i, k := range n.keys {
		if k == key {
			return n.items[i]
		}
	}
	return nil
}

// str is the string that n is; empty if it is none.
func (n *node) str() string {
	if !n.is(stringKind) {
		return ""
	}
	return n.text
}

func (n *node) yes() bool { return n.is(boolKind) && n.text == "true" }

// list returns the elements of an array, nothing for another value.
func (n *node) list() []*node {
	if !n.is(arrayKind) {
		return nil
	}
	return n.items
}

// strs returns the strings in an array.
func (n *node) strs() []string {
	var all []string
	for _, item := range n.list() {
		if item.is(stringKind) {
			all = append(all, item.text)
		}
	}
	return all
}

// members calls visit for each member of an object in its order.
func (n *node) members(visit func(key string, value *node)) {
	if !n.is(objectKind) {
		return
	}
	for i, key := range n.keys {
		visit(key, n.items[i])
	}
}

// valid reports whether n and everything in it is a literal.
func (n *node) valid() bool {
	if n == nil || n.kind == invalidKind {
		return false
	}
	for _, item := range n.items {
		if !item.valid() {
			return false
		}
	}
	return true
}

// appendJSON writes n as JSON.stringify would, without white space. Half
// surrogates become U+FFFD.
func (n *node) appendJSON(dst []byte) []byte {
	switch {
	case n.is(stringKind):
		return rawjson.AppendString(dst, n.text)
	case n.is(numberKind), n.is(boolKind):
		return append(dst, n.text...)
	case n.is(arrayKind):
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case n.is(objectKind):
		return n.appendObject(dst)
	}
	return append(dst, "null"...)
}

func (n *node) appendObject(dst []byte) []byte {
	dst = append(dst, '{')
	for i, key := range n.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, key)
		dst = append(dst, ':')
		dst = n.items[i].appendJSON(dst)
	}
	return append(dst, '}')
}

// halfSurrogate reports whether n holds a string with half a surrogate pair,
// which JSON in UTF-8 cannot carry.
func (n *node) halfSurrogate() bool {
	if n == nil {
		return false
	}
	for i := range n.items {
		if n.items[i].halfSurrogate() || n.is(objectKind) && strings.ToValidUTF8(n.keys[i], "") != n.keys[i] {
			return true
		}
	}
	return n.is(stringKind) && strings.ToValidUTF8(n.text, "") != n.text
}
