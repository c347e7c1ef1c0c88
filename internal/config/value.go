package config

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// setting reads the value of a key. Without Values there is none.
func (r *reader) setting(key *Key, n rawjson.Node) Setting {
	s := Setting{Key: key.Name, Line: r.line(n)}
	if key.Kind == List {
		s.Values = r.list(key, n)
		return s
	}
	value, ok := r.scalar(key.Kind, n)
	switch {
	case !ok && key.Kind != Text && r.doc.Kind(n) != rawjson.Object && r.doc.Kind(n) != rawjson.Array:
		r.wrong(s.Line, "%s is %s, not %.80q", key.Name, key.Expected(), value)
	case !ok:
		r.wrong(s.Line, "%s is %s", key.Name, key.Expected())
	case len(key.Values) > 0 && !slices.Contains(key.Values, value):
		r.wrong(s.Line, "%s is one of %s, not %q", key.Name, strings.Join(key.Values, ", "), value)
	default:
		s.Values = []string{r.checked(key, s.Line, value)}
	}
	return s
}

// Expected says what a value of the key looks like.
func (k *Key) Expected() string {
	switch k.Kind {
	case Number:
		return "a whole number such as " + cmp.Or(k.Default, "10")
	case Decimal:
		return "a number such as " + cmp.Or(k.Default, "0.5 or 10")
	case Switch:
		return "true or false"
	case Duration:
		return "a time such as 500ms, 30s or 5m"
	case List:
		return "a text or a list of texts"
	case Word:
		return "a text, a number, or true or false"
	case Text:
	}
	return "a text (put it in quotes)"
}

func (r *reader) scalar(k Kind, n rawjson.Node) (value string, ok bool) {
	kind := r.doc.Kind(n)
	value = r.doc.Str(n)
	if kind != rawjson.String {
		value = string(r.doc.Raw(n))
	}
	isSwitch := kind == rawjson.Bool
	switch k {
	case Text:
		ok = kind == rawjson.String
	case Number:
		ok = kind == rawjson.Number && !strings.ContainsAny(value, ".eE") && len(value) < 18
	case Decimal:
		_, err := strconv.ParseFloat(value, 64)
		ok = kind == rawjson.Number && err == nil
	case Switch:
		ok = isSwitch
	case Duration:
		_, err := time.ParseDuration(value)
		ok = kind == rawjson.String && err == nil
	case Word:
		ok = kind == rawjson.String || kind == rawjson.Number || isSwitch
	case List:
	}
	return value, ok
}

func (r *reader) list(key *Key, n rawjson.Node) []string {
	var all []string
	switch kind := r.doc.Kind(n); {
	case kind == rawjson.String:
		all = []string{r.checked(key, r.line(n), r.doc.Str(n))}
	case kind == rawjson.Array, kind == rawjson.Object && key.Pair != "":
		all = []string{}
		for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
			before := ""
			if kind == rawjson.Object {
				before = r.doc.Key(m) + key.Pair
			}
			if !key.Lists || before == "" || r.doc.Kind(m) != rawjson.Array {
				all = r.appendText(key, all, before, m)
				continue
			}
			for one := r.doc.First(m); one != rawjson.None; one = r.doc.Next(one) {
				all = r.appendText(key, all, before, one)
			}
		}
	default:
		words := key.Expected()
		if key.Pair != "" {
			words += ", or an object of them"
		}
		r.wrong(r.line(n), "%s is %s", key.Name, words)
	}
	return all
}

// checked is a value as it counts.
func (r *reader) checked(key *Key, line int, value string) string {
	if key.Check != nil {
		if err := key.Check(value); err != nil {
			r.wrong(line, "%s: %v", key.Name, err)
		}
	}
	if key.Rebase != nil {
		return key.Rebase(r.folder, value)
	}
	return value
}

// Beside is where a file is that a config in folder names: a URL and an
// absolute path stay what they are.
func Beside(folder, name string) string {
	if name == "" || folder == "" || strings.Contains(name, "://") || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}

// appendText adds a text of a list behind what precedes it.
func (r *reader) appendText(key *Key, all []string, before string, n rawjson.Node) []string {
	if r.doc.Kind(n) != rawjson.String {
		r.wrong(r.line(n), "%s has texts in it (put them in quotes)", key.Name)
		return all
	}
	return append(all, r.checked(key, r.line(n), before+r.doc.Str(n)))
}
