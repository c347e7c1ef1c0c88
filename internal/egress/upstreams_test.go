package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// script is a far side that answers one request after the other, the last
// answer again and again. It writes down when and with what it was asked.
type script struct {
	answers []string // status and headers as "503 Retry-After: 3"; "reset": no answer; "hang": none in time

	mu    sync.Mutex
	asked []string
	start time.Time
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if s.asked == nil {
		s.start = time.Now()
	}
	s.asked = append(s.asked, strings.TrimSpace(fmt.Sprintf("%.0fs %s", time.Since(s.start).Seconds(), body)))
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	s.mu.Unlock()
	switch answer {
	case "reset":
		return nil, io.ErrUnexpectedEOF
	case "hang":
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	var status int
	h := http.Header{}
	for i, part := range strings.Split(answer, "; ") {
		if i == 0 {
			_, _ = fmt.Sscan(part, &status)
			continue
		}
		name, value, _ := strings.Cut(part, ": ")
		h.Add(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)), Request: r}, nil
}

// told is what a script was asked.
func (s *script) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

var repeatable = egress.RequestOptions{MaxBody: 1000, Idempotent: true}

func TestRetries(t *testing.T) {
	policy := egress.Policy{Retries: 3, MaxWait: time.Minute, Attempt: 10 * time.Second}
	for _, c := range []struct {
		name    string
		answers []string
		terms   egress.RequestOptions
		asked   int
		want    string
	}{
		{"until one answers", []string{"503", "reset", "200"}, repeatable, 3, "200 responded"},
		{"no more than allowed", []string{"502"}, repeatable, 4, "502 responded"},
		{"too many requests", []string{"429", "200"}, repeatable, 2, "200 responded"},
		{"half a minute that is asked for", []string{"503; Retry-After: 30", "200"}, repeatable, 2, "200 responded"},
		{"an hour that is asked for", []string{"503; Retry-After: 3600", "200"}, repeatable, 1, "503 responded"},
		{"an hour that is asked for as a date (time begins with 2000 here)", []string{"503; Retry-After: Sat, 01 Jan 2000 01:00:00 GMT", "200"}, repeatable, 1, "503 responded"},
		{"a time that cannot be read", []string{"503; Retry-After: soon", "200"}, repeatable, 2, "200 responded"},
		{"an attempt that takes too long", []string{"hang", "200"}, repeatable, 2, "200 responded"},
		{"an error of its own", []string{"500", "200"}, repeatable, 1, "500 responded"},
		{"what must not be repeated", []string{"503", "200"}, egress.RequestOptions{MaxBody: 1000}, 1, "503 responded"},
		{"what must not be repeated and may have arrived", []string{"reset", "200"}, egress.RequestOptions{MaxBody: 1000}, 1, "0 sent, no response"},
		{"what got furthest counts", []string{"503", "reset"}, repeatable, 4, "0 responded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: c.answers}
				r := request(t, http.MethodPut, "http://api.test/", "body")
				got, err := egress.NewUpstreams(&http.Client{Transport: s}, policy).Do(r, c.terms)
				if have := fmt.Sprint(got.Status, " ", got.State); have != c.want {
					t.Errorf("got %s, %v, want %s", have, err, c.want)
				}
				if e, ok := errors.AsType[*egress.Error](err); ok && e.State != got.State {
					t.Errorf("the error says %v", e.State)
				}
				if len(s.told()) != c.asked {
					t.Errorf("asked %q, want %d times", s.told(), c.asked)
				}
				for _, asked := range s.told() {
					if !strings.HasSuffix(asked, " body") {
						t.Errorf("asked %q", asked)
					}
				}
			})
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for _, c := range []struct{ name, header string }{
		{"seconds", "7"}, {"a date", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.header == "" {
					c.header = time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat)
				}
				s := &script{answers: []string{"503; Retry-After: " + c.header, "200"}}
				u := egress.NewUpstreams(&http.Client{Transport: s}, egress.Policy{Retries: 1})
				if _, err := u.Do(request(t, http.MethodGet, "http://api.test/", ""), repeatable); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]string{"0s", "7s"}, s.told()); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

// What did not leave can be sent again, whatever it is.
func TestUnsentRequestsAreRepeated(t *testing.T) {
	far := listen(t, func(*upstream, *net.TCPConn, *bufio.Reader) {}) // hangs up before the handshake
	u := egress.NewUpstreams(local(t), egress.Policy{Retries: 1})
	got, err := u.Do(request(t, http.MethodPost, "https://"+far.address, "x"), egress.RequestOptions{MaxBody: 10})
	expect(t, outcome{egress.Network, egress.NotSent, 0, ""}, got, err)
	if n := far.conns.Load(); n != 2 {
		t.Errorf("%d attempts", n)
	}
	refused, err := u.Do(request(t, http.MethodPost, "http://10.0.0.1/", "x"), egress.RequestOptions{MaxBody: 10})
	expect(t, outcome{egress.Forbidden, egress.NotSent, 0, ""}, refused, err)
}

// A certificate that is not accepted will not be the next time.
func TestRefusedCertificatesAreNotAskedForAgain(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	u := egress.NewUpstreams(local(t), egress.Policy{Retries: 2})
	got, err := u.Do(request(t, http.MethodGet, s.URL, ""), repeatable)
	expect(t, outcome{egress.Network, egress.NotSent, 0, ""}, got, err)
	if n := connections.Load(); n != 1 || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%d attempts, %v", n, err)
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []string{"503", "500", "503", "503", "503", "200"}}
		u := egress.NewUpstreams(&http.Client{Transport: s}, egress.Policy{Failures: 2, Pause: time.Minute})
		ask := func(url string) (int, error) {
			got, err := u.Do(request(t, http.MethodGet, url, ""), egress.RequestOptions{MaxBody: 1000})
			return got.Status, err
		}
		const url = "http://api.test/x"
		for _, want := range []int{503, 500, 503, 503} { // a 500 is an answer
			if status, err := ask(url); status != want || err != nil {
				t.Fatal(status, err)
			}
		}
		_, err := ask(url)
		expect(t, outcome{egress.CircuitOpen, egress.NotSent, 0, ""}, egress.Response{}, err)
		if !strings.Contains(err.Error(), "not sent: the upstream failed 2 times in a row; the circuit breaker is open for 1m0s") {
			t.Error(err)
		}
		if status, err := ask("http://other.test/"); status != 503 || err != nil { // another upstream
			t.Error(status, err)
		}
		time.Sleep(61 * time.Second)
		for range 2 { // one tries, then all are let through
			if status, err := ask(url); status != 200 || err != nil {
				t.Error(status, err)
			}
		}
	})
}

// A caller who gives up says nothing of the upstream.
func TestBreakerIgnoresCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []string{"hang"}}
		u := egress.NewUpstreams(&http.Client{Transport: s}, egress.Policy{Failures: 1})
		for range 2 {
			r, leave := cancelable(t)
			go func() {
				time.Sleep(time.Second)
				leave()
			}()
			_, err := u.Do(r, repeatable)
			expect(t, outcome{egress.Canceled, egress.SentNoResponse, 0, ""}, egress.Response{State: egress.SentNoResponse}, err)
		}
		if n := len(s.told()); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Run("at a time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int32
			far := tripper(func(r *http.Request) (*http.Response, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
			})
			u := egress.NewUpstreams(&http.Client{Transport: far}, egress.Policy{Concurrent: 3, MaxWait: 2500 * time.Millisecond})
			var busy atomic.Int32
			var all sync.WaitGroup
			for range 12 {
				all.Go(func() {
					_, err := u.Do(request(t, http.MethodGet, "http://api.test/", ""), repeatable)
					if e, ok := errors.AsType[*egress.Error](err); ok && e.Kind == egress.RateLimited && e.State == egress.NotSent {
						busy.Add(1)
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if most.Load() != 3 || busy.Load() != 3 { // three seconds would be needed for the last three
				t.Errorf("%d at a time, %d refused", most.Load(), busy.Load())
			}
		})
	})
	t.Run("a second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []string{"200"}}
			u := egress.NewUpstreams(&http.Client{Transport: s}, egress.Policy{Rate: 0.5, MaxWait: 3 * time.Second})
			for range 3 {
				if _, err := u.Do(request(t, http.MethodGet, "http://api.test/", ""), repeatable); err != nil {
					t.Error(err)
				}
			}
			if d := cmp.Diff([]string{"0s", "2s", "4s"}, s.told()); d != "" {
				t.Error(d)
			}
		})
	})
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func cancelable(t *testing.T) (*http.Request, func()) {
	t.Helper()
	r := request(t, http.MethodGet, "http://api.test/", "")
	ctx, cancel := context.WithCancel(t.Context())
	return r.WithContext(ctx), cancel
}
