package flowmcp

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

const (
	textMedia  = "text/plain"
	pngMedia   = "image/png"
	jsonMedia  = "application/json"
	bytesMedia = "application/octet-stream"
	htmlMedia  = "text/html"
)

// declares reports whether the tool's output has a media type.
func (t *route) declares(media string) bool { return outputMime(t.output) == media }

// received makes a response of an upstream's answer. JSON that a handler takes is
// not looked at here.
func (t *route) received(res egress.Response, handled bool) tenon.Response {
	sent := strings.TrimSpace(res.Header.Get("Content-Type"))
	r := tenon.Response{Status: res.Status, Header: res.Header, Body: res.Body}
	if len(res.Body) == 0 {
		return r
	}
	r.Body = t.inUTF8(sent, res.Body)
	if !t.declares(textMedia) {
		r.Body = rawjson.WithoutMark(r.Body)
	}
	r.MediaType = sent
	good := res.Status >= 200 && res.Status <= 299
	if as := t.countsAs(sent, r.Body, good, handled && good); as != "" && as != essence(sent) {
		r.MediaType, r.UpstreamMediaType = as, sent
	}
	return r
}

// countsAs is the media type that a body is taken for; empty: the one that it
// was sent as. The format's JSON tools read JSON whatever the upstream calls it,
// and many call it text. Its text tools take every text and nothing else.
func (t *route) countsAs(sent string, body []byte, good, handled bool) string {
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
		return jsonMedia
	case sent == "" && !handled:
		return bytesMedia
	}
	return ""
}

// inUTF8 is a body whose text is UTF-8. JSON is that whatever its charset
// parameter says (RFC 8259 §8.1): only what cannot be read so is converted.
func (t *route) inUTF8(sent string, body []byte) []byte {
	if !isTextual(essence(sent)) {
		return body
	}
	text := egress.UTF8(sent, body)
	if !t.declares(textMedia) && !bytes.Equal(text, body) && rawjson.Check(body) == nil {
		return body
	}
	return text
}

// binary reports whether a response is no text for a handler.
func (t *route) binary(r tenon.Response) bool {
	kind := essence(r.MediaType)
	return isPicture(kind) || t.declares(pngMedia) && isPNG(r.Body) || !isTextual(kind) && !isText(r.Body)
}

// forHandler adds a response's body to the arguments of postRequest, and returns
// what goes beside them: JSON as it is, a text or a picture in base64 as one of
// the arguments.
func (t *route) forHandler(args []byte, r tenon.Response) (_, beside []byte) {
	switch {
	case t.binary(r):
		return append(append(args, `,"text":`...), inBase64(r.Body)...), nil
	case t.declares(textMedia) && essence(r.MediaType) != jsonMedia:
		return rawjson.AppendString(append(args, `,"text":`...), r.Body), nil
	case r.Body == nil:
		return args, []byte{}
	}
	return args, r.Body
}

// inBase64 is the JSON string of bytes.
func inBase64(b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, b), '"')
}

// kindOf is a media type without its parameters.
func essence(media string) string {
	kind, _, _ := strings.Cut(media, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isTextual tells the media types whose bodies are characters.
func isTextual(kind string) bool {
	switch kind {
	case jsonMedia, "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/x-ndjson",
		"application/jsonl", "application/graphql", "application/x-www-form-urlencoded":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml")
}

// isPicture tells the media types whose bodies are bytes by their very kind.
func isPicture(media string) bool {
	kind := essence(media)
	if isTextual(kind) { // image/svg+xml
		return false
	}
	group, _, _ := strings.Cut(kind, "/")
	return group == "image" || group == "audio" || group == "video" || group == "font"
}

func isPNG(body []byte) bool { return bytes.HasPrefix(body, []byte("\x89PNG")) }

// isText reports whether bytes are characters: UTF-8, and no NUL among them.
func isText(body []byte) bool { return utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 }

// made is the response of what a handler made. Where its tool declares a text or a
// picture a string is that.
func (t *route) made(data []byte, status int, h http.Header) tenon.Response {
	r := tenon.Response{Status: status, Header: h, MediaType: jsonMedia}
	r.Body, r.Repairs = schema.ReplaceSurrogates(data) // whose JavaScript runs here
	text, is := textOf(r.Body)
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
