package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Answer is a response of an upstream. Where Form is JSON, the Body is strict
// JSON.
type Answer struct {
	Form   Kind
	Status int         // 0: no HTTP was involved
	Media  string      // Content-Type as it was sent, with parameters
	Header http.Header // may be nil
	Body   []byte
}

// Data returns the JSON value that represents the body, on one line, so that it
// can be part of a stdio message.
func (a *Answer) Data() []byte {
	switch a.Form {
	case Empty:
		return []byte("null")
	case Text:
		return rawjson.AppendString(nil, a.Body)
	case Binary:
		return a.appendBinary(nil)
	case JSON:
	}
	return oneLine(bytes.TrimSpace(a.Body))
}

// Text returns the body as the model reads it: text unchanged, anything else as
// its data.
func (a *Answer) Text() []byte {
	if a.Form == Text {
		return bytes.ToValidUTF8(a.Body, []byte("\uFFFD"))
	}
	return a.Data()
}

// oneLine returns JSON without line breaks, which can only be white space
// between tokens: in strings they are escaped.
func oneLine(value []byte) []byte {
	if bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 {
		return value
	}
	compact, err := rawjson.AppendCompact(make([]byte, 0, len(value)), value)
	if err != nil {
		return rawjson.AppendString(nil, value)
	}
	return compact
}

// appendBinary describes binary data, whose content block is the second of the
// result, after the text copy.
func (a *Answer) appendBinary(dst []byte) []byte {
	sum := sha256.Sum256(a.Body)
	dst = append(dst, `{"mimeType":`...)
	dst = rawjson.AppendString(dst, Essence(a.Media))
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, int64(len(a.Body)), 10)
	dst = append(dst, `,"sha256":"`...)
	dst = hex.AppendEncode(dst, sum[:])
	return append(dst, `","block":1}`...)
}
