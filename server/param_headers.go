package server

import (
	"context"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// paramHeader is one argument of a tool that a header repeats (x-mcp-header of
// transports/streamable-http).
type paramHeader struct {
	header string // in canonical spelling
	path   string // JSON Pointer of the argument
	kind   string // string, integer or boolean
}

const (
	boundPrefix = "Mcp-Param-"
	boundKey    = "x-mcp-header"
)

// checkParamHeaders compares the headers of a call with its arguments.
func (s *Server) checkParamHeaders(ctx context.Context, m *jsonrpc.Message, h http.Header) *jsonrpc.Error {
	e := s.gateway.Catalog().For(ctx).Find(m.Name)
	if e == nil {
		return nil
	}
	all := s.tools().paramHeadersOf(e)
	if len(all) == 0 {
		return nil
	}
	doc, err := rawjson.Parse(m.Arguments)
	for i := range all {
		b := &all[i]
		value := rawjson.None
		if err == nil {
			value = doc.Pointer(b.path)
		}
		if e := checkOne(b, doc, value, h); e != nil {
			return e
		}
	}
	return nil
}

func checkOne(b *paramHeader, doc *rawjson.Doc, value rawjson.Node, h http.Header) *jsonrpc.Error {
	values := h[b.header]
	if value == rawjson.None || doc.Kind(value) == rawjson.Null {
		if len(values) > 0 {
			return jsonrpc.HeaderMismatch(b.header + " stands there without its argument")
		}
		return nil
	}
	if len(values) != 1 {
		return jsonrpc.HeaderMismatch(b.header + " does not stand there once")
	}
	text, e := decoded(b.header, strings.Trim(values[0], " \t"))
	if e != nil {
		return e
	}
	if b.kind == "integer" && !safeInteger(text) {
		return jsonrpc.HeaderMismatch(b.header + " is no integer within ±(2^53-1)")
	}
	if !b.equal(doc, value, text) {
		return jsonrpc.HeaderMismatch(b.header + " differs from the argument at " + b.path)
	}
	return nil
}

// equal compares by value: 42 and 42.0 are the same integer.
func (b *paramHeader) equal(doc *rawjson.Doc, value rawjson.Node, text string) bool {
	raw := string(doc.Raw(value))
	switch doc.Kind(value) {
	case rawjson.String:
		return doc.Str(value) == text
	case rawjson.Number:
		return sameNumber(raw, text)
	case rawjson.Bool:
		return raw == text
	}
	return false // input validation says what is wrong with it, but no header can carry it
}

// safeInteger reports whether every client can write the number: the protocol
// bounds the integers of headers to those that doubles hold.
func safeInteger(text string) bool {
	const most = 1<<53 - 1
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f) && math.Abs(f) <= most
}

func sameNumber(a, b string) bool {
	const most = 40 // more digits than any header may carry
	if len(a) > most || len(b) > most || strings.ContainsAny(a+b, "eExXpP_/") {
		return a == b
	}
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}

// paramHeadersOf returns what headers repeat of a tool's arguments. It is read from
// the published schema once.
func (l *listing) paramHeadersOf(e *gateway.Tool) []paramHeader {
	if v, ok := l.bound.Load(e); ok {
		all, _ := v.([]paramHeader)
		return all
	}
	input, _ := e.Schemas()
	all, wrong := paramHeadersIn(input)
	if wrong != "" {
		l.log.Warn("the headers of a tool are not checked: clients will leave the tool out", "tool", e.Name(), "reason", wrong)
	}
	l.bound.Store(e, all)
	return all
}

// paramHeadersIn finds the annotations of a schema. One that breaks a rule makes all
// of them void: clients refuse such a tool.
func paramHeadersIn(schema []byte) (all []paramHeader, wrong string) {
	if !strings.Contains(string(schema), boundKey) {
		return nil, ""
	}
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return nil, err.Error()
	}
	w := paramHeaderWalk{doc: doc, seen: map[string]bool{}}
	w.properties(doc.Root(), "")
	if w.wrong == "" && w.count(doc.Root(), 0) != len(w.all) {
		w.wrong = boundKey + " stands where no chain of properties leads"
	}
	if w.wrong != "" {
		return nil, w.wrong
	}
	return w.all, ""
}

type paramHeaderWalk struct {
	doc   *rawjson.Doc
	all   []paramHeader
	seen  map[string]bool
	wrong string
}

// properties goes along properties only: there an argument has one place.
func (w *paramHeaderWalk) properties(schema rawjson.Node, path string) {
	all := w.doc.Get(schema, "properties")
	if w.doc.Kind(all) != rawjson.Object {
		return
	}
	for p := w.doc.First(all); p != rawjson.None; p = w.doc.Next(p) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(w.doc.Key(p))
		if name := w.doc.Get(p, boundKey); name != rawjson.None {
			w.add(w.doc.Str(name), w.doc.Str(w.doc.Get(p, "type")), at)
		}
		w.properties(p, at)
	}
}

func (w *paramHeaderWalk) add(name, kind, path string) {
	header := http.CanonicalHeaderKey(boundPrefix + name)
	switch {
	case !isToken(name):
		w.wrong = boundKey + " at " + path + " is no name of a header"
	case w.seen[header]:
		w.wrong = boundKey + " " + name + " stands there twice"
	case kind != "string" && kind != "integer" && kind != "boolean":
		w.wrong = boundKey + " at " + path + " stands on a " + kind
	}
	w.seen[header] = true
	w.all = append(w.all, paramHeader{header: header, path: path, kind: kind})
}

// count finds every annotation, wherever it stands, but not properties of that
// name.
func (w *paramHeaderWalk) count(n rawjson.Node, depth int) (found int) {
	if depth > rawjson.MaxDepth {
		return 0
	}
	for c := w.doc.First(n); c != rawjson.None; c = w.doc.Next(c) {
		if w.doc.Kind(n) == rawjson.Object && w.doc.Key(c) == boundKey && w.doc.Kind(c) == rawjson.String {
			found++
		}
		found += w.count(c, depth+1)
	}
	return found
}

// isToken is the syntax of a header's name: RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
