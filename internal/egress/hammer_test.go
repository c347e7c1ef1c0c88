package egress_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// Clients with tokens of their own share one client, and now and then they are
// sent to another origin. Each gets the answer to its own token, and the other
// origin sees none.
func TestManyTokensHammer(t *testing.T) {
	before := runtime.NumGoroutine()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "User-Agent" && name != "Accept-Encoding" {
				t.Errorf("the other origin sees %s", name)
			}
		}
	}))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL+"/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.Header.Get("X-Key"))
	}))
	defer home.Close()
	client := local(t)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for j := range 40 {
				path := "/"
				want := fmt.Sprintf("Bearer %d-%d key-%d", i, j, i)
				if j%8 == 7 {
					path, want = "/away", ""
				}
				r := request(t, http.MethodGet, home.URL+path, "")
				r.Header.Set("Authorization", fmt.Sprintf("Bearer %d-%d", i, j))
				r.Header.Set("X-Key", fmt.Sprintf("key-%d", i))
				got, err := egress.Do(client, r, 1000)
				if err != nil || string(got.Body) != want {
					t.Errorf("got %q, %v, want %q", got.Body, err, want)
				}
			}
		})
	}
	all.Wait()
	client.CloseIdleConnections()
	home.Close()
	other.Close()
	settle(t, before)
}

// An upstream that answers, hangs up in silence, hangs up after the answer and
// cuts answers, in turns. What the client believes must agree with what the
// upstream saw.
func TestProgressHammer(t *testing.T) {
	var mu sync.Mutex
	saw := map[string]bool{}
	u := listen(t, func(_ *upstream, c *net.TCPConn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			id := req.Header.Get("Id")
			mu.Lock()
			saw[id] = true
			n := len(saw)
			mu.Unlock()
			switch n % 7 {
			case 0:
				return
			case 1:
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
				return
			case 2:
				_ = c.SetLinger(0)
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")
			if n%7 == 3 {
				return
			}
		}
	})
	before := runtime.NumGoroutine()
	client := local(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 50 {
				id := fmt.Sprintf("%d-%d", i, j)
				r := request(t, http.MethodPost, "http://"+u.address+"/", "x")
				r.Header.Set("Id", id)
				got, err := egress.Do(client, r, 100)
				mu.Lock()
				seen := saw[id]
				mu.Unlock()
				if seen && got.State == egress.NotSent || !seen && got.State == egress.Responded {
					t.Errorf("%s: %v, but the upstream saw it: %v (%v)", id, got.State, seen, err)
				}
				if (err == nil) != (got.State == egress.Responded) || err == nil && string(got.Body) != "whole" {
					t.Errorf("%s: %v, %q, %v", id, got.State, got.Body, err)
				}
			}
		})
	}
	all.Wait()
	client.CloseIdleConnections()
	settle(t, before)
}

func TestFetch(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/v2/api.yaml", http.StatusMovedPermanently)
		case "/v2/api.yaml":
			w.Header().Set("Content-Type", "Application/YAML; charset=utf-8")
			_, _ = io.WriteString(w, "openapi: 3.1.0")
		case "/odd":
			w.Header().Set("Content-Type", "; no")
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, secret)
		}
	}))
	defer s.Close()
	client := local(t)
	body, from, media, err := egress.Fetch(t.Context(), client, strings.Replace(s.URL, "://", "://me:pw@", 1)+"/moved", 100)
	if err != nil || string(body) != "openapi: 3.1.0" || from.String() != s.URL+"/v2/api.yaml" || media != "application/yaml" {
		t.Errorf("got %q from %v as %q, %v", body, from, media, err)
	}
	if _, _, media, err := egress.Fetch(t.Context(), client, s.URL+"/odd", 100); err != nil || media != "" {
		t.Errorf("got %q, %v", media, err)
	}
	for name, c := range map[string]struct{ url, why string }{
		"an error":                  {s.URL + "/secret?key=" + secret, "the upstream responded 403 Forbidden"},
		"a file":                    {"file:///etc/" + secret, "has no host"},
		"no URL":                    {"http://[" + secret, "is not a URL"},
		"plain http to the world":   {"http://x.example/?key=" + secret, "use https or --allow-private-host x.example"},
		"plain http to an inside":   {"http://10.0.0.1:81/?key=" + secret, "address 10.0.0.1:81 is private; allow it with --allow-private-host 10.0.0.1:81"},
		"plain http to an odd port": {"http://x.example:99999/", "port"},
	} {
		t.Run(name, func(t *testing.T) {
			body, _, _, err := egress.Fetch(t.Context(), client, c.url, 100)
			if err == nil || body != nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %q, %v, want %q", body, err, c.why)
			}
		})
	}
	var e *egress.Error
	if _, _, _, err := egress.Fetch(t.Context(), client, s.URL+"/v2/api.yaml", 5); !errors.As(err, &e) || e.Kind != egress.TooLarge {
		t.Errorf("got %v, want too large", err)
	}
}

func TestGoodAnswers(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.URL.Query().Get("body")
		if body == "long" {
			body = long
		}
		switch r.URL.Path {
		case "/length":
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		case "/chunks":
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			body = zipped(body)
		case "/status":
			w.WriteHeader(http.StatusTeapot)
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	client := local(t)
	for name, c := range map[string]struct {
		method, target string
		limit          int64
		status         int
		want           string
	}{
		"with a length":               {"GET", "/length?body=abc", 3, 200, "abc"},
		"in chunks":                   {"GET", "/chunks?body=abc", 3, 200, "abc"},
		"in gzip":                     {"GET", "/gzip?body=abc", 3, 200, "abc"},
		"a long one with a length":    {"GET", "/length?body=long", int64(len(long)), 200, long},
		"a long one in chunks":        {"GET", "/chunks?body=long", int64(len(long)), 200, long},
		"a long one in gzip":          {"GET", "/gzip?body=long", 1<<63 - 1, 200, long},
		"empty":                       {"GET", "/empty", 0, 204, ""},
		"empty in chunks":             {"GET", "/chunks", 0, 200, ""},
		"of HEAD":                     {"HEAD", "/length?body=long", 3, 200, ""},
		"of a status that is no good": {"POST", "/status?body=tea", 3, 418, "tea"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // the buffer of the answer before must not show
				got, err := egress.Do(client, request(t, c.method, s.URL+c.target, ""), c.limit)
				if err != nil || got.Status != c.status || string(got.Body) != c.want || got.State != egress.Responded {
					t.Fatalf("got %d %v %.40q of %d, %v", got.Status, got.State, got.Body, len(got.Body), err)
				}
			}
		})
	}
}

func TestUserAgent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%q", r.Header["User-Agent"])
	}))
	defer s.Close()
	for name, c := range map[string]struct {
		option string
		header []string
		want   string
	}{
		"ours":              {"", nil, `["tenon"]`},
		"the operator's":    {"shop/1", nil, `["shop/1"]`},
		"the request's own": {"shop/1", []string{"mine"}, `["mine"]`},
		"none, if it is so": {"shop/1", []string{""}, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t, http.MethodGet, s.URL, "")
			if c.header != nil {
				r.Header["User-Agent"] = c.header
			}
			got, err := egress.Do(client(t, egress.Options{AllowHosts: []string{"127.0.0.1"}, UserAgent: c.option}), r, 100)
			if err != nil || string(got.Body) != c.want {
				t.Errorf("got %s, %v, want %s", got.Body, err, c.want)
			}
		})
	}
}

// With a client that was not made here the answer is the same, and a failure
// is never called unsent unless it surely was.
func TestForeignClient(t *testing.T) {
	u := listen(t, func(u *upstream, _ *net.TCPConn, r *bufio.Reader) { u.read(r) })
	for name, c := range map[string]struct {
		client *http.Client
		url    string
		want   outcome
	}{
		"the request arrived":      {&http.Client{Transport: &http.Transport{}}, "http://" + u.address, outcome{egress.Network, egress.SentNoResponse, 0, ""}},
		"nobody listens":           {&http.Client{Transport: &http.Transport{}}, "http://" + closedPort(t), outcome{egress.Network, egress.NotSent, 0, ""}},
		"a transport of one's own": {&http.Client{Transport: failing{}}, "http://" + u.address, outcome{egress.Network, egress.SentNoResponse, 0, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := egress.Do(c.client, request(t, http.MethodPost, c.url, "x"), 100)
			expect(t, c.want, got, err)
		})
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
