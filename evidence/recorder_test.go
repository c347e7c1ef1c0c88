package evidence_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/schema"
)

var bookResponses = []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"$ref":"#/$defs/Book","$defs":{"Book":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}`)}}

func books() *schema.Schema {
	s, err := schema.Compile(bookResponses[0].Schema, schema.Options{})
	if err != nil {
		panic(err)
	}
	return s
}

func open(t *testing.T, path string) *evidence.Recorder {
	t.Helper()
	r, err := evidence.Open(evidence.Options{Path: path, Key: []byte("a key"), Interval: time.Hour, Describe: func(tool any) evidence.Operation {
		name, _ := tool.(string)
		return evidence.Operation{Name: name, Origin: "https://api.example.com", Responses: bookResponses}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// answer is a response of the operation getBook.
func answer(s *schema.Schema, body, args string) *evidence.Observation {
	o := &evidence.Observation{
		Tool: "getBook", Declared: true, Status: "200", MediaType: "application/json", SentStatus: 200, SentMediaType: "application/json",
		Verdict: tenon.Fits, Against: s, Violations: s.Validate([]byte(body)), Args: []byte(args), At: time.Unix(1e9, 0),
	}
	if len(o.Violations) > 0 {
		o.Verdict = tenon.Violated
	}
	return o
}

func read(t *testing.T, path string) *evidence.Ledger {
	t.Helper()
	l, err := evidence.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lines are the counts of a ledger as one reads them.
func lines(l *evidence.Ledger) string {
	var b strings.Builder
	all := l.Sum()
	for _, k := range evidence.Keys(all) {
		c := all[k]
		fmt.Fprintf(&b, "%s %s %s %s%s %s %s: %d calls, %d fit, %d violated, %d arguments\n",
			k.Origin, k.Operation, k.Status, k.MediaType, k.Pointer, k.Keyword, k.Kind, c.Calls, c.Fits, c.Violated, c.Arguments.Distinct())
	}
	return b.String()
}

func TestRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "ledger.ndjson")
	r := open(t, path)
	s := books()
	r.Observe(answer(s, `{"title":"Emma"}`, `{"id":1}`))
	r.Observe(answer(s, `{"title":"Emma"}`, ` { "id" : 1 } `))
	r.Observe(answer(s, `{"title":1}`, `{"id":2}`))
	r.Observe(answer(s, `{}`, ``))
	o := answer(s, `{}`, `{}`)
	o.Declared, o.Against, o.SentStatus, o.SentMediaType = false, nil, 418, "text/x-secret; charset=utf-8"
	o.Violations = []schema.Violation{{Keyword: "status", Expected: "200", Got: "418"}}
	r.Observe(o)
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	const of = "https://api.example.com getBook "
	want := of + "200 application/json  : 4 calls, 2 fit, 2 violated, 3 arguments\n" +
		of + "200 application/json/$defs/Book/properties/title required nothing: 1 calls, 0 fit, 0 violated, 0 arguments\n" +
		of + "200 application/json/$defs/Book/properties/title type integer: 1 calls, 0 fit, 0 violated, 0 arguments\n" +
		of + "418 other  : 1 calls, 0 fit, 1 violated, 1 arguments\n" +
		of + "418 other status : 1 calls, 0 fit, 0 violated, 0 arguments\n"
	if got := lines(read(t, path)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && filepath.Separator == '/' {
		t.Error(info.Mode(), err)
	}
}

// Several recorders count in one file, one after the other and at once: nothing is
// lost, and they are one writer.
func TestManyRecordersOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.ndjson")
	s := books()
	const recorders, rounds = 3, 6
	for range 2 {
		var wg sync.WaitGroup
		for range recorders {
			r := open(t, path)
			wg.Go(func() {
				for range rounds {
					r.Observe(answer(s, `{"title":1}`, `{}`))
					if err := r.Flush(); err != nil {
						t.Error(err)
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	l := read(t, path)
	for k, c := range l.Sum() {
		if c.Calls != 2*recorders*rounds {
			t.Errorf("%v: %d calls", k, c.Calls)
		}
	}
	if len(l.Writers) != 1 {
		t.Errorf("%d writers", len(l.Writers))
	}
}

// A copy counts under an id of its own, so that the merge of both is their sum.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	s := books()
	count := func(path string, n int) {
		r := open(t, path)
		for range n {
			r.Observe(answer(s, `{"title":"x"}`, `{}`))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count(a, 3)
	text, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, text, 0o600); err != nil {
		t.Fatal(err)
	}
	count(b, 4)
	count(a, 5)
	l := read(t, a)
	l.Merge(read(t, b))
	l.Merge(read(t, a))
	for _, c := range l.Sum() {
		if c.Calls != 12 {
			t.Errorf("%d calls", c.Calls)
		}
	}
}

// What was forgotten stays so where an older copy does not come back, and what is
// counted afterwards is added to what that copy has.
func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	s := books()
	r := open(t, path)
	count := func() {
		r.Observe(answer(s, `{"title":"x"}`, `{}`))
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	count()
	count()
	old := read(t, path)
	f, err := evidence.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	err = f.Change(func(l *evidence.Ledger) error {
		if n := l.Forget(func(k evidence.Key, _ *evidence.Counts) bool { return k.Operation == "getBook" }); n != 1 {
			t.Errorf("%d keys were forgotten", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count()
	now := read(t, path)
	for _, c := range now.Sum() {
		if c.Calls != 1 {
			t.Errorf("%d calls", c.Calls)
		}
	}
	now.Merge(old)
	for _, c := range now.Sum() {
		if c.Calls != 3 {
			t.Errorf("with the copy %d calls", c.Calls)
		}
	}
}

// Whatever a service sends, an operation has at most 256 keys, and all that came is
// counted.
func TestKeysOfAnOperation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	r := open(t, path)
	s := books()
	for status := range 900 {
		o := answer(s, `{}`, `{}`)
		o.Declared, o.Against, o.SentStatus = false, nil, status+100
		o.Violations = []schema.Violation{{Keyword: "status"}}
		r.Observe(o)
		if status%300 == 0 {
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	all := read(t, path).Sum()
	var calls, rest int64
	for k, c := range all {
		if k.Keyword == "" {
			calls += c.Calls
		}
		if k.Pointer == evidence.Rest {
			rest += c.Calls
		}
	}
	if len(all) > 256 || calls != 900 || rest == 0 {
		t.Errorf("%d keys, %d calls, %d in the rest", len(all), calls, rest)
	}
}

// What comes while the file cannot be written or read is written later, and said once.
func TestFileThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	path := filepath.Join(dir, "ledger")
	var log strings.Builder
	r, err := evidence.Open(evidence.Options{
		Path: path, Interval: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Describe: func(any) evidence.Operation { return evidence.Operation{Name: "getBook", Responses: bookResponses} },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := books()
	count := func() error {
		r.Observe(answer(s, `{"title":"x"}`, `{}`))
		return r.Flush()
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if first, second := count(), count(); first == nil || second == nil {
		t.Error("a folder that is not there was written to")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"tenon":"evidence","version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var bad *evidence.FormatError
	if err := count(); !errors.As(err, &bad) || !strings.Contains(err.Error(), path+": line 1: evidence of version 99") {
		t.Error(err)
	}
	if _, err := evidence.Open(evidence.Options{Path: path}); !errors.As(err, &bad) {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := count(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range read(t, path).Sum() {
		if c.Calls != 4 {
			t.Errorf("%d calls", c.Calls)
		}
	}
	if n := strings.Count(log.String(), "evidence cannot be written"); n != 1 || !strings.Contains(log.String(), "written again") {
		t.Error(log.String())
	}
}

// Clocks that jump make no ledger that cannot be written or read.
func TestClocksThatJump(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	r := open(t, path)
	s := books()
	for _, at := range []time.Time{{}, time.Unix(-1e12, 0), time.Unix(1<<60, 0), time.Unix(2e9, 0), time.Unix(1e9, 5), time.Unix(0, 0)} {
		o := answer(s, `{"title":"x"}`, `{}`)
		o.At = at
		r.Observe(o)
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range read(t, path).Sum() {
		if c.Calls != 6 || c.First.Unix() != 0 || c.Last.Unix() != 2e9 {
			t.Errorf("%+v", c)
		}
	}
}

// TestCountingThatBreaksOff ends a server as any other: it says so, and waits for nobody.
func TestCountingThatBreaksOff(t *testing.T) {
	r, err := evidence.Open(evidence.Options{Path: filepath.Join(t.TempDir(), "evidence.ndjson"), Key: []byte("a key"), Interval: time.Hour, Describe: func(any) evidence.Operation { panic("a defect") }})
	if err != nil {
		t.Fatal(err)
	}
	r.Observe(answer(books(), `{}`, `{}`))
	if err := r.Flush(); err == nil {
		t.Error("what is lost is not said")
	}
	if err := r.Close(); err == nil {
		t.Error("what is lost is not said at the end")
	}
}
