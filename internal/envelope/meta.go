package envelope

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxListed bounds how many violations or changes a result lists.
const maxListed = 20

// Meta is the _meta object of a call's result.
type Meta struct {
	Verdict    string
	Executed   string // "no", "yes" or "unknown"
	Retry      string // "safe" or "unsafe"
	Code       string // of a failure; empty: none
	RetryAfter int64  // seconds until the call can succeed; 0: not known
	Violations []schema.Violation
	Unchecked  []schema.Violation // places that could not be validated
	Repairs    []schema.Fix       // changes of the body
	Media      string             // media type of the response

	Upstream bool // status and headers are included, since the envelope has no member for them
	Status   int  // 0: no HTTP was involved
	Header   http.Header
}

// JSON writes the _meta object.
func (m *Meta) JSON() []byte {
	upstream := m.Upstream && m.Status != 0
	size := 192 // enough for most
	if upstream {
		size = 384
	}
	dst := append(make([]byte, 0, size), `{"tenon/contract":`...)
	dst = m.appendContract(dst)
	if upstream {
		dst = append(dst, `,"tenon/upstream":`...)
		dst = appendUpstream(dst, m.Status, m.Header)
	}
	return append(dst, '}')
}

func (m *Meta) appendContract(dst []byte) []byte {
	dst = append(dst, `{"verdict":"`...)
	dst = append(dst, m.Verdict...)
	dst = append(dst, `","executed":"`...)
	dst = append(dst, m.Executed...)
	dst = append(dst, `","retry":"`...)
	dst = append(dst, m.Retry...)
	dst = append(dst, '"')
	if m.RetryAfter > 0 {
		dst = append(dst, `,"retry_after":`...)
		dst = strconv.AppendInt(dst, m.RetryAfter, 10)
	}
	if m.Code != "" {
		dst = append(dst, `,"code":`...)
		dst = rawjson.AppendString(dst, m.Code)
	}
	if m.Status != 0 {
		dst = append(dst, `,"status":`...)
		dst = strconv.AppendInt(dst, int64(m.Status), 10)
	}
	if m.Media != "" {
		dst = append(dst, `,"mediaType":`...)
		dst = rawjson.AppendString(dst, Essence(m.Media))
	}
	if len(m.Violations) > 0 {
		dst = append(dst, `,"violations":`...)
		dst = appendViolations(dst, m.Violations)
	}
	dst = appendMore(dst, "moreViolations", len(m.Violations))
	if len(m.Unchecked) > 0 {
		dst = append(dst, `,"unchecked":`...)
		dst = appendViolations(dst, m.Unchecked)
	}
	dst = appendMore(dst, "moreUnchecked", len(m.Unchecked))
	if len(m.Repairs) > 0 {
		dst = append(dst, `,"repairs":`...)
		dst = appendFixes(dst, m.Repairs)
	}
	dst = appendMore(dst, "moreRepairs", len(m.Repairs))
	return append(dst, '}')
}

// CoercionsMeta writes the _meta object that lists the coercions of arguments.
func CoercionsMeta(fixes []schema.Fix) []byte {
	dst := appendFixes([]byte(`{"tenon/arguments":{"coerced":`), fixes)
	return append(appendMore(dst, "moreCoerced", len(fixes)), `}}`...)
}

// appendMore adds how many entries of a list are not shown.
func appendMore(dst []byte, name string, all int) []byte {
	if all <= maxListed {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(all-maxListed), 10)
}

func appendFixes(dst []byte, fixes []schema.Fix) []byte {
	dst = append(dst, '[')
	for i, f := range fixes[:min(len(fixes), maxListed)] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"path":`...)
		dst = rawjson.AppendString(dst, f.Path)
		dst = append(dst, `,"kind":`...)
		dst = rawjson.AppendString(dst, string(f.Kind))
		dst = append(dst, `,"old":`...)
		dst = rawjson.AppendString(dst, f.Old)
		dst = append(dst, `,"new":`...)
		dst = rawjson.AppendString(dst, f.New)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendViolations(dst []byte, vs []schema.Violation) []byte {
	dst = append(dst, '[')
	for i, v := range vs[:min(len(vs), maxListed)] {
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
	for i, name := range visible(header) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
		dst = append(dst, ':')
		dst = rawjson.AppendString(dst, strings.Join(header[name], ", "))
	}
	return append(dst, `}}`...)
}

// Join returns the members of both objects as one; ours has precedence, because
// a worker built with this module sends the same members about its own call.
// Either may be nil.
func Join(theirs, ours []byte) []byte {
	doc, err := rawjson.Parse(theirs)
	if err != nil || doc.Len(doc.Root()) == 0 {
		return ours
	}
	our, err := rawjson.Parse(ours)
	if err != nil {
		return theirs
	}
	joined := []byte{'{'}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if our.Get(our.Root(), doc.Key(n)) == rawjson.None {
			joined = append(rawjson.AppendString(joined, doc.Key(n)), ':')
			joined = append(append(joined, doc.Raw(n)...), ',')
		}
	}
	if our.Len(our.Root()) == 0 {
		return append(joined[:len(joined)-1], '}')
	}
	return append(joined, bytes.TrimSpace(ours)[1:]...)
}
