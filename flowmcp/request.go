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
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// request builds the HTTP request of a call. Server parameters are taken from
// env and inserted only at the placeholders of the schema file; arguments are
// never parsed for placeholders. Errors contain no values of either.
func (t tool) request(ctx context.Context, args []byte, o *Options) (*http.Request, error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return nil, validationError("the arguments are not valid JSON")
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
		return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the server parameter is not set: " + v.missing}
	}
	req, err := http.NewRequestWithContext(ctx, t.Method, address, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" || req.URL.User != nil {
		return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the arguments and the schema file do not form a valid URL"}
	}
	if err := t.checkDestination(v.used, address, o); err != nil {
		return nil, err
	}
	if !t.hasBody() {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	req.Header = header
	return req, nil
}

func validationError(what string) error {
	return &tenon.Error{Code: tenon.CodeValidation, Message: what}
}

func (t tool) hasBody() bool { return t.Method == http.MethodPost || t.Method == http.MethodPut }

// values provides the values for the placeholders of one call.
type values struct {
	doc        *rawjson.Doc
	env        func(string) (string, bool)
	used       []string // server parameters
	missing    string   // an unset server parameter
	forHandler bool     // for a handler, which can add what is missing
}

func (v *values) server(name string) string {
	value, ok := v.env(name)
	v.used = append(v.used, name)
	if !ok {
		v.missing = name
	}
	return value
}

// argument returns the JSON of the caller's argument or its default, or nil.
func (v *values) argument(p *format.Parameter, x format.Piece) []byte {
	n := v.doc.Get(v.doc.Root(), p.Argument(x))
	if n == rawjson.None || v.doc.Kind(n) == rawjson.Null {
		return p.Type.Omitted
	}
	return v.doc.AppendCompact(nil, n)
}

// text returns the value of a parameter as text; ok reports whether there is
// one.
func (v *values) text(p *format.Parameter) (text string, ok bool) {
	var b strings.Builder
	for _, piece := range p.Pieces {
		switch piece.Kind {
		case format.LiteralPiece:
			b.WriteString(piece.Text)
		case format.ServerPiece:
			b.WriteString(v.server(piece.Text))
		case format.ArgumentPiece:
			raw := v.argument(p, piece)
			if raw == nil {
				return "", false
			}
			b.WriteString(format.PlainText(raw))
		}
	}
	return b.String(), true
}

// address builds the URL, with base instead of the root if there is one.
func (t tool) address(base string, v *values) (string, error) {
	pieces, root := t.Pieces, t.File.Main.Get("root").Str()
	if base != "" {
		pieces, root = format.SplitPath(base+t.Path, t.Tool, t.File.ServerParams), base
	}
	w, err := t.expand(pieces, v)
	if err != nil {
		return "", err
	}
	if err := t.checkHost(w, root, v); err != nil {
		return "", err
	}
	if w.HasDotSegment() {
		return "", validationError("an argument makes a path segment . or ..")
	}
	t.query(w, v)
	return string(w.Out), nil
}

// checkHost ensures that an address has the host and the port of root. A
// caller's value in the host must be a label before the last two, which are
// literal.
func (t tool) checkHost(w *format.URLWriter, root string, v *values) error {
	pieces := format.SplitPath(root, t.Tool, t.File.ServerParams)
	home, err := t.expand(pieces, v)
	if err != nil {
		return err
	}
	at := authorityOf(w.Out)
	if !strings.EqualFold(at, authorityOf(home.Out)) {
		return requestError("the path of the tool changes the host or port of root: not sent")
	}
	if v.forHandler || !slices.ContainsFunc(pieces, func(p format.Piece) bool { return p.Kind == format.ArgumentPiece }) {
		return nil // the address of a handler is checked when it is sent
	}
	u, err := url.Parse(at)
	if err != nil || format.PortOf(u) != t.File.RootPort() || !slices.ContainsFunc(format.HostsIn(root), func(p string) bool { return format.MatchesHost(p, u.Hostname()) }) {
		return requestError("an argument would change the host or port of root: not sent")
	}
	return nil
}

// expand writes pieces of root and path.
func (t tool) expand(pieces []format.Piece, v *values) (*format.URLWriter, error) {
	w := &format.URLWriter{Raw: v.forHandler}
	for i, p := range pieces {
		switch p.Kind {
		case format.LiteralPiece:
			w.Literal(p.Text)
		case format.ServerPiece:
			if !w.Argument(v.server(p.Text), format.LabelBytes+".") {
				return nil, &tenon.Error{Code: tenon.CodeRequest, Message: "the value of " + p.Text + " is not valid in a host name"}
			}
		case format.ArgumentPiece:
			if err := t.expandInsert(w, v, p.Text, pieces[i+1:]); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// authorityOf returns scheme, host and port of a URL; a default port is left
// out.
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

// expandInsert writes an insert parameter. A missing one shortens the path if nothing
// follows it, and is an error elsewhere.
func (t tool) expandInsert(w *format.URLWriter, v *values, key string, rest []format.Piece) error {
	p := t.InsertParameter(key)
	w.AllowSlash = p.AllowsSlash
	defer func() { w.AllowSlash = false }()
	text, ok := v.text(p)
	switch {
	case !ok && v.forHandler:
		w.Literal(":" + key)
		return nil
	case !ok && w.Part == format.InSearch:
		return nil
	case !ok && w.Part == format.InPath && (len(rest) == 0 || strings.HasPrefix(rest[0].Text, "?")) && bytes.HasSuffix(w.Out, []byte{'/'}):
		w.Out = w.Out[:len(w.Out)-1]
		return nil
	case !ok:
		return validationError("the argument " + strings.Join(p.Arguments(), ", ") + " is required for the path")
	case !w.Argument(text, format.LabelBytes):
		return validationError("the argument " + strings.Join(p.Arguments(), ", ") + " is part of a host name and may contain only letters, digits and hyphens")
	}
	return nil
}

func (t tool) query(w *format.URLWriter, v *values) {
	separator := byte('?')
	if bytes.IndexByte(w.Out, '?') >= 0 {
		separator = '&'
	}
	for _, p := range t.Parameters {
		if p.Location != format.InQuery {
			continue
		}
		text, ok := v.text(p)
		if !ok {
			continue
		}
		w.Out = append(w.Out, separator)
		w.Out = format.AppendForm(w.Out, p.Key)
		w.Out = append(w.Out, '=')
		w.Out = format.AppendForm(w.Out, text)
		separator = '&'
	}
}

// body writes the JSON object of the body parameters. Arguments keep their
// types, other values are strings. The last of equal keys wins.
func (t tool) body(v *values) []byte {
	var keys []string
	members := map[string][]byte{}
	for _, p := range t.Parameters {
		if p.Location != format.InBody {
			continue
		}
		value := v.bodyValue(p)
		if value == nil {
			continue
		}
		if members[p.Key] == nil {
			keys = append(keys, p.Key)
		}
		members[p.Key] = value
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

func (v *values) bodyValue(p *format.Parameter) []byte {
	if p.IsArgument() {
		return v.argument(p, p.Pieces[0])
	}
	text, ok := v.text(p)
	if !ok {
		return nil
	}
	return rawjson.AppendString(nil, text)
}

// field is one header in the file's spelling.
type field struct{ name, value string }

// header builds the request's headers: those of the file, overridden by those
// of the tool, ignoring case.
func (t tool) header(v *values) ([]field, error) {
	var fields []field
	var err error
	for _, set := range []*module.Node{t.File.Main.Get("headers"), t.Headers} {
		set.Members(func(name string, value *module.Node) {
			var b strings.Builder
			for _, piece := range format.SplitValue(value.Str(), t.File.ServerParams, func(string) string { return "" }) {
				if piece.Kind == format.ServerPiece {
					piece.Text = v.server(piece.Text)
				}
				b.WriteString(piece.Text)
			}
			text := b.String()
			if !validHeader(name, text) {
				err = &tenon.Error{Code: tenon.CodeRequest, Message: "the header " + strings.ToValidUTF8(name, "?") + " is invalid: its name or value contains forbidden characters"}
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

// validHeader rejects names and values that could inject lines or connection
// headers.
func validHeader(name, value string) bool {
	if name == "" || textproto.TrimString(name) != name {
		return false
	}
	for i := range len(name) {
		if !format.IsAlnum(name[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", name[i]) < 0 {
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
