package flowmcp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// AddEntry adds an entry to the text of a shared list, behind the others. given
// has a text for each field; it becomes a value of the field's type. All else
// stays as it was, byte by byte.
func AddEntry(text []byte, given map[string]string) ([]byte, error) {
	m, err := parseModule(text)
	if err != nil {
		return nil, err
	}
	old, findings := parseList(text, false)
	if old == nil {
		return nil, errors.New("the list has errors: " + firstError(findings))
	}
	c := &checker{m: m, broken: map[string]bool{}}
	entry, err := entryOf(c.evaluate("list").get("meta").get("fields").list(), given)
	if err != nil {
		return nil, err
	}
	if same := slices.IndexFunc(old.entries, func(n *node) bool { return sameEntry(n, entry) }); same >= 0 {
		return nil, fmt.Errorf("entry %d is the same", same+1)
	}
	at := behindEntries(text)
	if at < 0 {
		return nil, errors.New("where its entries end cannot be told")
	}
	added := slices.Insert(slices.Clone(text), at, []byte(","+spaceBefore(text, at)+entry)...)
	now, findings := parseList(added, false)
	if now == nil {
		return nil, errors.New("the list would have errors: " + firstError(findings))
	}
	if len(now.entries) != len(old.entries)+1 || !slices.EqualFunc(old.entries, now.entries[:len(old.entries)], equalNodes) {
		return nil, errors.New("the entries stand in a form that cannot be added to")
	}
	return added, nil
}

// sameEntry reports whether an entry is what the text of one says.
func sameEntry(n *node, entry string) bool {
	m, err := parseModule([]byte("export const list = " + entry))
	if err != nil {
		return false
	}
	return equalNodes(n, (&checker{m: m, broken: map[string]bool{}}).evaluate("list"))
}

func equalNodes(a, b *node) bool { return bytes.Equal(a.appendJSON(nil), b.appendJSON(nil)) }

// entryOf writes an entry as the text of an object.
func entryOf(fields []*node, given map[string]string) (string, error) {
	var parts, known []string
	for _, f := range fields {
		known = append(known, f.get("key").str())
	}
	for key := range given {
		if !slices.Contains(known, key) {
			text := "there is no field " + key + "; the list has " + strings.Join(known, ", ")
			if near := suggest.Near(key, known, 1); near != nil {
				text += "; did you mean " + near[0] + "?"
			}
			return "", errors.New(text)
		}
	}
	for _, f := range fields {
		key := f.get("key").str()
		value, there := given[key]
		if !there && !f.get("optional").yes() {
			return "", fmt.Errorf("the field %s is needed", key)
		}
		if !there {
			continue
		}
		written, err := valueOf(f.get("type").str(), value)
		if err != nil {
			return "", fmt.Errorf("the field %s: %w", key, err)
		}
		if !inputPattern.MatchString(key) {
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
			return "", fmt.Errorf("%q is no number", text)
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

// behindEntries is the offset behind the last entry of a list; -1: it is not
// found. A list is pure data, so its brackets tell.
func behindEntries(text []byte) int {
	l := js.NewLexer(parse.NewInputBytes(slices.Clone(text)))
	offset, depth, inside, behind := 0, 0, -1, -1
	var before [2]string // the last two tokens that mean something
	for {
		kind, token := l.Next()
		if kind == js.ErrorToken {
			return -1
		}
		offset += len(token)
		switch string(token) { // a bracket in a text is no token
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

// spaceBefore is the white space that stands before the line of an entry, or
// one space where entries share a line.
func spaceBefore(text []byte, end int) string {
	line := text[bytes.LastIndexByte(text[:end], '\n')+1 : end]
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if len(line) == len(indent) || line[len(indent)] != '{' && line[len(indent)] != '}' {
		return " "
	}
	return "\n" + string(indent)
}
