package egress_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/tenon-mcp/tenon/internal/egress"
)

const secret = "s3cr3t"

// outcome is what a request came to.
type outcome struct {
	kind     egress.Kind
	progress egress.RequestState
	status   int
	body     string
}

// expect compares and looks for secrets in the error's text.
func expect(t *testing.T, want outcome, got egress.Response, err error) {
	t.Helper()
	var e *egress.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v and the error %v, want an *egress.Error of kind %v", got, err, want.kind)
	}
	if e.State != got.State {
		t.Errorf("the error says %v, the response %v", e.State, got.State)
	}
	if have := (outcome{e.Kind, got.State, got.Status, string(got.Body)}); have != want {
		t.Errorf("got  %+v\nwant %+v\n%v", have, want, err)
	}
	if text := err.Error(); strings.Contains(text, secret) || len(text) > 300 {
		t.Errorf("the text is not for the caller: %s", text)
	}
	if cause := fmt.Sprint(errors.Unwrap(err)); strings.Contains(cause, secret) {
		t.Errorf("the cause is not for the log: %s", cause)
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func brotlied(text string) string {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func deflated(text string, header bool) string {
	var b bytes.Buffer
	var w io.WriteCloser = zlib.NewWriter(&b)
	if !header {
		w, _ = flate.NewWriter(&b, 9)
	}
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func zstded(text string) string {
	var b bytes.Buffer
	w, _ := zstd.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func encoded(encoding, body string, length int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", encoding, length, body)
}

func packed(body string) string { return encoded("gzip", body, len(body)) }
func shrunk(body string) string { return encoded("br", body, len(body)) }

// The upstream reads the request, says what the case says, and ends the
// connection. One request must have arrived.
func TestBadAnswers(t *testing.T) {
	const (
		limit   = 100
		ok      = "HTTP/1.1 200 OK\r\n"
		chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	)
	long := strings.Repeat("x", limit+1)
	type failed = outcome
	cases := []struct {
		name string
		says string
		then ending
		want outcome
	}{
		{"closed without a word", "", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"reset without a word", "", resets, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"silence", "", hangs, failed{egress.Timeout, egress.SentNoResponse, 0, ""}},
		{"closed inside the status", "HTTP/1.1 20", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"closed inside the headers", ok + "X-Y: z\r\n", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"silence inside the headers", ok + "X-Y: z\r\n", hangs, failed{egress.Timeout, egress.SentNoResponse, 0, ""}},
		{"only an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\n", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"another protocol", "SSH-2.0-" + secret + "\r\n", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", hangs, failed{egress.Network, egress.SentNoResponse, 101, ""}},
		{"headers without end", ok + strings.Repeat("X-Y: "+strings.Repeat("z", 1000)+"\r\n", 600), hangs, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"a length that is a word", ok + "Content-Length: " + secret + "\r\n\r\n", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
		{"a body shorter than its length", ok + "Content-Length: 90\r\n\r\n{\"half\":", closes, failed{egress.Truncated, egress.SentNoResponse, 200, `{"half":`}},
		{"no body where a length is given", ok + "Content-Length: 90\r\n\r\n", closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"a reset inside the body", ok + "Content-Length: 90\r\n\r\n", resets, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"silence inside the body", ok + "Content-Length: 90\r\n\r\nabc", hangs, failed{egress.Timeout, egress.SentNoResponse, 200, "abc"}},
		{"a chunk that is cut", chunked + "5\r\nab", closes, failed{egress.Truncated, egress.SentNoResponse, 200, "ab"}},
		{"chunks without an end", chunked + "2\r\nab\r\n", closes, failed{egress.Truncated, egress.SentNoResponse, 200, "ab"}},
		{"a chunk size that is a word", chunked + "2\r\nab\r\n" + secret + "\r\n", closes, failed{egress.Truncated, egress.SentNoResponse, 200, "ab"}},
		{"gzip that is cut", packed(zipped(strings.Repeat("abc", 30))[:20]), closes, failed{egress.Truncated, egress.SentNoResponse, 200, strings.Repeat("abc", 30)}},
		{"gzip that is none", packed(secret + " is no gzip at all"), closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"gzip that is whole before its length", encoded("gzip", zipped("abc"), 90), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"gzip with something behind it", packed(zipped("abc") + secret), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"br that is cut", shrunk(brotlied(strings.Repeat("abc", 30))[:9]), closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"br that is cut inside its length", encoded("br", brotlied("abc")[:4], len(brotlied("abc"))), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "a"}},
		{"br that is whole before its length", encoded("br", brotlied("abc"), 90), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"br with something behind it", shrunk(brotlied("abc") + secret), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"br that is none", shrunk("\xff" + secret + " is no brotli at all"), closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"br of nothing", ok + "Content-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"br in chunks that are cut", ok + "Content-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n" + brotlied("abc")[:3] + "\r\n", closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"zstd that is cut", encoded("zstd", zstded(long)[:12], 12), closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"zstd with something behind it", encoded("zstd", zstded("abc")+secret, len(zstded("abc")+secret)), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"deflate with something behind it", encoded("deflate", deflated("abc", true)+secret, len(deflated("abc", true)+secret)), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"zstd that is none", encoded("zstd", secret+" is no zstd at all", len(secret)+18), closes, failed{egress.Truncated, egress.SentNoResponse, 200, ""}},
		{"zstd that is whole before its length", encoded("zstd", zstded("abc"), 90), closes, failed{egress.Truncated, egress.SentNoResponse, 200, "abc"}},
		{"zstd that unpacks above the limit", encoded("zstd", zstded(strings.Repeat("x", 1<<20)), len(zstded(strings.Repeat("x", 1<<20)))), closes, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"br that unpacks above the limit", shrunk(brotlied(strings.Repeat("x", 64<<20))), closes, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"a length above the limit", ok + "Content-Length: 101\r\n\r\n" + long, closes, failed{egress.TooLarge, egress.Responded, 200, ""}},
		{"chunks above the limit", chunked + "65\r\n" + long + "\r\n0\r\n\r\n", closes, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"a body without a length above the limit", ok + "\r\n" + long, closes, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"a body without a length and an end", ok + "\r\n" + long, hangs, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"gzip that unpacks above the limit", packed(zipped(strings.Repeat("x", 1<<20)))[:1000], closes, failed{egress.TooLarge, egress.Responded, 200, long[:limit]}},
		{"an error above the limit", "HTTP/1.1 500 Oh\r\nContent-Length: 101\r\n\r\n" + long, closes, failed{egress.TooLarge, egress.Responded, 500, ""}},
		{"a redirect that is no URL", "HTTP/1.1 303 See\r\nLocation: http://[" + secret + "\r\nContent-Length: 0\r\n\r\n", closes, failed{egress.Network, egress.SentNoResponse, 0, ""}},
	}
	before := runtime.NumGoroutine()
	t.Run("each", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				u := listen(t, func(u *upstream, conn *net.TCPConn, r *bufio.Reader) {
					if u.read(r) {
						_, _ = conn.Write([]byte(c.says))
						u.end(conn, c.then)
					}
				})
				client := local(t)
				defer client.CloseIdleConnections()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if c.want.kind == egress.Timeout {
					cancel()
					ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
				}
				defer cancel()
				r := request(t, http.MethodPost, "http://user:"+secret+"@"+u.address+"/p?key="+secret, secret).WithContext(ctx)
				r.Header.Set("X-Key", secret)
				got, err := egress.Do(client, r, limit)
				expect(t, c.want, got, err)
				u.expect(t, 1)
			})
		}
	})
	settle(t, before)
}

// The cause of an error, which is for the log, holds no query either.
func TestCausesHoldNoURL(t *testing.T) {
	s := httptest.NewServer(http.RedirectHandler("ftp://example.com/?key="+secret, http.StatusFound)) // net/http names the URL there
	defer s.Close()
	_, err := egress.Do(local(t), request(t, http.MethodGet, s.URL+"/?key="+secret, ""), 100)
	cause := errors.Unwrap(err)
	if cause == nil || strings.Contains(cause.Error()+err.Error(), secret) {
		t.Errorf("%v, because of %v", err, cause)
	}
}

// Nothing of these requests may arrive.
func TestRequestsThatDoNotLeave(t *testing.T) {
	type failed = outcome
	canceled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	cases := []struct {
		name   string
		allow  string
		url    string // ADDRESS stands for the upstream's address
		header string // value of a header
		ctx    func(context.Context) context.Context
		want   outcome
	}{
		{"a private address", "10.0.0.0/8", "http://ADDRESS/", "", nil, failed{egress.Forbidden, egress.NotSent, 0, ""}},
		{"another scheme", "127.0.0.1", "ftp://ADDRESS/", "", nil, failed{egress.Forbidden, egress.NotSent, 0, ""}},
		{"no host", "127.0.0.1", "http://:80/", "", nil, failed{egress.Forbidden, egress.NotSent, 0, ""}},
		{"a header with a second line", "127.0.0.1", "http://ADDRESS/", secret + "\r\nX: y", nil, failed{egress.Forbidden, egress.NotSent, 0, ""}},
		{"a name that is none", "127.0.0.1", "http://" + strings.Repeat("x", 70) + ".example/", "", nil, failed{egress.Network, egress.NotSent, 0, ""}},
		{"nobody listens", "127.0.0.1", "http://CLOSED/", "", nil, failed{egress.Network, egress.NotSent, 0, ""}},
		{"the upstream speaks no TLS", "127.0.0.1", "https://ADDRESS/", "", nil, failed{egress.Network, egress.NotSent, 0, ""}},
		{"the call was canceled before", "127.0.0.1", "http://ADDRESS/", "", canceled, failed{egress.Canceled, egress.NotSent, 0, ""}},
	}
	before := runtime.NumGoroutine()
	t.Run("each", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				u := listen(t, func(u *upstream, conn *net.TCPConn, r *bufio.Reader) {
					if !u.read(r) {
						_, _ = conn.Write([]byte("HTTP/1.1 400 No\r\n\r\n"))
					}
				})
				r := request(t, http.MethodPost, strings.NewReplacer("ADDRESS", u.address, "CLOSED", closedPort(t)).Replace(c.url), secret)
				r.URL.RawQuery = "key=" + secret
				if c.header != "" {
					r.Header["X-Key"] = []string{c.header}
				}
				if c.ctx != nil {
					r = r.WithContext(c.ctx(r.Context()))
				}
				client := client(t, egress.Options{AllowHosts: []string{c.allow}})
				defer client.CloseIdleConnections()
				got, err := egress.Do(client, r, 100)
				expect(t, c.want, got, err)
				u.expect(t, 0)
			})
		}
	})
	settle(t, before)
}

// closedPort is an address where nobody listens: it is bound and not listened
// on, so that no other test can get it.
func closedPort(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	v4, ok := bound.(*syscall.SockaddrInet4)
	if !ok {
		t.Fatalf("bound to %v", bound)
	}
	return fmt.Sprintf("127.0.0.1:%d", v4.Port)
}

func TestHandshakeThatNeverEnds(t *testing.T) {
	u := listen(t, func(u *upstream, c *net.TCPConn, _ *bufio.Reader) { u.hang(c) })
	client := client(t, egress.Options{AllowHosts: []string{u.address}, TLSTimeout: 50 * time.Millisecond})
	got, err := egress.Do(client, request(t, http.MethodPost, "https://"+u.address+"/", "x"), 100)
	expect(t, outcome{egress.Timeout, egress.NotSent, 0, ""}, got, err)
}

func TestHeadersThatNeverCome(t *testing.T) {
	u := listen(t, func(u *upstream, c *net.TCPConn, r *bufio.Reader) {
		u.read(r)
		u.hang(c)
	})
	client := client(t, egress.Options{AllowHosts: []string{u.address}, HeaderTimeout: 50 * time.Millisecond})
	got, err := egress.Do(client, request(t, http.MethodPost, "http://"+u.address+"/", "x"), 100)
	expect(t, outcome{egress.Timeout, egress.SentNoResponse, 0, ""}, got, err)
	u.expect(t, 1)
}

func TestCanceledWhileTheUpstreamThinks(t *testing.T) {
	arrived := make(chan struct{})
	u := listen(t, func(u *upstream, c *net.TCPConn, r *bufio.Reader) {
		u.read(r)
		close(arrived)
		u.hang(c)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(errors.New("nobody waits"))
	}()
	got, err := egress.Do(local(t), request(t, http.MethodPost, "http://"+u.address+"/", "x").WithContext(ctx), 100)
	expect(t, outcome{egress.Canceled, egress.SentNoResponse, 0, ""}, got, err)
}

func TestCanceledWhileWaitingForAConnection(t *testing.T) {
	busy := make(chan struct{})
	u := listen(t, func(u *upstream, c *net.TCPConn, r *bufio.Reader) {
		u.read(r)
		close(busy)
		u.hang(c)
	})
	client := client(t, egress.Options{AllowHosts: []string{u.address}, MaxConnsPerHost: 1})
	first, release := context.WithCancel(t.Context())
	occupying := request(t, http.MethodGet, "http://"+u.address+"/", "").WithContext(first)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = egress.Do(client, occupying, 100)
	}()
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	got, err := egress.Do(client, request(t, http.MethodPost, "http://"+u.address+"/", "x").WithContext(ctx), 100)
	expect(t, outcome{egress.Timeout, egress.NotSent, 0, ""}, got, err)
	release()
	<-done
}

// A body so large that the upstream ends the connection inside it.
func TestResetInsideTheRequest(t *testing.T) {
	u := listen(t, func(_ *upstream, c *net.TCPConn, r *bufio.Reader) {
		_, _ = r.Peek(1)
		_ = c.SetLinger(0)
	})
	got, err := egress.Do(local(t), request(t, http.MethodPost, "http://"+u.address+"/", strings.Repeat("x", 32<<20)), 100)
	expect(t, outcome{egress.Network, egress.SentNoResponse, 0, ""}, got, err)
}

// On a connection that carried a request before, what was written then does
// not count, and what is written now does.
func TestReusedConnection(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for name, c := range map[string]struct {
		method   string
		requests int32
		want     outcome // zero: success
	}{
		"POST is not repeated": {http.MethodPost, 2, outcome{egress.Network, egress.SentNoResponse, 0, ""}},
		"GET is repeated":      {http.MethodGet, 3, outcome{progress: egress.Responded}},
	} {
		t.Run(name, func(t *testing.T) {
			u := listen(t, func(u *upstream, conn *net.TCPConn, r *bufio.Reader) {
				if u.read(r) {
					_, _ = conn.Write([]byte(ok))
				}
				u.read(r) // and close
			})
			client := local(t)
			defer client.CloseIdleConnections()
			if got, err := egress.Do(client, request(t, http.MethodGet, "http://"+u.address+"/", ""), 100); err != nil || string(got.Body) != "ok" {
				t.Fatalf("%+v %v", got, err)
			}
			r := request(t, c.method, "http://"+u.address+"/", "")
			r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
			got, err := egress.Do(client, r, 100)
			switch {
			case c.want.progress != egress.Responded:
				expect(t, c.want, got, err)
			case err != nil || got.State != egress.Responded:
				t.Errorf("%+v %v", got, err)
			}
			u.expect(t, c.requests)
		})
	}
}

func TestEncodings(t *testing.T) {
	text := strings.Repeat("a long text ", 5000)
	for _, c := range []struct{ name, says, want, left string }{
		{"gzip", packed(zipped(text)), text, ""},
		{"gzip in two members", packed(zipped("ab") + zipped("cd")), "abcd", ""},
		{"br", shrunk(brotlied(text)), text, ""},
		{"br in capitals", encoded("BR", brotlied("abc"), len(brotlied("abc"))), "abc", ""},
		{"br in chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n" + brotlied("abc")[:3] + "\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(brotlied("abc"))-3, brotlied("abc")[3:]), "abc", ""},
		{"br of nothing with a length", encoded("br", "", 0), "", "br"},
		{"gzip of nothing", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", ""},
		{"deflate", encoded("deflate", deflated(text, true), len(deflated(text, true))), text, ""},
		{"deflate without its header", encoded("deflate", deflated("abc", false), len(deflated("abc", false))), "abc", ""},
		{"gzip by its old name", encoded("x-gzip", zipped("abc"), len(zipped("abc"))), "abc", ""},
		{"zstd", encoded("zstd", zstded(text), len(zstded(text))), text, ""},
		{"zstd in two frames", encoded("ZSTD", zstded("ab")+zstded("cd"), len(zstded("ab")+zstded("cd"))), "abcd", ""},
		{"zstd of nothing", "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", ""},
		{"an encoding that nobody asked for", encoded("compress", "abc", 3), "abc", "compress"},
		{"two encodings", encoded("br, gzip", "abc", 3), "abc", "br, gzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan string, 2)
			u := listen(t, func(_ *upstream, conn *net.TCPConn, r *bufio.Reader) {
				for {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					asked <- req.Header.Get("Accept-Encoding")
					_, _ = conn.Write([]byte(c.says))
				}
			})
			client := local(t)
			defer client.CloseIdleConnections()
			for range 2 { // the second has the first one's decoder, and its connection
				got, err := egress.Do(client, request(t, http.MethodGet, "http://"+u.address+"/", ""), 1<<20)
				if err != nil || string(got.Body) != c.want || got.Header.Get("Content-Encoding") != c.left {
					t.Fatalf("%d bytes, %v, %v", len(got.Body), got.Header, err)
				}
				if a := <-asked; a != "gzip, br" {
					t.Errorf("asked for %q", a)
				}
			}
		})
	}
}

func TestEncodingThatTheCallerAskedFor(t *testing.T) {
	u := listen(t, func(u *upstream, conn *net.TCPConn, r *bufio.Reader) {
		if u.read(r) {
			_, _ = conn.Write([]byte(shrunk(brotlied("abc"))))
		}
	})
	r := request(t, http.MethodGet, "http://"+u.address+"/", "")
	r.Header.Set("Accept-Encoding", "br")
	got, err := egress.Do(local(t), r, 100)
	if err != nil || string(got.Body) != brotlied("abc") || got.Header.Get("Content-Encoding") != "br" {
		t.Errorf("%q %v %v", got.Body, got.Header, err)
	}
}
