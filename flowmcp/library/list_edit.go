package library

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// AddEntry adds an entry after the others of a shared list. given has a text
// for each field, which is converted to the field's type. Everything else stays
// unchanged, byte by byte.
func AddEntry(text []byte, given map[string]string) ([]byte, error) {
	m, err := module.Parse(text)
	if err != nil {
		return nil, err
	}
	old, findings := format.ParseList(text, false)
	if old == nil {
		return nil, errors.New("the list has errors: " + format.FirstError(findings))
	}
	entry, err := entryOf(format.Evaluate(m, "list").Get("meta").Get("fields").List(), given)
	if err != nil {
		return nil, err
	}
	if same := slices.IndexFunc(old.Entries, func(n *module.Node) bool { return sameEntry(n, entry) }); same >= 0 {
		return nil, fmt.Errorf("entry %d is the same", same+1)
	}
	at := behindEntries(text)
	if at < 0 {
		return nil, errors.New("cannot find the end of its entries")
	}
	added := slices.Insert(slices.Clone(text), at, []byte(","+spaceBefore(text, at)+entry)...)
	now, findings := format.ParseList(added, false)
	if now == nil {
		return nil, errors.New("the list would have errors: " + format.FirstError(findings))
	}
	if len(now.Entries) != len(old.Entries)+1 || !slices.EqualFunc(old.Entries, now.Entries[:len(old.Entries)], equalNodes) {
		return nil, errors.New("the entries have a form that cannot be extended")
	}
	return added, nil
}

// sameEntry reports whether an entry equals one in text form.
func sameEntry(n *module.Node, entry string) bool {
	m, err := module.Parse([]byte("export const list = " + entry))
	if err != nil {
		return false
	}
	return equalNodes(n, format.Evaluate(m, "list"))
}

func equalNodes(a, b *module.Node) bool { return bytes.Equal(a.AppendJSON(nil), b.AppendJSON(nil)) }

// entryOf writes an entry as an object literal.
func entryOf(fields []*module.Node, given map[string]string) (string, error) {
	var parts, known []string
	for _, f := range fields {
		known = append(known, f.Get("key").Str())
	}
	for key := range given {
		if !slices.Contains(known, key) {
			text := "unknown field " + key + "; the list has " + strings.Join(known, ", ")
			if near := suggest.Near(key, known, 1); near != nil {
				text += "; did you mean " + near[0] + "?"
			}
			return "", errors.New(text)
		}
	}
	for _, f := range fields {
		key := f.Get("key").Str()
		value, there := given[key]
		if !there && !f.Get("optional").IsTrue() {
			return "", fmt.Errorf("the field %s is required", key)
		}
		if !there {
			continue
		}
		written, err := valueOf(f.Get("type").Str(), value)
		if err != nil {
			return "", fmt.Errorf("the field %s: %w", key, err)
		}
		if !format.InputPattern.MatchString(key) {
			key = string(rawjson.AppendString(nil, key))
		}
		parts = append(parts, key+": "+written)
	}
	return "{ " + strings.Join(parts, ", ") + " }", nil
}

func valueOf(kind, text string) (string, error) {
	switch kind {
	case "string":
		if written := string(rawjson.AppendString(nil, text)); strings.ContainsAny(written, `\'`) {
			return written, nil
		}
		return "'" + text + "'", nil
	case "number":
		doc, err := rawjson.Parse([]byte(text))
		if err != nil || doc.Kind(doc.Root()) != rawjson.Number {
			return "", fmt.Errorf("%q is not a number", text)
		}
		return text, nil
	case "boolean":
		if text != "true" && text != "false" {
			return "", fmt.Errorf("%q is neither true nor false", text)
		}
		return text, nil
	}
	return "", fmt.Errorf("values of the type %s cannot be given", kind)
}

// behindEntries returns the offset after the last entry of a list, or -1. A
// list is pure data, so brackets suffice to find it.
func behindEntries(text []byte) int {
	l := js.NewLexer(parse.NewInputBytes(slices.Clone(text)))
	offset, depth, inside, behind := 0, 0, -1, -1
	var before [2]string // the last two significant tokens
	for {
		kind, token := l.Next()
		if kind == js.ErrorToken {
			return -1
		}
		offset += len(token)
		switch string(token) { // brackets in strings are no tokens
		case "[", "{":
			if depth++; inside < 0 && before[1] == ":" && strings.Trim(before[0], `'"`) == "entries" {
				inside = depth
			}
		case "]", "}":
			if depth--; depth == inside {
				behind = offset
			}
			if depth < inside {
				return behind
			}
		}
		if len(bytes.TrimSpace(token)) == 0 || bytes.HasPrefix(token, []byte("/")) {
			continue
		}
		before = [2]string{before[1], string(token)}
	}
}

// spaceBefore returns the white space before the line of an entry, or one space
// where entries share a line.
func spaceBefore(text []byte, end int) string {
	line := text[bytes.LastIndexByte(text[:end], '\n')+1 : end]
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if len(line) == len(indent) || line[len(indent)] != '{' && line[len(indent)] != '}' {
		return " "
	}
	return "\n" + string(indent)
}
