package main

import (
	"io"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// maxArguments bounds the arguments read from standard input.
const maxArguments = 4 << 20

// readArguments makes the arguments object of a command line.
func readArguments(in io.Reader, tool *gateway.Tool, args []string) ([]byte, error) {
	if len(args) == 1 && args[0] == "-" {
		body, err := io.ReadAll(io.LimitReader(in, maxArguments+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxArguments {
			return nil, usagef("the arguments on standard input are larger than %d bytes", maxArguments)
		}
		return checkedObject(body)
	}
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		return checkedObject([]byte(args[0]))
	}
	input, _ := tool.Schemas()
	return pairs(input, args, tool.PublishedArgument)
}

func checkedObject(body []byte) ([]byte, error) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return nil, usagef("the arguments are not JSON: %v", err)
	}
	if doc.Kind(doc.Root()) != rawjson.Object {
		return nil, usagef("the arguments must be one JSON object")
	}
	return body, nil
}

// pairs reads key=value arguments by the types of the input schema. A key may
// lead into an object, as in body.name, and a member of the body may stand
// without it where no argument has its name. The description's own names, which
// published turns into those of the schema (nil: there are none), are taken as well.
func pairs(input []byte, args []string, published func(pointer string) string) ([]byte, error) {
	schema, err := rawjson.Parse(input)
	if err != nil {
		return nil, err
	}
	tree := &argument{at: schema.Root()}
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usagef("%q is no argument: use key=value, or one JSON object", arg)
		}
		raw := strings.HasSuffix(key, ":")
		key = strings.TrimSuffix(key, ":")
		if published != nil && !strings.ContainsAny(key, "/~") {
			key = strings.ReplaceAll(published("/" + strings.ReplaceAll(key, ".", "/"))[1:], "/", ".")
		}
		into, err := tree.find(schema, key)
		if err != nil {
			return nil, err
		}
		if into.members != nil {
			return nil, usagef("%s is given whole, and parts of it are given too", key)
		}
		value, err := readValue(typeOf(schema, into.at), key, text, raw)
		if err != nil {
			return nil, err
		}
		into.values = append(into.values, value)
	}
	return tree.append(nil, schema), nil
}

// appendValues writes the values of one key: several, and a single one for an
// argument that is a list, stand in a list.
func appendValues(out []byte, values [][]byte, types string) []byte {
	list := len(values) > 1 || types == "array" && values[0][0] != '['
	if !list {
		return append(out, values[0]...)
	}
	out = append(out, '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// readValue reads the text of one value as JSON: strings need no quotes.
func readValue(kind, key, text string, raw bool) ([]byte, error) {
	isJSON := rawjson.Check([]byte(text)) == nil
	switch {
	case raw && !isJSON:
		return nil, usagef("%s:= wants JSON, and %q is none", key, text)
	case raw:
		return []byte(text), nil
	case kind == "string" || !isJSON:
		return rawjson.AppendString(nil, text), nil
	}
	return []byte(text), nil
}

// argument is a place in the arguments of a command line: a value, several of a
// list, or an object with places of its own.
type argument struct {
	key     string
	at      rawjson.Node // its schema; None: not known
	values  [][]byte
	members []*argument
}

// find is the place that a key names.
func (a *argument) find(schema *rawjson.Doc, key string) (*argument, error) {
	names := memberNames(schema, a.at)
	if slices.Contains(names, key) || len(names) == 0 {
		return a.member(schema, key), nil
	}
	if first, rest, ok := strings.Cut(key, "."); ok && slices.Contains(names, first) {
		in := a.member(schema, first)
		if in.values != nil {
			return nil, usagef("%s is given whole, and %s is a part of it", first, key)
		}
		if inside := memberNames(schema, in.at); len(inside) > 0 && !open(schema, in.at) && !slices.Contains(inside, rest) && !strings.Contains(rest, ".") {
			return nil, noArgument(key, prefixed(first+".", suggest.Near(rest, inside, maxSuggested)))
		}
		return in.find(schema, rest)
	}
	// A member of the body may stand by itself.
	body := schema.Get(schema.Get(resolved(schema, a.at), "properties"), "body")
	first, _, _ := strings.Cut(key, ".")
	if inside := memberNames(schema, body); a.key == "" && (slices.Contains(inside, key) || slices.Contains(inside, first)) {
		return a.member(schema, "body").find(schema, key)
	}
	if a.key == "" && !open(schema, a.at) {
		near := suggest.Near(key, names, maxSuggested)
		if body != rawjson.None {
			near = append(near, prefixed("body.", suggest.Near(strings.TrimPrefix(key, "body."), memberNames(schema, body), maxSuggested))...)
		}
		if near != nil {
			return nil, noArgument(key, near)
		}
	}
	return a.member(schema, key), nil
}

// noArgument says it in the words of input validation.
func noArgument(key string, near []string) error {
	text := `there is no argument "` + key + `"`
	if len(near) > 0 {
		text += `; did you mean "` + strings.Join(near, `" or "`) + `"?`
	}
	return usagef("%s", text)
}

func prefixed(prefix string, names []string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// member is the place of that name, made where it is not there yet.
func (a *argument) member(schema *rawjson.Doc, key string) *argument {
	for _, m := range a.members {
		if m.key == key {
			return m
		}
	}
	m := &argument{key: key, at: schema.Get(schema.Get(resolved(schema, a.at), "properties"), key)}
	a.members = append(a.members, m)
	return m
}

// append writes what stands there.
func (a *argument) append(dst []byte, schema *rawjson.Doc) []byte {
	if a.values != nil {
		return appendValues(dst, a.values, typeOf(schema, a.at))
	}
	dst = append(dst, '{')
	for i, m := range a.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, m.key), ':')
		dst = m.append(dst, schema)
	}
	return append(dst, '}')
}

// resolved follows references within a schema.
func resolved(schema *rawjson.Doc, n rawjson.Node) rawjson.Node {
	for range 16 {
		ref := schema.Str(schema.Get(n, "$ref"))
		if !strings.HasPrefix(ref, "#/") {
			break
		}
		n = schema.Pointer(ref[1:])
	}
	return n
}

// memberNames are the properties that a schema names.
func memberNames(schema *rawjson.Doc, n rawjson.Node) (names []string) {
	props := schema.Get(resolved(schema, n), "properties")
	for p := schema.First(props); p != rawjson.None; p = schema.Next(p) {
		names = append(names, schema.Key(p))
	}
	return names
}

// open reports whether an object may have members that its schema does not
// name.
func open(schema *rawjson.Doc, n rawjson.Node) bool {
	closed := schema.Get(resolved(schema, n), "additionalProperties")
	return closed == rawjson.None || string(schema.Raw(closed)) != "false"
}

// typeOf returns the type by a schema; empty: not one certain type.
func typeOf(schema *rawjson.Doc, n rawjson.Node) string {
	return schema.Str(schema.Get(resolved(schema, n), "type"))
}

// argumentWords are the arguments of an input schema as they are begun on a command
// line.
func argumentWords(input []byte) (all []string) {
	doc, err := rawjson.Parse(input)
	if err != nil {
		return nil
	}
	props := doc.Get(doc.Root(), "properties")
	for n := doc.First(props); n != rawjson.None; n = doc.Next(n) {
		all = append(all, doc.Key(n)+"=")
	}
	return all
}
