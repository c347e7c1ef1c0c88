package tenon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxViolations bounds how many violations travel with a result.
const maxViolations = 20

// shapeSuccess gives a reply the shape that the tool published.
func shapeSuccess(e *Entry, r *Reply, j judgement) *Result {
	data := dataOf(r, j.form)
	res := &Result{Value: data}
	switch e.tool.Shape {
	case OpenAPIMCP:
		shapeOpenAPIMCP(res, r, j.form, data)
	case FlowMCP:
		shapeFlowMCP(res, r, j.form, data)
	default:
		shapeNative(res, e, j.form, data)
	}
	if j.form == formBinary {
		res.Content = append(res.Content, Block{Kind: blockKind(r.Media), Data: r.Body, Media: essence(r.Media), URI: "tenon:answer"})
	}
	res.Meta = appendMeta(&e.tool, about{verdict: j.verdict, violations: j.violations, sent: r.Sent, status: r.Status, media: r.Media, header: r.Header})
	return res
}

// shapeFailure gives a failure the error form of the tool's shape.
func shapeFailure(t *Tool, f failure) *Result {
	f.message = executedSentence(f.about.sent) + f.message
	res := &Result{IsError: true, Code: f.code, About: f.message}
	switch t.Shape {
	case OpenAPIMCP:
		res.Structured = appendErrorOpenAPIMCP(nil, f)
	case FlowMCP:
		res.Structured = appendErrorFlowMCP(nil, t, f)
	default:
		res.Content = []Block{{Text: appendErrorNative(nil, t, f)}}
	}
	if res.Structured != nil {
		res.Content = []Block{{Text: res.Structured}}
	}
	res.Meta = appendMeta(t, f.about)
	return res
}

// dataOf returns the JSON value that stands for the reply's body: one line,
// so that it can stand in a frame of stdio.
func dataOf(r *Reply, f form) []byte {
	switch f {
	case formEmpty:
		return []byte("null")
	case formText:
		return rawjson.AppendString(nil, r.Body)
	case formBinary:
		return appendBinary(nil, r)
	case formJSON:
	}
	return oneLine(bytes.TrimSpace(r.Body))
}

// oneLine returns JSON without line breaks. They can only be white space
// between tokens: inside a string JSON escapes them.
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

// appendBinary describes binary data; its block is the second of the result,
// after the text copy.
func appendBinary(dst []byte, r *Reply) []byte {
	sum := sha256.Sum256(r.Body)
	dst = append(dst, `{"mimeType":`...)
	dst = rawjson.AppendString(dst, essence(r.Media))
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, int64(len(r.Body)), 10)
	dst = append(dst, `,"sha256":"`...)
	dst = hex.AppendEncode(dst, sum[:])
	return append(dst, `","block":1}`...)
}

// about is what _meta says of a call beside its value.
type about struct {
	verdict    Verdict
	violations []schema.Violation
	sent       Sent
	status     int
	media      string
	header     http.Header
}

// executed says whether something may have changed at the far side: "no", as
// no byte of an unsafe request left; "yes", as one was answered; else
// "unknown".
func (s Sent) executed() string {
	switch s.Unsafe {
	case NotSent:
		return "no"
	case Answered:
		return "yes"
	case SentNoAnswer:
	}
	return "unknown"
}

// retry says whether the same call may be made again without doing its work
// twice.
func (s Sent) retry() string {
	if s.Unsafe == NotSent || s.Repeatable {
		return "safe"
	}
	return "unsafe"
}

// executedSentence stands first in the text of a failure that must not be
// repeated blindly: an agent that reads "failed" repeats a payment.
func executedSentence(s Sent) string {
	switch {
	case s.retry() == "safe":
		return ""
	case s.Unsafe == Answered:
		return "This call was executed and must not be repeated as it is. "
	}
	return "It is not known whether this call was executed: it must not be repeated before that is checked. "
}

// appendMeta writes the _meta object: the contract's verdict and, where the
// shape has no place for them, status and headers of the upstream.
func appendMeta(t *Tool, a about) []byte {
	upstream := t.Shape != OpenAPIMCP && a.status != 0
	if t.Policy == Off && !upstream {
		return nil
	}
	dst := append(make([]byte, 0, 192), '{') // most fit in that
	if t.Policy != Off {
		dst = append(dst, `"tenon/contract":`...)
		dst = appendContract(dst, a)
	}
	if upstream {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, `"tenon/upstream":`...)
		dst = appendUpstream(dst, a.status, a.header)
	}
	return append(dst, '}')
}

func appendContract(dst []byte, a about) []byte {
	dst = append(dst, `{"verdict":"`...)
	dst = append(dst, a.verdict...)
	dst = append(dst, `","executed":"`...)
	dst = append(dst, a.sent.executed()...)
	dst = append(dst, `","retry":"`...)
	dst = append(dst, a.sent.retry()...)
	dst = append(dst, '"')
	if a.status != 0 {
		dst = append(dst, `,"status":`...)
		dst = strconv.AppendInt(dst, int64(a.status), 10)
	}
	if a.media != "" {
		dst = append(dst, `,"mediaType":`...)
		dst = rawjson.AppendString(dst, essence(a.media))
	}
	if len(a.violations) > 0 {
		dst = append(dst, `,"violations":`...)
		dst = appendViolations(dst, a.violations)
	}
	if more := len(a.violations) - maxViolations; more > 0 {
		dst = append(dst, `,"moreViolations":`...)
		dst = strconv.AppendInt(dst, int64(more), 10)
	}
	return append(dst, '}')
}

func appendViolations(dst []byte, vs []schema.Violation) []byte {
	dst = append(dst, '[')
	for i, v := range vs[:min(len(vs), maxViolations)] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"path":`...)
		dst = rawjson.AppendString(dst, v.Path)
		dst = append(dst, `,"keyword":`...)
		dst = rawjson.AppendString(dst, v.Keyword)
		dst = append(dst, `,"expected":`...)
		dst = rawjson.AppendString(dst, v.Expected)
		dst = append(dst, `,"got":`...)
		dst = rawjson.AppendString(dst, v.Got)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendUpstream writes {"status_code":…,"headers":{…}}.
func appendUpstream(dst []byte, status int, header http.Header) []byte {
	dst = append(dst, `{"status_code":`...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, `,"headers":{`...)
	for i, name := range slices.DeleteFunc(slices.Sorted(maps.Keys(header)), hiddenHeader) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
		dst = append(dst, ':')
		dst = rawjson.AppendString(dst, strings.Join(header[name], ", "))
	}
	return append(dst, `}}`...)
}

// hiddenHeader tells the response headers that stay here: credentials, and
// those that concern only the connection.
func hiddenHeader(name string) bool {
	switch strings.ToLower(name) {
	case "set-cookie", "set-cookie2", "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate",
		"authentication-info", "proxy-authentication-info", "connection", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "proxy-connection":
		return true
	}
	return false
}

// excerpt cuts text at a rune so that it has at most limit bytes.
func excerpt(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.ToValidUTF8(string(text[:limit]), "\uFFFD") + "…"
}
