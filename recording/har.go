package recording

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/): what the network panels
// of browsers export and import. Members of our own begin with an underscore, as the
// format wants.

type har struct {
	Log harLog `json:"log"`
}

type harLog struct {
	Version string     `json:"version"`
	Creator harCreator `json:"creator"`
	Entries []harEntry `json:"entries"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harEntry struct {
	Started  time.Time       `json:"startedDateTime"`
	Time     float64         `json:"time"` // milliseconds
	Request  harRequest      `json:"request"`
	Response harResponse     `json:"response"`
	Cache    struct{}        `json:"cache"`
	Timings  harTimings      `json:"timings"`
	Kind     string          `json:"_resourceType,omitempty"` // what browsers filter by
	Source   string          `json:"_source,omitempty"`
	Tool     string          `json:"_tool,omitempty"`
	Call     int             `json:"_call,omitempty"` // from 1: entries of one call have the same
	Args     json.RawMessage `json:"_arguments,omitempty"`
	Cut      bool            `json:"_truncated,omitempty"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harRequest struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []harPair `json:"cookies"`
	Headers     []harPair `json:"headers"`
	Query       []harPair `json:"queryString"`
	Post        *harPost  `json:"postData,omitempty"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
}

type harPost struct {
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []harPair  `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int        `json:"bodySize"`
}

type harContent struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
}

// AppendHAR appends calls as a HAR. version is that of the program.
func AppendHAR(dst []byte, calls []Call, version string) ([]byte, error) {
	out := har{Log: harLog{Version: "1.2", Creator: harCreator{"tenon", version}, Entries: []harEntry{}}}
	for i := range calls {
		c := &calls[i]
		for j := range c.Exchanges {
			e, err := c.Exchanges[j].harEntry()
			if err != nil {
				return nil, err
			}
			e.Source, e.Tool, e.Args, e.Call = c.Source, c.Tool, c.Arguments, i+1
			out.Log.Entries = append(out.Log.Entries, e)
		}
	}
	text, err := json.MarshalIndent(out, "", " ")
	return append(append(dst, text...), '\n'), err
}

func (e *Exchange) harEntry() (harEntry, error) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return harEntry{}, err
	}
	body, err := e.body()
	if err != nil {
		return harEntry{}, err
	}
	const unknown = -1
	out := harEntry{
		Started: e.Began, Time: e.Millis, Timings: harTimings{Wait: e.Millis}, Cut: e.Truncated, Kind: "fetch",
		Request: harRequest{
			Method: e.Method, URL: e.URL, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: []harPair{}, Query: []harPair{}, HeadersSize: unknown, BodySize: len(e.Sent),
		},
		Response: harResponse{
			Status: e.Status, StatusText: http.StatusText(e.Status), HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: harHeaders(e.Headers), RedirectURL: e.Headers["Location"],
			HeadersSize: unknown, BodySize: len(body), Content: harContent{Size: len(body), MimeType: e.Headers["Content-Type"], Text: e.Text},
		},
	}
	if e.Base64 != "" {
		out.Response.Content.Text, out.Response.Content.Encoding = e.Base64, "base64"
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			out.Request.Query = append(out.Request.Query, harPair{unescaped(name), unescaped(value)})
		}
	}
	if e.Sent != "" {
		out.Request.Post = &harPost{e.SentType, e.Sent}
		out.Request.Headers = append(out.Request.Headers, harPair{"Content-Type", e.SentType})
	}
	return out, nil
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

func harHeaders(h map[string]string) []harPair {
	all := []harPair{}
	for _, name := range sortedKeys(h) {
		all = append(all, harPair{name, h[name]})
	}
	return all
}

// ParseHAR reads a HAR. Credentials and cookies in it are left out, and what else is
// known as a secret by its name or form is replaced. Entries that are no HTTP
// exchange, such as those of an extension or a request that was cancelled, are left
// out.
func ParseHAR(text []byte) ([]Call, error) {
	var in har
	if err := json.Unmarshal(rawjson.WithoutMark(text), &in); err != nil {
		return nil, fmt.Errorf("it is not a HAR: %w", err)
	}
	if in.Log.Entries == nil {
		return nil, fmt.Errorf("it is not a HAR: it has no log with entries")
	}
	rec := &Recorder{}
	var calls []Call
	last := 0
	for i := range in.Log.Entries {
		h := &in.Log.Entries[i]
		one := Call{Version: formatVersion, Source: h.Source, Tool: h.Tool, Began: h.Started, Exchanges: []Exchange{h.exchange(rec)}}
		if len(h.Args) > 0 {
			one.Arguments = rec.clean(h.Args)
		}
		if one.check() != nil {
			continue
		}
		if h.Call > 0 && h.Call == last {
			of := &calls[len(calls)-1]
			of.Exchanges = append(of.Exchanges, one.Exchanges...)
			continue
		}
		last = h.Call
		calls = append(calls, one)
	}
	return calls, nil
}

func (h *harEntry) exchange(rec *Recorder) Exchange {
	e := Exchange{Method: h.Request.Method, Status: h.Response.Status, Began: h.Started, Millis: h.Time, Truncated: h.Cut, Headers: map[string]string{}}
	for _, p := range h.Response.Headers {
		if name := http.CanonicalHeaderKey(p.Name); isRecordedHeader(name) && len(e.Headers) < maxHeaders {
			e.Headers[name] = withoutForms(p.Value)
		}
	}
	if e.Headers["Content-Type"] == "" && h.Response.Content.MimeType != "" {
		e.Headers["Content-Type"] = h.Response.Content.MimeType
	}
	r := &http.Request{Method: h.Request.Method, Header: http.Header{}}
	var sent []byte
	if p := h.Request.Post; p != nil {
		sent = []byte(p.Text)
		r.Header.Set("Content-Type", p.MimeType)
	}
	var err error
	if r.URL, err = url.Parse(h.Request.URL); err != nil {
		return e // without a URL, which is refused
	}
	rec.describeRequest(&e, r, sent)
	body := []byte(h.Response.Content.Text)
	if h.Response.Content.Encoding == "base64" {
		if body, err = base64.StdEncoding.DecodeString(h.Response.Content.Text); err != nil {
			e.Status = 0 // which is refused
			return e
		}
	}
	if !utf8.Valid(body) && h.Response.Content.Encoding != "base64" {
		body = []byte(strings.ToValidUTF8(string(body), "\ufffd"))
	}
	e.setBody(rec.clean(body))
	return e
}
