package argnames

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Publish returns the input schema with the published names. The description of
// each renamed property includes the original name.
func (n *Names) Publish(input []byte) []byte {
	if n == nil {
		return input
	}
	w := writer{Names: n, out: make([]byte, 0, len(input)+64*len(n.original))}
	w.value(n.schema.Root(), "")
	return w.out
}

// writer rewrites the schema.
type writer struct {
	*Names
	out []byte
}

// value writes a schema; own is the original name of the property that it
// describes if that is renamed.
func (w *writer) value(s rawjson.Node, own string) {
	if own != "" && w.schema.IsTrue(s) {
		w.out = append(rawjson.AppendString(append(w.out, `{"description":`...), described("", own)), '}')
		return
	}
	if w.schema.Kind(s) != rawjson.Object {
		w.out = append(w.out, w.schema.Raw(s)...)
		return
	}
	w.out = append(w.out, '{')
	if own != "" {
		text := w.schema.Str(w.schema.Get(s, "description"))
		w.out = rawjson.AppendString(append(w.out, `"description":`...), described(text, own))
	}
	for m := w.schema.First(s); m != rawjson.None; m = w.schema.Next(m) {
		if own != "" && w.schema.Key(m) == "description" {
			continue
		}
		w.key(w.schema.Key(m), false)
		switch holds := contentOf(w.schema, s, m); holds {
		case single:
			w.value(m, "")
		case several, byName:
			w.each(m, holds)
		case nameList:
			w.names(m)
		default:
			w.out = append(w.out, w.schema.Raw(m)...)
		}
	}
	w.out = append(w.out, '}')
}

// each writes a list of schemas, or schemas by name.
func (w *writer) each(list rawjson.Node, holds content) {
	kind := w.schema.Kind(list)
	if kind != rawjson.Object && kind != rawjson.Array {
		w.out = append(w.out, w.schema.Raw(list)...)
		return
	}
	w.open(kind)
	for p := w.schema.First(list); p != rawjson.None; p = w.schema.Next(p) {
		own := ""
		if kind == rawjson.Object {
			key := w.schema.Key(p)
			w.key(key, holds == byName)
			if holds == byName && w.published[key] != "" {
				own = key
			}
		} else {
			w.comma()
		}
		w.value(p, own)
	}
	w.close(kind)
}

// names writes names of properties.
func (w *writer) names(v rawjson.Node) {
	switch kind := w.schema.Kind(v); kind {
	case rawjson.String:
		w.out = rawjson.AppendString(w.out, w.publishedName(w.schema.Str(v)))
	case rawjson.Object, rawjson.Array:
		w.open(kind)
		for p := w.schema.First(v); p != rawjson.None; p = w.schema.Next(p) {
			if kind == rawjson.Object {
				w.key(w.schema.Key(p), true)
			} else {
				w.comma()
			}
			w.names(p)
		}
		w.close(kind)
	default:
		w.out = append(w.out, w.schema.Raw(v)...)
	}
}

// publishedName returns the published name of a property.
func (n *Names) publishedName(name string) string {
	if as := n.published[name]; as != "" {
		return as
	}
	return name
}

func (w *writer) open(k rawjson.Kind) {
	if k == rawjson.Object {
		w.out = append(w.out, '{')
	} else {
		w.out = append(w.out, '[')
	}
}

func (w *writer) close(k rawjson.Kind) {
	if k == rawjson.Object {
		w.out = append(w.out, '}')
	} else {
		w.out = append(w.out, ']')
	}
}

// comma writes a separator if one is needed.
func (w *writer) comma() {
	if last := w.out[len(w.out)-1]; last != '{' && last != '[' {
		w.out = append(w.out, ',')
	}
}

func (w *writer) key(key string, property bool) {
	w.comma()
	if property {
		key = w.publishedName(key)
	}
	w.out = append(rawjson.AppendString(w.out, key), ':')
}

// described adds the original name to a description.
func described(text, own string) string {
	text = strings.TrimSpace(text)
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return strings.TrimSpace(text + " Its original name is " + own + ".")
}
