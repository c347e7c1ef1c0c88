package egress_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// seen is what an origin was asked.
type seen struct {
	mu   sync.Mutex
	asks []string
}

func (s *seen) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, line)
}

func (s *seen) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asks)
}

// origin starts an upstream that writes down method, path and every place
// where it sees a secret, and redirects as the path says: /307/A means status
// 307 to A, where {home} and {other} stand for the two origins.
func origin(t *testing.T, s *seen, name string, places *[]string) *httptest.Server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := name + " " + r.Method + " " + r.URL.Path
		for _, h := range []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Fastly-Key", "Referer"} {
			if v := r.Header.Get(h); strings.Contains(v, secret) || h == "Authorization" && v != "" { // the user of a URL is sent in base64
				line += " " + h
			}
		}
		if r.Header.Get("Accept") != "application/json" || r.Header.Get("User-Agent") != "us" {
			t.Errorf("%s lost its harmless headers: %v", line, r.Header)
		}
		if r.ContentLength != 0 {
			line += " body"
		}
		s.add(line)
		status := 0
		if n, _ := fmt.Sscanf(r.URL.Path, "/%d", &status); n == 1 {
			w.Header().Set("Location", strings.NewReplacer(*places...).Replace(r.URL.Query().Get("to")))
			w.WriteHeader(status)
		}
		_, _ = w.Write([]byte("end"))
	}))
	t.Cleanup(h.Close)
	return h
}

func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	const all = " Authorization Cookie Proxy-Authorization X-Api-Key Fastly-Key"
	cases := []struct {
		name   string
		method string
		start  string // path of the first origin, and where it leads
		to     string
		status int
		asks   []string // behind the first
	}{
		{"GET at the same origin", "GET", "/302", "/end", 200, []string{"home GET /end" + all}},
		{"GET to the same origin, written out", "GET", "/301", "{home}/end", 200, []string{"home GET /end" + all}},
		{"GET to another origin", "GET", "/302", "{other}/end", 200, []string{"other GET /end"}},
		{"GET to another origin with 307", "GET", "/307", "{other}/end", 200, []string{"other GET /end"}},
		{"GET to another origin with user information", "GET", "/302", "{mallory}/end", 200, []string{"other GET /end"}},
		{"GET to another origin and home again", "GET", "/302", "{other}/302?to={home}/end", 200, []string{"other GET /302", "home GET /end"}},
		{"GET to another name of the same address", "GET", "/302", "{localhost}/end", 200, []string{"home GET /end"}},
		{"HEAD stays HEAD", "HEAD", "/302", "{other}/end", 200, []string{"other HEAD /end"}},
		{"303 after POST is read with GET", "POST", "/303", "/end", 200, []string{"home GET /end" + all}},
		{"303 after POST at another origin", "POST", "/303", "{other}/end", 200, []string{"other GET /end"}},
		{"301 after POST is the answer", "POST", "/301", "/end", 301, nil},
		{"302 after POST is the answer", "POST", "/302", "{other}/end", 302, nil},
		{"307 after POST is the answer", "POST", "/307", "/end", 307, nil},
		{"308 after POST is the answer", "POST", "/308", "{other}/end", 308, nil},
		{"302 after DELETE is the answer", "DELETE", "/302", "/end", 302, nil},
		{"307 after PUT is the answer", "PUT", "/307", "/end", 307, nil},
		{"GET with a body at the same origin", "GET", "/307", "/end", 200, []string{"home GET /end" + all + " body"}},
		{"GET with a body to another origin is the answer", "GET", "/307", "{other}/end", 307, nil},
		{"307 after QUERY is the answer", "QUERY", "/307", "/end", 307, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := new(seen)
			places := new([]string)
			other := origin(t, s, "other", places)
			home := origin(t, s, "home", places)
			*places = []string{
				"{home}", home.URL, "{other}", other.URL,
				"{mallory}", strings.Replace(other.URL, "://", "://mallory:"+secret+"@", 1),
				"{localhost}", strings.Replace(home.URL, "127.0.0.1", "localhost", 1),
			}
			r := request(t, c.method, home.URL+c.start+"?key="+secret+"&to="+c.to, "")
			if c.method == "POST" || c.method == "PUT" || strings.Contains(c.name, "with a body") {
				r = request(t, c.method, home.URL+c.start+"?key="+secret+"&to="+c.to, "x")
			}
			for name, value := range map[string]string{
				"Authorization": "Bearer " + secret, "Cookie": "a=" + secret, "Proxy-Authorization": secret,
				"X-Api-Key": secret, "Fastly-Key": secret, "Accept": "application/json", "User-Agent": "us",
			} {
				r.Header.Set(name, value)
			}
			client := client(t, egress.Options{AllowHosts: []string{"127.0.0.1", "::1"}})
			got, err := egress.Do(client, r, 100)
			if err != nil || got.Status != c.status || got.State != egress.Responded {
				t.Fatalf("got %+v, %v, want status %d", got, err, c.status)
			}
			asks := s.list()
			if !slices.Equal(asks[1:], c.asks) {
				t.Errorf("got  %q\nwant %q", asks[1:], c.asks)
			}
		})
	}
}

func TestRedirectsThatAreRefused(t *testing.T) {
	cases := []struct {
		name, method, start, to, why string
		status                       int
	}{
		{"to another scheme", "GET", "/302", "file:///etc/passwd", "a scheme other than http and https", 302},
		{"to a private address", "GET", "/302", "http://169.254.169.254/latest/" + secret, "after a redirect: address 169.254.169.254:80 is private; allow it with --allow-private-host 169.254.169.254:80", 302},
		{"after an unsafe request to a private address", "POST", "/303", "http://[::ffff:10.1.2.3]:81/", "after a redirect: address 10.1.2.3:81 is private; allow it with --allow-private-host 10.1.2.3:81", 303},
		{"in a circle", "GET", "/302", "/302?to=/302?to=", "stopped after 5 redirects", 302},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var status int
				_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
				w.Header().Set("Location", c.to)
				w.WriteHeader(status)
			}))
			defer s.Close()
			got, err := egress.Do(local(t), request(t, c.method, s.URL+c.start+"?key="+secret, ""), 100)
			expect(t, outcome{egress.Forbidden, egress.Responded, c.status, ""}, got, err)
			if !strings.HasSuffix(err.Error(), c.why) {
				t.Errorf("got %q, want %q at its end", err, c.why)
			}
		})
	}
}

func TestNoWayFromHTTPSToHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked without TLS") }))
	defer plain.Close()
	s := secure(t, true, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusFound)
	})
	got, err := egress.Do(trusting(t, s), request(t, http.MethodGet, s.URL, ""), 100)
	expect(t, outcome{egress.Forbidden, egress.Responded, 302, ""}, got, err)
}

func TestRedirectsCanBeCountedAndTurnedOff(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	}))
	defer s.Close()
	off := client(t, egress.Options{AllowHosts: []string{"127.0.0.1"}, MaxRedirects: -1})
	got, err := egress.Do(off, request(t, http.MethodGet, s.URL+"/", ""), 1000)
	if err != nil || got.Status != 302 || got.Header.Get("Location") != "/x" {
		t.Errorf("got %+v, %v, want the redirect itself", got, err)
	}
	two := client(t, egress.Options{AllowHosts: []string{"127.0.0.1"}, MaxRedirects: 2})
	got, err = egress.Do(two, request(t, http.MethodGet, s.URL+"/", ""), 1000)
	expect(t, outcome{egress.Forbidden, egress.Responded, 302, ""}, got, err)
	if got.Header.Get("Location") != "/xxx" {
		t.Errorf("the last redirect seen leads to %s", got.Header.Get("Location"))
	}
}

// What the operator allows for requests of their own is no place for others to
// send requests to.
func TestNoWayFromPublicToPrivate(t *testing.T) {
	c := client(t, egress.Options{AllowHosts: []string{"intra.example", "127.0.0.1", "10.0.0.0/8"}})
	for _, k := range []struct {
		from, to string
		refused  bool
	}{
		{"http://public.example/", "http://intra.example/", true},
		{"http://public.example/", "http://127.0.0.1:3000/", true},
		{"http://public.example/", "http://[::ffff:127.0.0.1]/", true},
		{"http://public.example/", "http://10.1.2.3/", true},
		{"http://public.example/", "http://LOCALHOST.:3000/", true},
		{"http://93.184.216.34/", "http://127.0.0.1/", true},
		{"http://public.example/", "http://other.example/", false},
		{"http://intra.example/", "http://127.0.0.1:3000/", false},
		{"http://127.0.0.1:1/", "http://127.0.0.1:2/", false},
		{"http://127.0.0.1:1/", "http://public.example/", false},
	} {
		last, next := request(t, http.MethodGet, k.from, ""), request(t, http.MethodGet, k.to, "")
		next.Response = &http.Response{StatusCode: http.StatusFound}
		if err := c.CheckRedirect(next, []*http.Request{last}); (err != nil) != k.refused {
			t.Errorf("from %s to %s: %v", k.from, k.to, err)
		}
	}
}
