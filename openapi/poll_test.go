package openapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi"
)

const emptyDocument = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`

// far is an upstream without a network, which a bubble of synctest cannot see.
type far struct {
	mu     sync.Mutex
	asked  int
	status int // 0: it cannot be reached
	body   string
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: f.status, Header: http.Header{}, ContentLength: int64(len(f.body)), Body: io.NopCloser(strings.NewReader(f.body)), Request: r}, nil
}

// answer is what f answers with from now on.
func (f *far) answer(status int, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.body = status, body
}

// polled loads a document from f and asks for it until the test ends.
func polled(t *testing.T, f *far, every time.Duration, log *slog.Logger, changed func()) {
	t.Helper()
	f.answer(http.StatusOK, emptyDocument)
	s := openapi.New("https://u:pa55@docs.test:444/k3y/api.json?token=s3cret", openapi.Options{Client: &http.Client{Transport: f}, PollInterval: every, Logger: log})
	if _, err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.asked = 0
	go func() {
		if err := openapi.Poll(t.Context(), s, changed); err != nil {
			t.Error(err)
		}
	}()
}

func TestAnUpstreamThatFallsSilentIsToldOnce(t *testing.T) {
	for _, log := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			if !log {
				logger = nil
			}
			up := &far{}
			changes := 0
			polled(t, up, time.Minute, logger, func() { changes++ })
			for _, status := range []int{200, 503, 0, 0, 404, 200, 200, 0} {
				up.answer(status, emptyDocument)
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			up.answer(http.StatusOK, emptyDocument+" ")
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if up.asked != 11 || changes != 1 {
				t.Errorf("asked %d times, %d changes; want 11 and 1", up.asked, changes)
			}
			want := ""
			if log {
				want = `level=WARN msg="cannot read a remote description; its tools are unchanged" host=docs.test:444 every=1m0s error="GET https://docs.test:444: the upstream responded 503 Service Unavailable"
level=WARN msg="a remote description is available again" host=docs.test:444
level=WARN msg="cannot read a remote description; its tools are unchanged" host=docs.test:444 every=1m0s error="GET https://docs.test:444: the request failed"
level=WARN msg="a remote description is available again" host=docs.test:444
`
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
		})
	}
}

// hanging answers the first request, and no other before its context ends.
type hanging struct{ far *far }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.far.asked == 0 {
		return h.far.RoundTrip(r)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A poll that is under way when the program ends did not fail.
func TestTheEndOfAPollIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := openapi.New("https://docs.test/api.json", openapi.Options{
			Client: &http.Client{Transport: hanging{&far{status: http.StatusOK, body: emptyDocument}}}, PollInterval: time.Minute, Logger: slog.New(slog.NewTextHandler(&out, nil)),
		})
		if _, err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = openapi.Poll(ctx, s, func() {}) }()
		time.Sleep(time.Minute + time.Second)
		cancel()
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("the log has %s", out.String())
		}
	})
}

func TestNoUpstreamIsAskedMoreOftenThanOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &far{}
		polled(t, up, time.Millisecond, nil, func() {})
		time.Sleep(10*time.Second + time.Second/2)
		synctest.Wait()
		if up.asked != 10 {
			t.Errorf("asked %d times in ten seconds", up.asked)
		}
	})
}
