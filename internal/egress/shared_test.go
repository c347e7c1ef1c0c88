package egress_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// common stands for the store of several replicas.
type common struct {
	mu     sync.Mutex
	values map[string][]byte
	until  map[string]time.Time
	away   bool
	asked  int
}

func newCommon() *common { return &common{values: map[string][]byte{}, until: map[string]time.Time{}} }

func (c *common) Get(_ context.Context, keys ...string) (values [][]byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	values = make([][]byte, len(keys))
	for i, key := range keys {
		if value, ok := c.values[key]; ok && time.Now().Before(c.until[key]) && !c.away {
			values[i] = append([]byte{}, value...)
		}
	}
	return values, !c.away
}

func (c *common) Put(_ context.Context, key string, value []byte, life time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.away {
		c.values[key], c.until[key] = value, time.Now().Add(life)
	}
}

func (c *common) Delete(_ context.Context, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, key)
}

func (c *common) Claim(ctx context.Context, key string, life time.Duration) bool {
	values, ok := c.Get(ctx, key)
	if !ok || values[0] != nil {
		return !ok
	}
	c.Put(ctx, key, []byte("claimed"), life)
	return true
}

// replicas are two that share what they keep, before one far side.
func replicas(t *testing.T, s *common, size int64, answers ...string) (a, b *kept) {
	t.Helper()
	a = &kept{t: t, far: &script{answers: answers}}
	b = &kept{t: t, far: a.far}
	for _, k := range []*kept{a, b} {
		k.u = egress.NewUpstreams(&http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
			k.seen = append(k.seen, strings.TrimSpace(r.Method+" "+r.Header.Get("If-None-Match")))
			return k.far.RoundTrip(r)
		})}, egress.Policy{CacheBytes: size, Shared: s})
	}
	return a, b
}

func (k *kept) change(url string) {
	k.t.Helper()
	if _, err := k.u.Do(request(k.t, http.MethodPost, url, ""), egress.RequestOptions{MaxBody: 1000}); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) wants(got, body string, sent ...string) {
	k.t.Helper()
	synctest.Wait()
	if got, _, _ = strings.Cut(got, " "); got != body {
		k.t.Errorf("got %q, want %q", got, body)
	}
	if strings.Join(k.seen, ", ") != strings.Join(sent, ", ") {
		k.t.Errorf("the upstream was asked %q, want %q", k.seen, sent)
	}
	k.seen = nil
}

// What one replica keeps another returns: to the same caller with the same headers, for
// as long as it is fresh.
func TestResponsesAreKeptForOtherReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCommon()
		fresh := "200; Cache-Control: max-age=60; Set-Cookie: sid=secret"
		a, b := replicas(t, s, 1<<20, fresh, fresh, fresh, fresh, fresh)
		body := a.get(place, "ann")
		first, _, _ := strings.Cut(body, " ")
		a.wants(body, first, "GET")
		b.wants(b.get(place, "ann"), first)
		s.asked = 0
		b.wants(b.get(place, "ann"), first)
		if s.asked != 1 {
			t.Errorf("what a replica has itself costs %d round trips", s.asked)
		}
		for key, value := range s.values {
			if strings.Contains(string(value), `"Set-Cookie"`) {
				t.Errorf("the store has a cookie in %s", key)
			}
		}
		for _, other := range [][]string{{"bob"}, {"ann", "Authorization", "Bearer x"}} {
			_ = b.get(place, other[0], other[1:]...)
			b.wants("", "", "GET")
		}
		time.Sleep(61 * time.Second)
		_ = b.get(place, "ann")
		b.wants("", "", "GET")
	})
}

// A change through one replica counts at all of them, also for what they have in their
// memory, and for what was asked before the change and arrives after it.
func TestAChangeCountsAtAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCommon()
		fresh := "200; Cache-Control: max-age=600"
		a, b := replicas(t, s, 1<<20, fresh, fresh, fresh, fresh, fresh, fresh, fresh)
		_ = a.get(place, "ann")
		a.wants("", "", "GET")
		_ = b.get(place, "ann")
		b.wants("", "")
		b.change(place)
		b.wants("", "", "POST")
		_ = a.get(place, "ann")
		a.wants("", "", "GET")
		_ = b.get(place, "ann")
		b.wants("", "")
		a.change(place)
		s.away = true // by itself each goes on
		a.seen = nil
		_ = b.get(place, "ann")
		b.wants("", "")
		_ = a.get(place+"/1", "ann")
		_ = a.get(place+"/1", "ann")
		a.wants("", "", "GET")
		s.away = false
		_ = a.get(place+"/1", "ann") // nobody knows whether it was changed meanwhile
		a.wants("", "", "GET")
	})
}

// A response that is not fresh is asked about, whoever kept it.
func TestAResponseOfAnotherReplicaIsValidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := replicas(t, newCommon(), 1<<20, `200; Etag: "1"`, "304", "200")
		body := a.get(place, "ann")
		first, _, _ := strings.Cut(body, " ")
		a.wants(body, first, "GET")
		b.wants(b.get(place, "ann"), first, `GET "1"`)
	})
}

// What is in the store in a response's place is read as none.
func TestForeignTextIsNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCommon()
		fresh := "200; Cache-Control: max-age=60"
		a, _ := replicas(t, s, 1<<20, fresh)
		_ = a.get(place, "ann")
		_ = a.get(place+"/other", "ann")
		a.wants("", "", "GET", "GET")
		var texts, keys []string
		for key, value := range s.values {
			texts, keys = append(texts, string(value)), append(keys, key)
		}
		for _, text := range []string{
			"", "x", "\xff\xff\xff\xff", "\x00\x00\x00\x02{}", texts[0][:40], strings.Replace(texts[0], `"status":200`, `"status":1`, 1),
			strings.Replace(texts[0], `"mark":""`, `"mark":"old"`, 1), "swapped",
		} {
			for i, key := range keys {
				s.values[key] = []byte(text)
				if text == "swapped" {
					s.values[key] = []byte(texts[1-i])
				}
			}
			_, b := replicas(t, s, 1<<20, fresh)
			_ = b.get(place, "ann")
			b.wants("", "", "GET")
		}
	})
}

// The responses that a replica has in the store have bounds.
func TestWhatAReplicaKeepsForOthersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCommon()
		answers := make([]string, 100)
		for i := range answers {
			answers[i] = "200; Cache-Control: max-age=6000"
		}
		a, _ := replicas(t, s, 10_000, answers...)
		ask := func(name string, want int) {
			for i := range 20 {
				_ = a.get(place+"/"+name+string(rune('a'+i)), "ann")
				synctest.Wait()
			}
			n := 0
			for key := range s.values {
				if strings.HasPrefix(key, "response ") && time.Now().Before(s.until[key]) {
					n++
				}
			}
			if n != want {
				t.Errorf("%s: %d responses are in the store, want %d", name, n, want)
			}
		}
		ask("first", 9)
		ask("second", 9)
		time.Sleep(11 * time.Minute)
		ask("third", 0) // what is left of the window before is not known
		time.Sleep(10 * time.Minute)
		ask("fourth", 9)
	})
}
