package flowmcp

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/charset"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

const (
	textMedia  = "text/plain"
	pngMedia   = "image/png"
	bytesMedia = "application/octet-stream"
	htmlMedia  = "text/html"
)

// declares reports whether the tool's output has a media type.
func (t tool) declares(media string) bool { return format.OutputMediaType(t.Output) == media }

// upstreamResponse converts an upstream response. JSON that a handler processes is not
// validated here.
func (t tool) upstreamResponse(res egress.Response, handled bool) tenon.Response {
	sent := strings.TrimSpace(res.Header.Get("Content-Type"))
	r := tenon.Response{Status: res.Status, Header: res.Header, Body: res.Body}
	if len(res.Body) == 0 {
		return r
	}
	r.Body = t.toUTF8(sent, res.Body)
	if !t.declares(textMedia) {
		r.Body = rawjson.WithoutMark(r.Body)
	}
	r.MediaType = sent
	good := res.Status >= 200 && res.Status <= 299
	if as := t.effectiveMediaType(sent, r.Body, good, handled && good); as != "" && as != essence(sent) {
		r.MediaType, r.UpstreamMediaType = as, sent
	}
	return r
}

// effectiveMediaType returns the effective media type of a body, or "" for the one it was
// sent with. JSON tools of the format parse JSON whatever its media type, which
// is often text/plain. Text tools accept any text.
func (t tool) effectiveMediaType(sent string, body []byte, good, handled bool) string {
	switch {
	case good && t.declares(textMedia):
		switch {
		case isPicture(sent):
			return ""
		case isText(body):
			return textMedia
		}
		return bytesMedia
	case good && t.declares(pngMedia) && isPNG(body):
		return pngMedia
	case good && !handled && rawjson.Check(body) == nil:
		return format.JSONMedia
	case sent == "" && !handled:
		return bytesMedia
	}
	return ""
}

// toUTF8 converts a textual body to UTF-8. JSON is UTF-8 whatever its charset
// parameter (RFC 8259 §8.1), so it is converted only where it is not valid
// otherwise.
func (t tool) toUTF8(sent string, body []byte) []byte {
	if !isTextual(essence(sent)) {
		return body
	}
	text := charset.UTF8(sent, body)
	if !t.declares(textMedia) && !bytes.Equal(text, body) && rawjson.Check(body) == nil {
		return body
	}
	return text
}

// isBinary reports whether a body cannot be passed to a handler as text.
func (t tool) isBinary(r tenon.Response) bool {
	kind := essence(r.MediaType)
	return isPicture(kind) || t.declares(pngMedia) && isPNG(r.Body) || !isTextual(kind) && !isText(r.Body)
}

// appendBody adds a body to the arguments of postRequest or returns it as a
// separate body: JSON unchanged, text and base64 as an argument.
func (t tool) appendBody(args []byte, r tenon.Response) (_, beside []byte) {
	switch {
	case t.isBinary(r):
		return append(append(args, `,"text":`...), inBase64(r.Body)...), nil
	case t.declares(textMedia) && essence(r.MediaType) != format.JSONMedia:
		return rawjson.AppendString(append(args, `,"text":`...), r.Body), nil
	case r.Body == nil:
		return args, []byte{}
	}
	return args, r.Body
}

// inBase64 returns bytes as a base64 JSON string.
func inBase64(b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, b), '"')
}

// essence returns a media type without its parameters.
func essence(media string) string {
	kind, _, _ := strings.Cut(media, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isTextual reports whether bodies of a media type are text.
func isTextual(kind string) bool {
	switch kind {
	case format.JSONMedia, "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/x-ndjson",
		"application/jsonl", "application/graphql", "application/x-www-form-urlencoded":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml")
}

// isPicture reports whether bodies of a media type are binary media.
func isPicture(media string) bool {
	kind := essence(media)
	if isTextual(kind) { // image/svg+xml
		return false
	}
	group, _, _ := strings.Cut(kind, "/")
	return group == "image" || group == "audio" || group == "video" || group == "font"
}

func isPNG(body []byte) bool { return bytes.HasPrefix(body, []byte("\x89PNG")) }

// isText reports whether bytes are UTF-8 without NUL.
func isText(body []byte) bool { return utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 }

// handlerResponse converts the data of a handler to a response. Where the tool declares
// text or PNG, a string is converted to it.
func (t tool) handlerResponse(data []byte, status int, h http.Header) tenon.Response {
	r := tenon.Response{Status: status, Header: h, MediaType: format.JSONMedia}
	r.Body, r.Repairs = schema.ReplaceSurrogates(data) // the handler ran in this process's sandbox
	text, is := jsonString(r.Body)
	switch {
	case !is:
	case t.declares(textMedia):
		r.Body, r.MediaType = []byte(text), textMedia
	case t.declares(pngMedia):
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && isPNG(b) {
			r.Body, r.MediaType = b, pngMedia
		}
	}
	return r
}
