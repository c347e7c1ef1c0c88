package audit

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Schema is the JSON Schema of a line.
//
//go:embed line.schema.json
var Schema []byte

// Bounds of what callers can make long, in bytes.
const (
	maxName  = 256  // of a tool that does not exist, a client, a subject
	maxClear = 1024 // of an argument in clear; a longer one is its size and digest
)

// appendLine writes the line of a call, with the newline.
func (l *Log) appendLine(b []byte, r *gateway.CallRecord, traceID, spanID string) []byte {
	b = appendTime(b, r.Began)
	if traceID != "" {
		b = appendText(b, "trace_id", traceID)
		b = appendText(b, "span_id", spanID)
	}
	if r.Call.Subject != "" {
		b = appendText(b, "subject", string(r.Call.Subject))
	}
	b = appendClient(b, r.Call.Client)
	called := r.Call.Tool
	if r.Tool != nil {
		b = appendText(b, "tool", r.Tool.Name())
		b = appendText(b, "source", r.Tool.Source())
		if called != r.Tool.Name() {
			b = appendText(b, "called_as", called)
		}
	} else {
		b = appendText(b, "tool", called)
	}
	b = l.appendArguments(b, r)
	if r.Consent != "" {
		b = appendText(b, "consent", string(r.Consent))
	}
	if code := r.Code(); code != "" {
		b = appendText(b, "error", string(code))
	}
	if r.Result != nil {
		b = appendOutcome(b, r)
	}
	b = append(b, `,"duration_ms":`...)
	b = strconv.AppendFloat(b, float64(r.Duration)/float64(time.Millisecond), 'f', 3, 64)
	return append(b, "}\n"...)
}

func appendOutcome(b []byte, r *gateway.CallRecord) []byte {
	o := &r.Result.Outcome
	b = appendText(b, "executed", o.Executed)
	b = appendText(b, "retry", o.Retry)
	b = appendText(b, "verdict", string(o.Verdict))
	if r.Tool != nil {
		b = appendText(b, "policy", string(cmp.Or(r.Tool.Tool().Policy, tenon.Enforce)))
	}
	if o.Status != 0 {
		b = append(b, `,"upstream_status":`...)
		b = strconv.AppendInt(b, int64(o.Status), 10)
	}
	size := 0
	for i := range r.Result.Content {
		size += len(r.Result.Content[i].Text) + len(r.Result.Content[i].Data)
	}
	b = append(b, `,"bytes":`...)
	return strconv.AppendInt(b, int64(size), 10)
}

// appendClient writes how the calling program names itself.
func appendClient(b, client []byte) []byte {
	doc, err := rawjson.Parse(client)
	if err != nil {
		return b // it does not
	}
	for _, m := range [...]struct{ name, pointer string }{{"client", "/name"}, {"client_version", "/version"}} {
		if at := doc.Pointer(m.pointer); at != rawjson.None && doc.Kind(at) == rawjson.String {
			b = appendText(b, m.name, doc.Str(at))
		}
	}
	return b
}

// appendArguments writes the digest of the arguments, and those in clear.
func (l *Log) appendArguments(b []byte, r *gateway.CallRecord) []byte {
	args := r.Args
	if len(args) == 0 {
		args = []byte(`{}`)
	}
	b = append(b, `,"arguments_digest":"`...)
	b = append(l.appendDigest(b, args), '"')
	if len(l.clear) == 0 || r.Tool == nil {
		return b
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return b
	}
	begun := false
	for _, pointers := range [...][]string{l.clear[""], l.clear[r.Tool.Name()]} {
		for _, p := range pointers {
			at := doc.Pointer(p)
			if at == rawjson.None {
				continue
			}
			b = append(b, map[bool]string{false: `,"arguments":{`, true: `,`}[begun]...)
			begun = true
			b = append(rawjson.AppendString(b, p), ':')
			if raw := doc.Raw(at); len(raw) <= maxClear {
				b = doc.AppendCompact(b, at)
			} else {
				b = append(b, `{"bytes":`...)
				b = strconv.AppendInt(b, int64(len(raw)), 10)
				b = append(b, `,"digest":"`...)
				b = append(l.appendDigest(b, raw), `"}`...)
			}
		}
	}
	if begun {
		b = append(b, '}')
	}
	return b
}

// appendDigest writes a digest of a JSON value. Whoever does not have the key
// can neither compute it nor try values until one fits.
func (l *Log) appendDigest(b, value []byte) []byte {
	canonical, err := rawjson.AppendCanonical(nil, value)
	if err != nil {
		canonical = value
	}
	mac := hmac.New(sha256.New, l.key)
	_, _ = mac.Write(canonical) // never fails
	return hex.AppendEncode(append(b, "hmac-sha256:"...), mac.Sum(nil)[:16])
}

// appendTime begins a line.
func appendTime(b []byte, at time.Time) []byte {
	b = append(b, `{"time":"`...)
	return append(at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00"), '"')
}

func appendText(b []byte, name, text string) []byte { return appendLimited(b, name, text, maxName) }

func appendLimited(b []byte, name, text string, most int) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return rawjson.AppendString(b, rawjson.Truncate(text, most))
}
