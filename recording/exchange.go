package recording

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Exchange is a recorded request and its response, without secrets.
type Exchange struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	SentType  string            `json:"sentType,omitempty"` // media type of the request body
	Sent      string            `json:"sent,omitempty"`     // request body
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers,omitempty"`   // response headers
	Text      string            `json:"text,omitempty"`      // response body
	Base64    string            `json:"base64,omitempty"`    // response body that is not valid UTF-8
	Truncated bool              `json:"truncated,omitempty"` // the response body was not read to its end
	Began     time.Time         `json:"began,omitzero"`
	Millis    float64           `json:"millis,omitempty"` // until the end of the response
}

// maxRecorded limits one recorded body, in bytes.
const maxRecorded = 32 << 20

// maxHeaders limits the headers of one recorded response.
const maxHeaders = 64

// isRecordedHeader reports whether a response header is recorded. Headers of the
// connection and headers with credentials are not.
func isRecordedHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Set-Cookie", "Set-Cookie2", "Authorization", "Proxy-Authenticate", "Authentication-Info", "Proxy-Authentication-Info",
		"Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Content-Encoding", "Trailer", "Upgrade", "Date", "Alt-Svc":
		return false
	}
	return !isCredentialHeader(name)
}

// isCredentialHeader reports whether headers of this name have sessions, tokens
// and keys.
func isCredentialHeader(name string) bool { return credentialHeader.MatchString(name) }

var credentialHeader = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|key|credential|session|signature`)

// setBody stores a response body that has no secrets any more.
func (e *Exchange) setBody(body []byte) {
	if utf8.Valid(body) {
		e.Text = string(body)
	} else {
		e.Base64 = base64.StdEncoding.EncodeToString(body)
	}
}

func (e *Exchange) body() ([]byte, error) {
	if e.Base64 == "" {
		return []byte(e.Text), nil
	}
	body, err := base64.StdEncoding.DecodeString(e.Base64)
	if err != nil {
		return nil, fmt.Errorf("the recording cannot be read: %w", err)
	}
	return body, nil
}

// response is the response as the upstream gave it.
func (e *Exchange) response(r *http.Request) (*http.Response, error) {
	body, err := e.body()
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for name, value := range e.Headers {
		if isRecordedHeader(name) { // a file can have been written by hand
			h.Set(name, value)
		}
	}
	var from io.Reader = bytes.NewReader(body)
	length := int64(len(body))
	if e.Truncated {
		from, length = io.MultiReader(from, brokenOff{}), -1
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)), StatusCode: e.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(from), ContentLength: length, Request: r,
	}, nil
}

// brokenOff is the end of a body that was not read to its end.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// place is what requests have in common that an exchange may answer.
type place struct{ method, host, path string }

func placeOf(method string, u *url.URL) place {
	return place{method, strings.ToLower(u.Host), u.EscapedPath()}
}

// canonicalBody makes equal bodies equal texts: JSON without spaces and with sorted
// members, forms sorted, the random boundary of a multipart body fixed.
func canonicalBody(mediaType, body string) string {
	if body == "" {
		return ""
	}
	kind, params, err := mime.ParseMediaType(mediaType)
	switch {
	case err != nil:
	case kind == "application/x-www-form-urlencoded":
		if form, err := url.ParseQuery(body); err == nil {
			return form.Encode()
		}
	case params["boundary"] != "":
		return strings.ReplaceAll(body, params["boundary"], "boundary")
	}
	if text, err := rawjson.AppendCanonical(nil, []byte(body)); err == nil {
		return string(text)
	}
	return body
}

// Call is a recorded call of a tool: a line of a recording.
type Call struct {
	Version   int             `json:"recording"` // of the format: 1
	Source    string          `json:"source,omitempty"`
	Tool      string          `json:"tool,omitempty"` // empty: exchanges that came from elsewhere
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Began     time.Time       `json:"began,omitzero"`
	Exchanges []Exchange      `json:"exchanges"`
}

// formatVersion is the only one so far.
const formatVersion = 1

func sortedKeys(h map[string]string) []string { return slices.Sorted(maps.Keys(h)) }
