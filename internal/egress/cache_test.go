package egress_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// kept is a far side behind a cache, and the requests that a test makes.
type kept struct {
	t    *testing.T
	far  *script
	seen []string // conditions of the requests that got through
	u    *egress.Upstreams
}

func behindCache(t *testing.T, size int64, answers ...string) *kept {
	t.Helper()
	k := &kept{t: t, far: &script{answers: answers}}
	k.u = egress.NewUpstreams(&http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
		k.seen = append(k.seen, strings.TrimSpace(r.Header.Get("If-None-Match")+" "+r.Header.Get("If-Modified-Since")))
		return k.far.RoundTrip(r)
	})}, egress.Policy{CacheBytes: size})
	return k
}

// get returns what came, as "BODY age AGE" where that is told.
func (k *kept) get(url, identity string, header ...string) string {
	k.t.Helper()
	r := request(k.t, http.MethodGet, url, "")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := k.u.Do(r, egress.RequestOptions{MaxBody: 1000, Safe: true, Idempotent: true, Identity: identity})
	if err != nil || got.State != egress.Responded {
		k.t.Fatal(got.State, err)
	}
	text := string(got.Body)
	clear(got.Body) // it is the caller's: the next one must not see that
	got.Header["X-Mine"] = []string{"1"}
	if age := got.Header.Get("Age"); age != "" {
		text += " age " + age
	}
	return text
}

const place = "http://api.test/things"

// For how long an answer is used without asking.
func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		fresh        time.Duration
	}{
		{"nothing is said", "200", 0},
		{"max-age", "200; Cache-Control: max-age=60", time.Minute},
		{"max-age, quoted and in other letters", `200; Cache-Control: private, Max-Age="60"`, time.Minute},
		{"max-age within another directive's value", `200; Cache-Control: x="a, max-age=60"`, 0},
		{"max-age before Expires", "200; Cache-Control: max-age=60; Expires: Sat, 01 Jan 2000 10:00:00 GMT", time.Minute},
		{"max-age that is no number", "200; Cache-Control: max-age=soon; Expires: Sat, 01 Jan 2000 10:00:00 GMT", 0},
		{"Expires", "200; Expires: Sat, 01 Jan 2000 00:01:00 GMT; Date: Sat, 01 Jan 2000 00:00:00 GMT", time.Minute},
		{"Expires that is over", "200; Expires: 0", 0},
		{"s-maxage is for others", "200; Cache-Control: s-maxage=60", 0},
		{"an age that it already has", "200; Cache-Control: max-age=60; Age: 50", 10 * time.Second},
		{"a date that it already has", "200; Cache-Control: max-age=60; Date: Fri, 31 Dec 1999 23:59:30 GMT", 30 * time.Second},
		{"no-store", "200; Cache-Control: max-age=60, no-store", 0},
		{"no-cache", "200; Cache-Control: no-cache, max-age=60", 0},
		{"it varies with everything", "200; Cache-Control: max-age=60; Vary: *", 0},
		{"not found", "404; Cache-Control: max-age=60", time.Minute},
		{"an error", "500; Cache-Control: max-age=60", 0},
		{"a part", "206; Cache-Control: max-age=60", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := behindCache(t, 1<<20, c.answer)
				k.get(place, "a")
				last := time.Duration(0)
				for at := time.Duration(0); at < 2*time.Minute && len(k.seen) == 1; at += 5 * time.Second {
					last = at
					k.get(place, "a")
					time.Sleep(5 * time.Second)
				}
				if last != c.fresh {
					t.Errorf("asked again after %v, want %v", last, c.fresh)
				}
			})
		})
	}
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := behindCache(t, 1<<20, "200; Cache-Control: max-age=60; Age: 5")
		first := k.get(place, "a")
		time.Sleep(7 * time.Second)
		second := k.get(place, "a")
		if d := cmp.Diff([]string{"200; Cache-Control: max-age=60; Age: 5 age 5", "200; Cache-Control: max-age=60; Age: 5 age 12"}, []string{first, second}); d != "" {
			t.Error(d)
		}
	})
}

func TestValidation(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		got     []string
		seen    []string
	}{
		{
			"nothing has changed",
			[]string{`200; Etag: "1"; Last-Modified: then`, `304; Etag: W/"1"; Cache-Control: max-age=60`},
			[]string{`200; Etag: "1"; Last-Modified: then`, `200; Etag: "1"; Last-Modified: then age 0`, `200; Etag: "1"; Last-Modified: then age 30`},
			[]string{"", `"1" then`},
		},
		{
			"something has",
			[]string{`200; Etag: "1"`, `200; Etag: "2"`, "304"},
			[]string{`200; Etag: "1"`, `200; Etag: "2"`, `200; Etag: "2" age 0`},
			[]string{"", `"1"`, `"2"`},
		},
		{
			"it is confirmed for another",
			[]string{`200; Etag: "1"`, `304; Etag: "9"`, `200; Cache-Control: max-age=60`},
			[]string{`200; Etag: "1"`, "200; Cache-Control: max-age=60", "200; Cache-Control: max-age=60 age 30"},
			[]string{"", `"1"`, ""},
		},
		{
			"what is out of date is not served for want of a better",
			[]string{`200; Etag: "1"`, "503", "503"},
			[]string{`200; Etag: "1"`, "503", "503"},
			[]string{"", `"1"`, `"1"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := behindCache(t, 1<<20, c.answers...)
				var got []string
				for range c.got {
					got = append(got, k.get(place, "a"))
					time.Sleep(30 * time.Second)
				}
				if d := cmp.Diff(c.got, got); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(c.seen, k.seen); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

// Who else asks, or asks otherwise, does not get what is kept.
func TestKeptAnswersAreForOne(t *testing.T) {
	k := behindCache(t, 1<<20, "200; Cache-Control: max-age=60")
	k.get(place, "a", "Authorization", "Bearer 1")
	for _, c := range []struct {
		name, url, identity string
		header              []string
		through             bool
	}{
		{"the same", place, "a", []string{"Authorization", "Bearer 1"}, false},
		{"another subject", place, "b", []string{"Authorization", "Bearer 1"}, true},
		{"another credential", place, "a", []string{"Authorization", "Bearer 2"}, true},
		{"none", place, "a", nil, true},
		{"another header", place, "a", []string{"Authorization", "Bearer 1", "Accept", "text/csv"}, true},
		{"another query", place + "?x", "a", []string{"Authorization", "Bearer 1"}, true},
		{"another origin", "https://api.test/things", "a", []string{"Authorization", "Bearer 1"}, true},
		{"a demand on caches", place, "a", []string{"Authorization", "Bearer 1", "Cache-Control", "no-cache"}, true},
		{"a part", place, "a", []string{"Authorization", "Bearer 1", "Range", "bytes=0-1"}, true},
	} {
		before := len(k.seen)
		k.get(c.url, c.identity, c.header...)
		if got := len(k.seen) > before; got != c.through {
			t.Errorf("%s: asked the upstream: %v", c.name, got)
		}
	}
}

func TestChangesForgetAnswers(t *testing.T) {
	for _, c := range []struct {
		name, method, url, answer string
		safe, want                bool
	}{
		{"at the place", http.MethodPost, place, "201", false, true},
		{"at the place, with another query", http.MethodPut, place + "?y=2", "200", false, true},
		{"that point to the place", http.MethodPost, "http://api.test/new", "201; Location: /things?z", false, true},
		{"that got lost", http.MethodDelete, place, "reset", false, true},
		{"at another origin that points to the place", http.MethodPost, "http://other.test/new", "201; Location: " + place, false, false},
		{"at another place", http.MethodPost, "http://api.test/new", "201", false, false},
		{"that change nothing", http.MethodPost, place, "200", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := behindCache(t, 1<<20, "200; Cache-Control: max-age=60", "200; Cache-Control: max-age=60", c.answer, "200")
			k.get(place+"?x=1", "a")
			k.get(place+"?x=1", "b")
			_, _ = k.u.Do(request(t, c.method, c.url, "x"), egress.RequestOptions{MaxBody: 1000, Safe: c.safe})
			for _, identity := range []string{"a", "b"} {
				before := len(k.seen)
				k.get(place+"?x=1", identity)
				if got := len(k.seen) > before; got != c.want {
					t.Errorf("%s asked the upstream: %v", identity, got)
				}
			}
		})
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	const space = 8
	k := behindCache(t, space*1200, "200; Cache-Control: max-age=60")
	for i := range 3 * space {
		k.get(fmt.Sprintf("%s/%d", place, i), "a")
		k.get(place+"/0", "a") // what is used stays
	}
	if n := len(k.seen); n != 3*space {
		t.Errorf("asked %d times", n)
	}
	k.get(place+"/1", "a")
	if n := len(k.seen); n != 3*space+1 {
		t.Errorf("what is not used was kept: asked %d times", n)
	}
}

// A redirect's target has a life of its own.
func TestRedirectedAnswersAreNotKept(t *testing.T) {
	k := behindCache(t, 1<<20, "302; Location: /other", "200; Cache-Control: max-age=60")
	for range 2 {
		k.get(place, "a")
	}
	if len(k.seen) != 3 {
		t.Errorf("asked %d times", len(k.seen))
	}
}

// Whatever stands in Cache-Control: an answer that has no-store as a directive
// of its own is asked for again.
func FuzzCacheControl(f *testing.F) {
	for _, seed := range []string{"", "max-age=60", `x="a,b", max-age=60`, `"`, "a=\\", ",,=,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 500 || strings.ContainsAny(text, "\r\n;") || strings.Count(text, `"`)%2 == 1 || strings.Contains(text, "\\") {
			t.Skip()
		}
		k := behindCache(t, 1<<20, "200; Etag: 1; Cache-Control: "+text+", no-store, max-age=60")
		k.get(place, "a")
		k.get(place, "a")
		if d := cmp.Diff([]string{"", ""}, k.seen); d != "" {
			t.Error(d)
		}
	})
}
