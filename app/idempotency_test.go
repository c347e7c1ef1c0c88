package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// shop takes orders, and loses connections at random moments.
type shop struct {
	honours bool // acts once for each key

	mu      sync.Mutex
	chance  *rand.Rand
	losses  int // left
	lost    int
	orders  map[string]int // by body
	keys    map[string]int // orders by key
	seen    map[string]bool
	without int // requests without a key
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	moment := s.moment()
	if moment == 0 { // nothing was read
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key := r.Header.Get("Idempotency-Key")
	again := s.came(key)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case moment == 1: // all was read, and nothing done
		panic(http.ErrAbortHandler)
	case moment == 4 && again: // which says nothing of the request before
		w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusConflict, http.StatusTooManyRequests}[len(body)%3])
		_, _ = io.WriteString(w, `{}`)
		return
	}
	known := s.order(key, string(body))
	switch moment {
	case 2: // done, and not a byte of a response
		panic(http.ErrAbortHandler)
	case 3: // half a response
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"known":`) // who hung up reads nothing
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, `{"known":%t}`, known)
}

// moment is when the connection of this request is lost; 5: never.
func (s *shop) moment() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.losses == 0 || s.chance.IntN(2) == 0 {
		return 5
	}
	n := s.chance.IntN(5)
	if n < 4 {
		s.losses--
		s.lost++
	}
	return n
}

// came reports whether a request with this key came before.
func (s *shop) came(key string) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again, s.seen[key] = key != "" && s.seen[key], true
	return again
}

func (s *shop) order(key, body string) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "" {
		s.without++
	}
	if s.honours && s.keys[key] > 0 {
		return true
	}
	s.keys[key]++
	s.orders[body]++
	return false
}

// pair is two servers of one document, which share a store.
type pair struct {
	mu     sync.RWMutex
	config *Config
	env    Env
	both   [2]*App
}

func (p *pair) restart(t *testing.T, i int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.both[i] != nil {
		p.both[i].Close()
	}
	one, err := New(context.WithoutCancel(t.Context()), p.config, p.env)
	if err != nil {
		t.Error(err)
		return
	}
	p.both[i] = one
}

func (p *pair) call(i int, c *tenon.Call) (*tenon.Result, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.both[i].Gateway.Call(context.Background(), c)
}

// TestOneOrderForEachIntended loses 200 connections, calls again only where the answer
// says that this is safe, on another replica or one that has been restarted, and finds
// as many orders as were intended: no more, and none less where keys are honoured.
func TestOneOrderForEachIntended(t *testing.T) {
	const declared = `,"parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string","format":"uuid"}}]`
	for name, c := range map[string]struct {
		honours          bool
		declared, header string
	}{
		"declared and honoured":              {honours: true, declared: declared},
		"honoured, which the operator knows": {honours: true, header: "idempotency-key"},
		"not declared":                       {},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			s := &shop{honours: c.honours, chance: rand.New(rand.NewPCG(seed, 1)), losses: 200, orders: map[string]int{}, keys: map[string]int{}, seen: map[string]bool{}}
			upstream := httptest.NewUnstartedServer(s)
			upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
			upstream.Start()
			defer upstream.Close()
			p := newPair(t, upstream.URL, c.declared, func(o *SourceOptions) { o.IdempotencyHeader = c.header })

			var intended, made, unsafe int
			chance := rand.New(rand.NewPCG(seed, 2))
			for item := 0; s.lostSoFar() < 200 && item < 2000; item++ {
				if item%25 == 24 {
					p.restart(t, item/25%2)
				}
				for range 1 + item%2 { // every second one is ordered twice, on purpose
					intended++
					switch done, executed := order(t, p, chance, item); {
					case done:
						made++
					case executed == "no":
						t.Errorf("item %d: given up, though nothing was sent", item)
					default:
						unsafe++
					}
				}
			}
			if s.lost != 200 {
				t.Errorf("%d connections were lost", s.lost)
			}
			orders := 0
			for body, n := range s.orders {
				orders += n
				if n > 2 {
					t.Errorf("%d orders of %s", n, body)
				}
			}
			for key, n := range s.keys {
				if c.honours && n != 1 {
					t.Errorf("%d orders with the key %q", n, key)
				}
			}
			switch t.Logf("%d intended, %d confirmed, %d unknown, %d orders, %d keys", intended, made, unsafe, orders, len(s.keys)); {
			case c.honours && (made != intended || orders != intended || s.without > 0):
				t.Errorf("%d orders, %d intended, %d without a key", orders, intended, s.without)
			case !c.honours && (orders < made || orders > intended || unsafe == 0):
				t.Errorf("%d orders, %d confirmed, %d unknown", orders, made, unsafe)
			}
		})
	}
}

// TestNoKeyOutlivesACommand: what ends with its call does not say that the call can be
// repeated.
func TestNoKeyOutlivesACommand(t *testing.T) {
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	upstream.Start()
	defer upstream.Close()
	p := newPair(t, upstream.URL, "", func(o *SourceOptions) { o.IdempotencyHeader = "Idempotency-Key" })
	for command, retry := range map[bool]string{false: "safe", true: "unsafe"} {
		if p.env.OnDemand = command; command {
			p.env.Store = nil
		}
		p.restart(t, 0)
		got, err := p.call(0, &tenon.Call{Tool: "order", Args: []byte(`{"body":{"item":1}}`)})
		if err != nil || got.Outcome.Executed != "unknown" || got.Outcome.Retry != retry {
			t.Errorf("a command: %t: %+v, %v", command, got.Outcome, err)
		}
		p.env.Store = memstore.New(memstore.Options{})
	}
}

func (s *shop) lostSoFar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// order calls until the order is confirmed, or the answer forbids to call again.
func order(t *testing.T, p *pair, chance *rand.Rand, item int) (done bool, executed string) {
	t.Helper()
	var last *tenon.Result
	for range 100 {
		args := fmt.Sprintf(`{"body":{"item":%d,"note":"n"}}`, item)
		if chance.IntN(2) == 0 { // the same value, written otherwise
			args = fmt.Sprintf(`{ "body": {"note":"\u006e", "item":%d} }`, item)
		}
		got, err := p.call(chance.IntN(2), &tenon.Call{Tool: "order", Subject: "ann", Args: []byte(args)})
		switch last = got; {
		case err != nil:
			t.Fatal(err)
		case got.Outcome.Status == http.StatusCreated && !got.IsError:
			return true, got.Outcome.Executed
		case got.Outcome.Retry != "safe":
			return false, got.Outcome.Executed
		}
	}
	t.Fatalf("item %d: no end, but %s", item, last.Content[0].Text)
	return false, ""
}

func newPair(t *testing.T, upstream, parameters string, change func(*SourceOptions)) *pair {
	t.Helper()
	document := filepath.Join(t.TempDir(), "shop.json")
	if err := os.WriteFile(document, fmt.Appendf(nil, `{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"servers":[{"url":%q}],"paths":{"/orders":{"post":{"operationId":"order"%s,
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["item"],"properties":{"item":{"type":"integer"},"note":{"type":"string"}}}}}},
		"responses":{"201":{"description":"made","content":{"application/json":{"schema":{"type":"object","properties":{"known":{"type":"boolean"}}}}}}}}}}}`, upstream, parameters), 0o600); err != nil {
		t.Fatal(err)
	}
	config := NewConfig()
	config.Defaults.AllowPrivateHost = []string{"127.0.0.1"}
	config.Defaults.Confirm.All = "off"
	change(&config.Defaults)
	config.AddSpec(document)
	p := &pair{config: config, env: Env{Stderr: io.Discard, Logger: slog.New(slog.DiscardHandler), Store: memstore.New(memstore.Options{})}}
	for i := range p.both {
		p.restart(t, i)
	}
	t.Cleanup(func() {
		for _, one := range p.both {
			one.Close()
		}
	})
	return p
}
