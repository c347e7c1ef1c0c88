package audit_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/audit"
)

func TestRefusedRequestsHaveLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l, err := audit.Open(audit.Options{Writer: &out})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []audit.Refusal{
			{Status: 401, Reason: "the access token has expired", Peer: "192.0.2.1"},
			{Status: 403, Reason: "the host \"e\nvil\" " + strings.Repeat("x", 5000) + " is not served here"},
			{Status: 404, Reason: "there is no such session", Peer: "192.0.2.1", Subject: "caller alice@example.com"},
			{Status: 503, Reason: "too many calls at once", Tool: "buy"},
			{Status: 400, Reason: "what has no form quotes what was sent"},
		} {
			l.Refused(r)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got := lines(t, out.Bytes())
		if len(got) != 4 {
			t.Fatalf("got %v", got)
		}
		if reason, _ := got[1]["refused"].(string); len(reason) > 600 || !strings.Contains(reason, "e\nvil") {
			t.Errorf("a reason of %d bytes", len(reason))
		}
		delete(got[1], "refused")
		want := []map[string]any{
			{"status": 401.0, "refused": "the access token has expired", "peer": "192.0.2.1"},
			{"status": 403.0},
			{"status": 404.0, "refused": "there is no such session", "peer": "192.0.2.1", "subject": "caller alice@example.com"},
			{"status": 503.0, "refused": "too many calls at once", "called_as": "buy"},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// A flood writes no more than its share, says how much it was, and hides no refusal
// of another kind and no call.
func TestFloodOfRefusedRequestsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l, err := audit.Open(audit.Options{Writer: &out})
		if err != nil {
			t.Fatal(err)
		}
		flood := func() {
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					for range 1000 {
						l.Refused(audit.Refusal{Status: 401, Reason: "wrong"})
					}
				})
			}
			all.Wait()
		}
		flood()
		l.Refused(audit.Refusal{Status: 413, Reason: "large"})
		_, _ = call(shop(l, new(int)), "buy", `{}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		flood()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l.Refused(audit.Refusal{Status: 401, Reason: "after the end"})
		written, left, others := 0, 0.0, 0
		for _, m := range lines(t, out.Bytes()) {
			n, counts := m["not_written"].(float64)
			switch {
			case counts && m["status"] == 401.0:
				left += n
			case m["status"] == 401.0:
				written++
			default:
				others++
			}
		}
		if written != 120 || left != 20000-120 || others != 2 {
			t.Errorf("%d lines, %v not written, %d others", written, left, others)
		}
	})
}
