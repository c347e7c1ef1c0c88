package telemetry_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/telemetry"
)

// FuzzContext: whatever a client says of its trace, its call is answered, the
// upstream is told of one trace by the rules of W3C, and of no baggage.
func FuzzContext(f *testing.F) {
	f.Add(sampled, "rojo=00f067aa0ba902b7", "user=alice")
	f.Add("00-00000000000000000000000000000000-0000000000000000-00", "a=1,a=2", "=;")
	f.Add("01-"+traceID+"-00f067aa0ba902b7-09-x\r\n", ",,", "\x00")
	valid := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)
	f.Fuzz(func(t *testing.T, parent, state, baggage string) {
		w := newWorld(t, telemetry.Options{Endpoint: "http://127.0.0.1:1", Client: &http.Client{Transport: nobody{}}, FlushTimeout: 1})
		meta, err := json.Marshal(map[string]string{"traceparent": parent, "tracestate": state, "baggage": baggage})
		if err != nil {
			t.Skip()
		}
		if res := w.post("tools/call", "buy", `"name":"buy"`, string(meta[1:len(meta)-1])); res.Code != http.StatusOK {
			t.Error(res.Code, res.Body)
		}
		got := w.sent["Traceparent"]
		if len(got) != 1 || !valid.MatchString(got[0]) || w.sent["Baggage"] != nil {
			t.Error(w.sent)
		}
		_ = w.telemetry.Close() // nobody is there
	})
}

// FuzzAnswer: whatever a receiver answers, the end waits for it no longer than it may.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/x-protobuf", "", []byte("\x0a\x05\x08\x02\x12\x01x"))
	f.Add(503, "text/html", "-1", []byte("<html>"))
	f.Add(429, "", "99999999999999999999", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, status int, kind, after string, body []byte) {
		if status < 100 || status > 999 {
			t.Skip()
		}
		to := &answers{all: []answer{{status: status, header: http.Header{"Content-Type": {kind}, "Retry-After": {after}}, body: body}}}
		w := newWorld(t, telemetry.Options{
			Endpoint: "http://receiver.test", Client: &http.Client{Transport: to}, Without: []telemetry.Signal{telemetry.Measurements, telemetry.Logs}, FlushTimeout: time.Millisecond,
		})
		w.post("tools/list", "", "", "")
		_ = w.telemetry.Close()
		if len(to.at) != 1 {
			t.Error("requests at", to.at)
		}
	})
}

// FuzzPairs: a list of pairs has no name or value that a header could not carry in one
// line, and an error does not repeat it.
func FuzzPairs(f *testing.F) {
	f.Add("authorization=Bearer%20x,a=b")
	f.Add("a=%0d%0ab\n=c")
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := telemetry.ParsePairs(text)
		if err != nil && err.Error() != "not NAME=VALUE,NAME=VALUE with percent-encoded values" {
			t.Error(err)
		}
		for name, value := range pairs {
			if name == "" || regexp.MustCompile("[\r\n\x00]").MatchString(name+value) {
				t.Errorf("%q: %q", name, value)
			}
		}
	})
}
