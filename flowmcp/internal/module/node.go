package module

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Kind is the type of a value in a schema file.
type Kind uint8

// The kinds of values.
const (
	Invalid Kind = iota // missing or not a literal; reported by the evaluator
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is one evaluated value. All methods accept the nil node, which
// represents a missing value.
type Node struct {
	Kind   Kind
	Text   string // a string's value, a number formatted by ECMAScript, true or false
	Keys   []string
	Items  []*Node // elements, or the values of keys
	Offset int     // offset in the file
}

// Is reports whether the value is of a kind; a missing value is of none.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// Exists reports whether the value exists, even if it is null.
func (n *Node) Exists() bool { return n != nil }

// Get returns a member of an object, or nil.
func (n *Node) Get(key string) *Node {
	if !n.Is(Object) {
		return nil
	}
	for i, k := range n.Keys {
		if k == key {
			return n.Items[i]
		}
	}
	return nil
}

// Str returns the value of a string, and "" for other values.
func (n *Node) Str() string {
	if !n.Is(String) {
		return ""
	}
	return n.Text
}

// IsTrue reports whether the value is true.
func (n *Node) IsTrue() bool { return n.Is(Bool) && n.Text == "true" }

// List returns the elements of an array, and nil for other values.
func (n *Node) List() []*Node {
	if !n.Is(Array) {
		return nil
	}
	return n.Items
}

// Strings returns the strings in an array.
func (n *Node) Strings() []string {
	var all []string
	for _, item := range n.List() {
		if item.Is(String) {
			all = append(all, item.Text)
		}
	}
	return all
}

// Members calls visit for each member of an object, in order.
func (n *Node) Members(visit func(key string, value *Node)) {
	if !n.Is(Object) {
		return
	}
	for i, key := range n.Keys {
		visit(key, n.Items[i])
	}
}

// Valid reports whether n consists of literals only.
func (n *Node) Valid() bool {
	if n == nil || n.Kind == Invalid {
		return false
	}
	for _, item := range n.Items {
		if !item.Valid() {
			return false
		}
	}
	return true
}

// AppendJSON writes n like JSON.stringify, without white space. Unpaired
// surrogates become U+FFFD.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch {
	case n.Is(String):
		return rawjson.AppendString(dst, n.Text)
	case n.Is(Number), n.Is(Bool):
		return append(dst, n.Text...)
	case n.Is(Array):
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case n.Is(Object):
		return n.appendObject(dst)
	}
	return append(dst, "null"...)
}

func (n *Node) appendObject(dst []byte) []byte {
	dst = append(dst, '{')
	for i, key := range n.Keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, key)
		dst = append(dst, ':')
		dst = n.Items[i].AppendJSON(dst)
	}
	return append(dst, '}')
}

// halfSurrogate reports whether n contains a string with an unpaired surrogate,
// which JSON in UTF-8 cannot represent.
func (n *Node) halfSurrogate() bool {
	if n == nil {
		return false
	}
	for i := range n.Items {
		if n.Items[i].halfSurrogate() || n.Is(Object) && strings.ToValidUTF8(n.Keys[i], "") != n.Keys[i] {
			return true
		}
	}
	return n.Is(String) && strings.ToValidUTF8(n.Text, "") != n.Text
}

// ObjectKeys returns the keys of an object, and nil for other values.
func (n *Node) ObjectKeys() []string {
	if !n.Is(Object) {
		return nil
	}
	return n.Keys
}

// JSON returns the JSON of n, or nil.
func (n *Node) JSON() []byte {
	if !n.Exists() || !n.Valid() {
		return nil
	}
	return n.AppendJSON(nil)
}

// Hash returns the first 8 hexadecimal digits of the SHA-256 of the
// canonical JSON of main without Hash. It is empty where main has no
// canonical form.
func Hash(main *Node) string {
	if !main.Is(Object) || !main.Valid() || main.halfSurrogate() {
		return ""
	}
	bare := &Node{Kind: Object}
	main.Members(func(key string, value *Node) {
		if key != "schemaHash" {
			bare.Keys = append(bare.Keys, key)
			bare.Items = append(bare.Items, value)
		}
	})
	text, err := rawjson.AppendCanonical(nil, bare.AppendJSON(nil))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
