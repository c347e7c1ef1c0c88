package openapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// Rules of this file: arguments cannot change the scheme, the host, or the
// number or text of the path's other segments, and cannot add a header line.
// Arguments that would are rejected, not repaired: a request to another
// resource than the caller intended is worse than none.

// request makes the request of a call from its arguments.
func (p *plan) request(ctx context.Context, method string, args []byte) (*http.Request, error) {
	if p.baseErr != nil {
		if known, ok := errors.AsType[*tenon.Error](p.baseErr); ok {
			return nil, known
		}
		return nil, &tenon.Error{Code: tenon.CodeRequest, Message: p.baseErr.Error()}
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	args = p.withFixed(args)
	doc, err := rawjson.Parse(args)
	if err != nil {
		return nil, encode.Invalid("the arguments are not JSON: %v", err)
	}
	root := encode.Argument{Doc: doc, Node: doc.Root()}
	if root.Kind() != rawjson.Object {
		return nil, encode.Invalid("the arguments are not an object")
	}
	u, err := p.url(root)
	if err != nil {
		return nil, err
	}
	header, err := p.headers(root)
	if err != nil {
		return nil, err
	}
	content, media, given, err := p.content(root)
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: method, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header}
	switch {
	case !given:
		delete(header, "Content-Type")
	default:
		setBody(req, content)
		if media != "" {
			header["Content-Type"] = []string{media}
		}
	}
	return req.WithContext(ctx), nil
}

// setBody sets the body so that the transport can read it again when a reused
// connection turns out to be closed.
func setBody(req *http.Request, content []byte) {
	reader := func() (io.ReadCloser, error) {
		if len(content) == 0 {
			return http.NoBody, nil
		}
		return io.NopCloser(bytes.NewReader(content)), nil
	}
	req.ContentLength = int64(len(content))
	req.GetBody = reader
	req.Body, _ = reader()
}

// value returns the argument of q; given reports whether it is to be sent.
func (q *parameter) value(root encode.Argument) (v encode.Argument, given bool, err error) {
	v = encode.Argument{Doc: root.Doc, Node: root.Doc.Get(root.Node, q.arg)}
	switch {
	case q.hidden && q.fixed == nil:
		return v, false, nil // whatever the arguments contain
	case v.IsGiven():
		return v, true, nil
	case q.required:
		return v, false, encode.Invalid("argument %s is required", q.arg)
	}
	return v, false, nil
}

func (p *plan) url(root encode.Argument) (*url.URL, error) {
	buf, err := p.appendPath(make([]byte, 0, 256), root)
	if err != nil {
		return nil, err
	}
	end := len(buf)
	buf, err = p.appendQuery(buf, root)
	if err != nil {
		return nil, err
	}
	text := string(buf)
	raw := text[:end]
	path, err := url.PathUnescape(raw)
	if err != nil {
		return nil, encode.Rejected("the path of the operation is not a valid URL")
	}
	return &url.URL{Scheme: p.base.Scheme, User: p.base.User, Host: p.base.Host, Path: path, RawPath: raw, RawQuery: text[end:]}, nil
}

// appendPath writes the path from its template.
func (p *plan) appendPath(dst []byte, root encode.Argument) ([]byte, error) {
	for _, seg := range p.route().path {
		dst = append(dst, seg.lead...)
		start := len(dst)
		var q *parameter
		for _, piece := range seg.parts {
			if piece.param < 0 {
				dst = append(dst, piece.literal...)
				continue
			}
			q = &p.params[piece.param]
			var err error
			from := len(dst)
			if dst, err = q.appendSegment(dst, root); err != nil {
				return nil, err
			}
			if q.hidden {
				continue
			}
			if err = p.guardedNames.checkPath(q.arg, string(dst[from:])); err != nil {
				return nil, err
			}
		}
		if !isSafeSegment(dst[start:]) {
			return nil, encode.Invalid("argument %s must not contain \".\" or \"..\" as a segment of the path", q.arg)
		}
	}
	return append(dst, p.route().tail...), nil
}

func (q *parameter) appendSegment(dst []byte, root encode.Argument) ([]byte, error) {
	v, _, err := q.value(root)
	if err != nil {
		return nil, err
	}
	start := len(dst)
	dst = q.append(dst, v)
	switch {
	case len(dst) == start:
		return nil, encode.Invalid("argument %s is empty; a path parameter cannot be empty", q.arg)
	case len(dst) > encode.MaxLine:
		return nil, encode.TooLong("the path", encode.MaxLine)
	}
	return dst, nil
}

// isSafeSegment reports whether a filled segment remains one segment for every reader,
// even for an upstream that decodes %2F before it looks for "..".
func isSafeSegment(segment []byte) bool {
	if bytes.IndexByte(segment, '%') < 0 {
		return len(segment) > 0 && string(segment) != "." && string(segment) != ".."
	}
	text, err := url.PathUnescape(string(segment))
	if err != nil || text == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}

// append writes the parameter's value in the form that its location requires.
func (q *parameter) append(dst []byte, v encode.Argument) []byte {
	if !q.json {
		return q.style.Append(dst, q.wire, v)
	}
	if q.style.Named {
		dst = append(append(dst, q.wire...), '=')
	}
	return q.style.Escape.Append(dst, v.Doc.AppendCompact(nil, v.Node))
}

func (p *plan) appendQuery(dst []byte, root encode.Argument) ([]byte, error) {
	begin := len(dst)
	for _, piece := range p.route().query {
		if piece.param < 0 {
			dst = append(dst, piece.literal...)
			continue
		}
		var err error
		if dst, err = p.params[piece.param].appendSegment(dst, root); err != nil {
			return nil, err
		}
	}
	if err := p.guardedNames.checkTemplate(string(dst[begin:])); err != nil {
		return nil, err
	}
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InQuery && q.in != encode.InQueryString {
			continue
		}
		var err error
		if dst, err = p.appendParam(dst, begin, q, root); err != nil {
			return nil, err
		}
		if len(dst) > encode.MaxLine {
			return nil, encode.TooLong("the query", encode.MaxLine)
		}
	}
	return dst, nil
}

// appendParam writes one parameter of the query that starts at begin, if it is
// given.
func (p *plan) appendParam(dst []byte, begin int, q *parameter, root encode.Argument) ([]byte, error) {
	v, given, err := q.value(root)
	if err != nil || !given {
		return dst, err
	}
	start := len(dst)
	if start > begin {
		dst = append(dst, '&')
	}
	mark := len(dst)
	if dst = q.appendQuery(dst, v); len(dst) == mark {
		return dst[:start], nil
	}
	if q.hidden {
		return dst, nil
	}
	return dst, p.guardedNames.checkPairs(q.arg, string(dst[mark:]))
}

// appendQuery writes a query parameter, or the parameter that is the whole
// query (3.2): the members of an object, or JSON text.
func (q *parameter) appendQuery(dst []byte, v encode.Argument) []byte {
	if q.in != encode.InQueryString {
		return q.append(dst, v)
	}
	if q.json {
		return q.style.Escape.Append(dst, v.Doc.AppendCompact(nil, v.Node))
	}
	if v.Kind() == rawjson.Object {
		return q.style.Append(dst, "", v)
	}
	return encode.EscapeReserved.Append(dst, v.Scalar())
}

// content encodes the body; given is false if none is sent. media is its
// Content-Type where that differs from the declared one.
func (p *plan) content(root encode.Argument) (content []byte, media string, given bool, err error) {
	switch p.body.write {
	case noBody:
		return nil, "", false, nil
	case fieldsBody:
		content, given, err = p.formFields(root)
		return content, "", given, err
	case partFieldsBody:
		return p.formParts(root)
	default:
	}
	v := encode.Argument{Doc: root.Doc, Node: root.Doc.Get(root.Node, p.body.arg)}
	null := v.Kind() == rawjson.Null && p.body.required && p.body.write == jsonBody
	if !v.IsGiven() && !null {
		if p.body.required {
			return nil, "", false, p.missingBody()
		}
		return nil, "", false, nil
	}
	content, media, err = p.body.bytes(v)
	if err == nil && !p.body.hidden {
		err = p.checkBody(v, content)
	}
	return content, media, err == nil, err
}

// missingBody returns the reason why the body is missing, or why it could not
// be sent in any case.
func (p *plan) missingBody() error {
	if p.body.write == unsupportedBody {
		return p.body.unsupported()
	}
	return encode.Invalid("argument %s is required", p.body.arg)
}

// formFields writes the form parameters of 2.0.
func (p *plan) formFields(root encode.Argument) (content []byte, given bool, err error) {
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InForm {
			continue
		}
		v, ok, err := q.value(root)
		if err != nil {
			return nil, false, err
		}
		if ok {
			mark := len(content)
			content = appendField(content, q.style, q.wire, v, true)
			if err := p.guardedNames.checkPairs(q.arg, string(content[mark:])); err != nil && !q.hidden {
				return nil, false, err
			}
			given = true
		}
		if len(content) > encode.MaxText {
			return nil, false, encode.TooLong("the form", encode.MaxText)
		}
	}
	return content, given, nil
}

// formParts writes the form parameters of 2.0 as multipart, because one of them
// is a file.
func (p *plan) formParts(root encode.Argument) (content []byte, media string, given bool, err error) {
	w := newMultipart(p.body.media, p.body.files)
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InForm {
			continue
		}
		v, ok, err := q.value(root)
		if err != nil {
			return nil, "", false, err
		}
		if !ok {
			continue
		}
		given = true
		if err := w.field(q.name, partRule{file: q.node.StrAt("type") == "file"}, v); err != nil {
			return nil, "", false, err
		}
	}
	return w.end(), w.contentType(p.body.media), given, nil
}

// headers copies the fixed headers and adds those from the arguments.
func (p *plan) headers(root encode.Argument) (http.Header, error) {
	fixed := p.header()
	h := make(http.Header, len(fixed)+2)
	maps.Copy(h, fixed)
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InHeader {
			continue
		}
		v, given, err := q.value(root)
		if err != nil {
			return nil, err
		}
		if !given || v.IsVoid() && !q.json {
			continue
		}
		text, err := q.headerText(v)
		if err != nil {
			return nil, err
		}
		if q.wire == "Cookie" {
			if err := p.guardedNames.checkCookies(q.arg, text); err != nil {
				return nil, err
			}
		}
		h[q.wire] = []string{text}
	}
	cookies, err := p.cookies(root)
	if err != nil {
		return nil, err
	}
	if cookies != "" {
		h["Cookie"] = []string{strings.Join(append(h["Cookie"], cookies), "; ")}
	}
	return h, nil
}

// headerText rejects control characters, which could end the line. Header
// values are not percent-encoded (3.1.1, appendix D).
func (q *parameter) headerText(v encode.Argument) (string, error) {
	b := q.append(nil, v)
	if len(b) > encode.MaxLine {
		return "", encode.TooLong("the header "+q.wire, encode.MaxLine)
	}
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", encode.Invalid("argument %s contains a control character, which is not allowed in a header", q.arg)
		}
	}
	return strings.Trim(string(b), " \t"), nil
}

// cookies returns the value of the Cookie header. Values are percent-encoded,
// so none can start another cookie.
func (p *plan) cookies(root encode.Argument) (string, error) {
	var line []byte
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InCookie {
			continue
		}
		v, given, err := q.value(root)
		if err != nil {
			return "", err
		}
		if !given {
			continue
		}
		if len(line) > 0 {
			line = append(line, "; "...)
		}
		mark := len(line)
		line = q.append(line, v)
		if err := p.guardedNames.checkCookies(q.arg, string(line[mark:])); err != nil && !q.hidden {
			return "", err
		}
		if len(line) > encode.MaxLine {
			return "", encode.TooLong("the cookies", encode.MaxLine)
		}
	}
	return strings.TrimSuffix(string(line), "; "), nil
}
