package egress_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// way is a transport made of a function.
type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func whole(r *http.Request, status int, body io.Reader, header http.Header) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1, Header: header, Body: io.NopCloser(body)}
}

func newRequest(t *testing.T, method string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://api.test/thing", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An answer that was under way while the thing changed may be older than the
// change: it is not kept.
func TestAnswerFromBeforeAChangeIsNotKept(t *testing.T) {
	for _, validated := range []bool{false, true} {
		reading, release := make(chan bool), make(chan bool)
		version := "old"
		block := !validated
		u := egress.NewUpstreams(&http.Client{Transport: way(func(r *http.Request) (*http.Response, error) {
			seen := version
			if r.Method == http.MethodGet && block {
				reading <- true
				<-release
			}
			header := http.Header{"Cache-Control": {"max-age=60"}, "Etag": {`"x"`}}
			if validated && r.Header.Get("If-None-Match") != "" && seen == "old" {
				return whole(r, http.StatusNotModified, strings.NewReader(""), header), nil
			}
			if validated {
				header["Cache-Control"] = []string{"no-cache"}
			}
			return whole(r, http.StatusOK, strings.NewReader(seen), header), nil
		})}, egress.Policy{CacheBytes: 1 << 20})
		get := func() string {
			got, err := u.Do(newRequest(t, http.MethodGet), egress.RequestOptions{MaxBody: 1000, Safe: true})
			if err != nil {
				t.Error(err)
			}
			return string(got.Body)
		}
		if validated {
			get()
			block = true
		}
		first := make(chan string)
		go func() { first <- get() }()
		<-reading
		version, block = "new", false
		if _, err := u.Do(newRequest(t, http.MethodPut), egress.RequestOptions{MaxBody: 1000}); err != nil {
			t.Fatal(err)
		}
		release <- true
		if got := <-first; got != "old" {
			t.Errorf("the answer that was under way: %q", got)
		}
		if got := get(); got != "new" {
			t.Errorf("validated %v: after the change: %q", validated, got)
		}
	}
}

// A panic on the way gives the turn and the breaker's probe back.
func TestPanicGivesTheTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		does := "panics"
		u := egress.NewUpstreams(&http.Client{Transport: way(func(r *http.Request) (*http.Response, error) {
			switch does {
			case "panics":
				panic("on the way")
			case "fails":
				return nil, errors.New("broken")
			}
			return whole(r, http.StatusOK, strings.NewReader("ok"), http.Header{}), nil
		})}, egress.Policy{Concurrent: 1, Failures: 1, Pause: time.Second, MaxWait: time.Millisecond})
		send := func(open bool) (err error) {
			defer func() {
				if recover() != nil {
					err = errors.New("panicked")
				}
			}()
			if !open {
				_, err = u.Do(newRequest(t, http.MethodGet), egress.RequestOptions{MaxBody: 1000, Safe: true})
				return err
			}
			opened, _, err := u.Open(newRequest(t, http.MethodGet), egress.RequestOptions{MaxBody: 1000, Safe: true})
			if err == nil {
				_, err = opened.ReadAll()
			}
			return err
		}
		for _, open := range []bool{false, true} {
			does = "panics"
			for range 3 {
				if err := send(open); err == nil || err.Error() != "panicked" {
					t.Fatalf("open %v: %v", open, err)
				}
			}
			does = "fails"
			if err := send(open); err == nil {
				t.Fatal("it did not fail")
			}
			time.Sleep(2 * time.Second) // the breaker lets one probe pass
			does = "panics"
			if err := send(open); err == nil || err.Error() != "panicked" {
				t.Fatalf("open %v: the probe: %v", open, err)
			}
			does = "works"
			if err := send(open); err != nil {
				t.Fatalf("open %v: after a probe that panicked: %v", open, err)
			}
		}
	})
}

// A turn lasts until the body ends, not only its headers.
func TestTurnCoversTheBody(t *testing.T) {
	u := egress.NewUpstreams(&http.Client{Transport: way(func(r *http.Request) (*http.Response, error) {
		return whole(r, http.StatusOK, strings.NewReader("a stream"), http.Header{}), nil
	})}, egress.Policy{Concurrent: 1, Failures: 1, MaxWait: time.Millisecond})
	terms := egress.RequestOptions{MaxBody: 1000, Safe: true}
	for _, end := range []func(*egress.Stream) error{
		(*egress.Stream).Close,
		func(o *egress.Stream) error { _, err := o.ReadAll(); return err },
		func(o *egress.Stream) error { return errors.Join(o.Close(), o.Close()) },
	} {
		opened, _, err := u.Open(newRequest(t, http.MethodGet), terms)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = u.Open(newRequest(t, http.MethodGet), terms)
		if e, ok := errors.AsType[*egress.Error](err); !ok || e.Kind != egress.RateLimited {
			t.Fatalf("a second request while the body is read: %v", err)
		}
		if err := end(opened); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := u.Do(newRequest(t, http.MethodGet), terms); err != nil {
		t.Error(err)
	}
}
