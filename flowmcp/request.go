package flowmcp

import (
	"bytes"
	"context"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// request makes the HTTP request of a call. Server parameters come from env
// and stand only where the schema file has their mark: what an argument says
// is never looked at for marks. No error holds a value of either.
func (t *route) request(ctx context.Context, args []byte, o *Options) (*http.Request, error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return nil, invalid("the arguments are no JSON")
	}
	v := values{doc: doc, env: o.Env}
	address, err := t.address(strings.TrimSuffix(o.BaseURL, "/"), &v)
	if err != nil {
		return nil, err
	}
	var body []byte
	if t.hasBody() {
		body = t.body(&v)
	}
	fields, err := t.header(&v)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if t.hasBody() {
		header.Set("Content-Type", "application/json")
	}
	for _, f := range fields {
		header.Set(f.name, f.value)
	}
	if v.missing != "" {
		return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the operator has not set " + v.missing}
	}
	req, err := http.NewRequestWithContext(ctx, t.method, address, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" || req.URL.User != nil {
		return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the arguments and the schema file make no address"}
	}
	if err := t.mayCarry(v.used, address, o); err != nil {
		return nil, err
	}
	if !t.hasBody() {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	req.Header = header
	return req, nil
}

func invalid(what string) error {
	return &tenon.Error{Code: tenon.CodeValidation, Message: what}
}

func (t *route) hasBody() bool { return t.method == http.MethodPost || t.method == http.MethodPut }

// values are what the marks of one call stand for.
type values struct {
	doc     *rawjson.Doc
	env     func(string) (string, bool)
	used    []string // server parameters
	missing string   // a server parameter that is not set
	lax     bool     // for a handler, which may put in what is missing
}

func (v *values) server(name string) string {
	value, ok := v.env(name)
	v.used = append(v.used, name)
	if !ok {
		v.missing = name
	}
	return value
}

// argument is the JSON of the caller's value or of what stands for it where
// none is given; nil: nothing does.
func (v *values) argument(p *parameter, x piece) []byte {
	n := v.doc.Get(v.doc.Root(), p.argument(x))
	if n == rawjson.None || v.doc.Kind(n) == rawjson.Null {
		return p.z.omitted
	}
	return v.doc.AppendCompact(nil, n)
}

// text is the value of a parameter as a text. ok: there is one.
func (v *values) text(p *parameter) (text string, ok bool) {
	var b strings.Builder
	for _, piece := range p.pieces {
		switch piece.kind {
		case literalPiece:
			b.WriteString(piece.text)
		case serverPiece:
			b.WriteString(v.server(piece.text))
		case userPiece:
			raw := v.argument(p, piece)
			if raw == nil {
				return "", false
			}
			b.WriteString(plainText(raw))
		}
	}
	return b.String(), true
}

// plainText is a JSON value as it stands in a URL: strings without quotes,
// lists joined by commas.
func plainText(raw []byte) string {
	doc, err := rawjson.Parse(raw)
	if err != nil {
		return ""
	}
	switch doc.Kind(doc.Root()) {
	case rawjson.String:
		return doc.Str(doc.Root())
	case rawjson.Array:
		var parts []string
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			parts = append(parts, plainText(doc.Raw(n)))
		}
		return strings.Join(parts, ",")
	}
	return string(raw)
}

// address writes the URL, from base instead of the root if there is one.
func (t *route) address(base string, v *values) (string, error) {
	pieces, root := t.pieces, t.file.main.get("root").str()
	if base != "" {
		pieces, root = splitPath(base+t.path, t, t.file.server), base
	}
	w, err := t.expand(pieces, v)
	if err != nil {
		return "", err
	}
	if err := t.staysHome(w, root, v); err != nil {
		return "", err
	}
	if w.dotted() {
		return "", invalid("an argument makes a path segment . or ..")
	}
	t.query(w, v)
	return string(w.out), nil
}

// staysHome makes sure that an address has the host and the port of root. A
// caller's value in the host's name is a label before the last two, which are
// the file's own.
func (t *route) staysHome(w *urlWriter, root string, v *values) error {
	pieces := splitPath(root, t, t.file.server)
	home, err := t.expand(pieces, v)
	if err != nil {
		return err
	}
	at := authorityOf(w.out)
	if !strings.EqualFold(at, authorityOf(home.out)) {
		return refused("the path of the tool changes the host or the port of root: nothing is sent there")
	}
	if v.lax || !slices.ContainsFunc(pieces, func(p piece) bool { return p.kind == userPiece }) {
		return nil // what a handler makes of the address is looked at when it is sent
	}
	u, err := url.Parse(at)
	if err != nil || portOf(u) != t.file.rootPort() || !slices.ContainsFunc(hostsIn(root), func(p string) bool { return fits(p, u.Hostname()) }) {
		return refused("an argument would choose the host or the port of root: nothing is sent there")
	}
	return nil
}

// expand writes pieces of root and path.
func (t *route) expand(pieces []piece, v *values) (*urlWriter, error) {
	w := &urlWriter{raw: v.lax}
	for i, p := range pieces {
		switch p.kind {
		case literalPiece:
			w.literal(p.text)
		case serverPiece:
			if !w.argument(v.server(p.text), labelBytes+".") {
				return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the value of " + p.text + " cannot stand in a host name"}
			}
		case userPiece:
			if err := t.insert(w, v, p.text, pieces[i+1:]); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// authorityOf is the host and port of a URL that is written; a port that the
// scheme has anyway does not count.
func authorityOf(address []byte) string {
	text := string(address)
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	if strings.EqualFold(scheme, "https") {
		rest = strings.TrimSuffix(rest, ":443")
	}
	return scheme + "://" + rest
}

// insert writes an insert parameter. One that is not given ends the path if
// nothing follows it, and is an error in the middle of the path.
func (t *route) insert(w *urlWriter, v *values, key string, rest []piece) error {
	p := t.inserted(key)
	w.slash = p.slash
	defer func() { w.slash = false }()
	text, ok := v.text(p)
	switch {
	case !ok && v.lax:
		w.literal(":" + key)
		return nil
	case !ok && w.part == inSearch:
		return nil
	case !ok && w.part == inPath && (len(rest) == 0 || strings.HasPrefix(rest[0].text, "?")) && bytes.HasSuffix(w.out, []byte{'/'}):
		w.out = w.out[:len(w.out)-1]
		return nil
	case !ok:
		return invalid("the argument " + strings.Join(p.arguments(), ", ") + " is needed for the path")
	case !w.argument(text, labelBytes):
		return invalid("the argument " + strings.Join(p.arguments(), ", ") + " stands in a host name and can hold only letters, digits and hyphens")
	}
	return nil
}

func (t *route) inserted(key string) *parameter {
	for _, p := range t.parameters {
		if p.in == inInsert && p.key == key {
			return p
		}
	}
	return nil // cannot be: splitPath takes only keys of insert parameters
}

func (t *route) query(w *urlWriter, v *values) {
	separator := byte('?')
	if bytes.IndexByte(w.out, '?') >= 0 {
		separator = '&'
	}
	for _, p := range t.parameters {
		if p.in != inQuery {
			continue
		}
		text, ok := v.text(p)
		if !ok {
			continue
		}
		w.out = append(w.out, separator)
		w.out = appendForm(w.out, p.key)
		w.out = append(w.out, '=')
		w.out = appendForm(w.out, text)
		separator = '&'
	}
}

// body writes the JSON object of the body parameters. An argument keeps its
// type, everything else is a string. Of equal keys the last one counts.
func (t *route) body(v *values) []byte {
	var keys []string
	members := map[string][]byte{}
	for _, p := range t.parameters {
		if p.in != inBody {
			continue
		}
		value := v.bodyValue(p)
		if value == nil {
			continue
		}
		if members[p.key] == nil {
			keys = append(keys, p.key)
		}
		members[p.key] = value
	}
	out := []byte{'{'}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, key)
		out = append(out, ':')
		out = append(out, members[key]...)
	}
	return append(out, '}')
}

func (v *values) bodyValue(p *parameter) []byte {
	if p.whole() {
		return v.argument(p, p.pieces[0])
	}
	text, ok := v.text(p)
	if !ok {
		return nil
	}
	return rawjson.AppendString(nil, text)
}

// field is one header as the file spells it.
type field struct{ name, value string }

// header makes the request's headers: those of the file, overridden by those
// of the tool whatever their case.
func (t *route) header(v *values) ([]field, error) {
	var fields []field
	var err error
	for _, set := range []*node{t.file.main.get("headers"), t.headers} {
		set.members(func(name string, value *node) {
			var b strings.Builder
			for _, piece := range splitValue(value.str(), t.file.server, func(string) string { return "" }) {
				if piece.kind == serverPiece {
					piece.text = v.server(piece.text)
				}
				b.WriteString(piece.text)
			}
			text := b.String()
			if !validHeader(name, text) {
				err = &tenon.Error{Code: tenon.CodeRequest, Message: "the header " + strings.ToValidUTF8(name, "?") + " cannot be sent: its name or value holds what no header may"}
				return
			}
			at := slices.IndexFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) })
			if at < 0 {
				fields = append(fields, field{name, text})
			} else {
				fields[at].value = text
			}
		})
	}
	return fields, err
}

// validHeader refuses names and values that could add lines or other headers.
func validHeader(name, value string) bool {
	if name == "" || textproto.TrimString(name) != name {
		return false
	}
	for i := range len(name) {
		if !isAlnum(name[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", name[i]) < 0 {
			return false
		}
	}
	for i := range len(value) {
		if value[i] < ' ' && value[i] != '\t' || value[i] == 0x7F {
			return false
		}
	}
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection":
		return false
	}
	return true
}
