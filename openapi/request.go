package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The rules of this file: arguments change neither scheme nor host nor the
// number or the text of the path's other segments, and add no header line.
// What would is refused, never repaired: a request to another place than the
// caller meant is worse than none.

func invalid(format string, args ...any) *tenon.Error {
	return &tenon.Error{Code: tenon.CodeValidation, Message: fmt.Sprintf(format, args...)}
}

func refused(format string, args ...any) *tenon.Error {
	return &tenon.Error{Code: tenon.CodeRequest, Message: fmt.Sprintf(format, args...)}
}

func tooLong(what string, limit int) *tenon.Error {
	return invalid("the arguments make %s longer than %d KiB", what, limit>>10)
}

// request makes the request of a call out of its arguments.
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
		return nil, invalid("the arguments are not JSON: %v", err)
	}
	root := argument{doc, doc.Root()}
	if root.kind() != rawjson.Object {
		return nil, invalid("the arguments are no object")
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

// setBody also lets the transport read the body again when a kept connection
// turns out closed.
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

// value returns the argument of q; given says whether there is something to
// send.
func (q *parameter) value(root argument) (v argument, given bool, err error) {
	v = argument{root.doc, root.doc.Get(root.node, q.arg)}
	switch {
	case q.hidden && q.fixed == nil:
		return v, false, nil // whatever was said
	case v.given():
		return v, true, nil
	case q.required:
		return v, false, invalid("argument %s is required", q.arg)
	}
	return v, false, nil
}

func (p *plan) url(root argument) (*url.URL, error) {
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
		return nil, refused("the path of the operation cannot be sent")
	}
	return &url.URL{Scheme: p.base.Scheme, User: p.base.User, Host: p.base.Host, Path: path, RawPath: raw, RawQuery: text[end:]}, nil
}

// appendPath fills the template in.
func (p *plan) appendPath(dst []byte, root argument) ([]byte, error) {
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
			if err = p.guarded.checkPath(q.arg, string(dst[from:])); err != nil {
				return nil, err
			}
		}
		if !holds(dst[start:]) {
			return nil, invalid("argument %s must not hold \".\" or \"..\" as a segment of the path", q.arg)
		}
	}
	return append(dst, p.route().tail...), nil
}

func (q *parameter) appendSegment(dst []byte, root argument) ([]byte, error) {
	v, _, err := q.value(root)
	if err != nil {
		return nil, err
	}
	start := len(dst)
	dst = q.append(dst, v)
	switch {
	case len(dst) == start:
		return nil, invalid("argument %s is empty; a path cannot hold that", q.arg)
	case len(dst) > maxLine:
		return nil, tooLong("the path", maxLine)
	}
	return dst, nil
}

// holds tells whether a filled segment stays one for every reader: also for an
// upstream that decodes %2F before it looks for "..".
func holds(segment []byte) bool {
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

// append writes the parameter's value as its place wants it.
func (q *parameter) append(dst []byte, v argument) []byte {
	if !q.json {
		return q.style.append(dst, q.wire, v)
	}
	if q.style.named {
		dst = append(append(dst, q.wire...), '=')
	}
	return q.style.escape.append(dst, v.doc.AppendCompact(nil, v.node))
}

func (p *plan) appendQuery(dst []byte, root argument) ([]byte, error) {
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
	if err := p.guarded.checkTemplate(string(dst[begin:])); err != nil {
		return nil, err
	}
	for i := range p.params {
		q := &p.params[i]
		if q.in != inQuery && q.in != inQueryString {
			continue
		}
		var err error
		if dst, err = p.appendParam(dst, begin, q, root); err != nil {
			return nil, err
		}
		if len(dst) > maxLine {
			return nil, tooLong("the query", maxLine)
		}
	}
	return dst, nil
}

// appendParam writes one parameter of the query that begins at begin, if it is
// given.
func (p *plan) appendParam(dst []byte, begin int, q *parameter, root argument) ([]byte, error) {
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
	return dst, p.guarded.checkPairs(q.arg, string(dst[mark:]))
}

// appendQuery also writes the parameter that is the whole query (3.2): the
// members of an object, or JSON text.
func (q *parameter) appendQuery(dst []byte, v argument) []byte {
	if q.in != inQueryString {
		return q.append(dst, v)
	}
	if q.json {
		return q.style.escape.append(dst, v.doc.AppendCompact(nil, v.node))
	}
	if v.kind() == rawjson.Object {
		return q.style.append(dst, "", v)
	}
	return escapeReserved.append(dst, v.scalar())
}

// content makes the body; given is false where none is sent. media is its
// Content-Type where that is not the declared one.
func (p *plan) content(root argument) (content []byte, media string, given bool, err error) {
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
	v := argument{root.doc, root.doc.Get(root.node, p.body.arg)}
	null := v.kind() == rawjson.Null && p.body.required && p.body.write == jsonBody
	if !v.given() && !null {
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

// missingBody names the better reason where the body could not be sent anyway.
func (p *plan) missingBody() error {
	if p.body.write == unsupportedBody {
		return p.body.unsupported()
	}
	return invalid("argument %s is required", p.body.arg)
}

// formFields writes the form parameters of 2.0.
func (p *plan) formFields(root argument) (content []byte, given bool, err error) {
	for i := range p.params {
		q := &p.params[i]
		if q.in != inForm {
			continue
		}
		v, ok, err := q.value(root)
		if err != nil {
			return nil, false, err
		}
		if ok {
			mark := len(content)
			content = appendField(content, q.style, q.wire, v, true)
			if err := p.guarded.checkPairs(q.arg, string(content[mark:])); err != nil && !q.hidden {
				return nil, false, err
			}
			given = true
		}
		if len(content) > maxText {
			return nil, false, tooLong("the form", maxText)
		}
	}
	return content, given, nil
}

// formParts writes the form parameters of 2.0 as parts, one of them a file.
func (p *plan) formParts(root argument) (content []byte, media string, given bool, err error) {
	w := newMultipart(p.body.media, p.body.files)
	for i := range p.params {
		q := &p.params[i]
		if q.in != inForm {
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
		if err := w.field(q.name, partRule{file: q.node.strAt("type") == "file"}, v); err != nil {
			return nil, "", false, err
		}
	}
	return w.end(), w.contentType(p.body.media), given, nil
}
