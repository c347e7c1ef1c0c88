package redis_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenon-mcp/tenon/app"
)

// upstream remembers what it was asked.
type upstream struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func newUpstream(t *testing.T, handle func(w http.ResponseWriter, r *http.Request)) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.asked = append(u.asked, r.Method+" "+r.URL.Path)
		u.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) count(what string) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, asked := range u.asked {
		if asked == what {
			n++
		}
	}
	return n
}

// A response that one replica keeps another returns, until something changes there
// through any of them. Nothing of it can be read in the store, and a store that ended
// costs nothing.
func TestResponsesAreKeptForAllReplicas(t *testing.T) {
	address := start(t)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprint(w, `{"text":"nobody else's business"}`)
	})
	caching := func(c *app.Config) { c.Defaults.CacheBytes, c.Defaults.Confirm.All = 1<<20, "off" }
	a, b := replica(t, address, u.URL, caching), replica(t, address, u.URL, caching)
	wants := func(s *served, tool string, gets int) {
		t.Helper()
		text, got := s.call(tool, `{}`)
		if got.Result.IsError || !strings.Contains(text, "business") || u.count("GET /tool0") != gets {
			t.Errorf("%s: %d requests, want %d: %s", tool, u.count("GET /tool0"), gets, text)
		}
	}
	wants(a, "get_tool0", 1)
	for text := ""; !strings.Contains(text, "db0"); { // it is put after the call was answered
		text = ask(t, address, "INFO keyspace")
		if n := strings.Count(ask(t, address, "KEYS tenon:1:*"), "tenon:1:"); n < 3 { // two entries of the roll, and it
			text = ""
		}
	}
	wants(b, "get_tool0", 1)
	wants(b, "drop_tool0", 1)
	wants(a, "get_tool0", 2)
	for key := range strings.FieldsSeq(ask(t, address, "KEYS *")) {
		if text := ask(t, address, "GET "+key); strings.Contains(text, "business") || strings.Contains(key, "tool0") {
			t.Errorf("%s is %s", key, text)
		}
	}
	ask(t, address, "SHUTDOWN NOSAVE")
	wants(a, "get_tool0", 2) // from its own memory
	wants(b, "drop_tool0", 2)
	wants(b, "get_tool0", 3)
}

// ask sends one command to a server and returns what it says.
func ask(t *testing.T, address, command string) string {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: address, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	defer c.Close()
	var words []any
	for word := range strings.FieldsSeq(command) {
		words = append(words, word)
	}
	said, err := c.Do(t.Context(), words...).Result()
	if err != nil {
		return err.Error()
	}
	return strings.Trim(fmt.Sprint(said), "[]")
}

// An access token that one replica received all use, and the store does not show it.
func TestAccessTokensAreReceivedOnce(t *testing.T) {
	address := start(t)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/token":
			fmt.Fprint(w, `{"access_token":"open sesame","token_type":"Bearer","expires_in":3600}`)
		case r.Header.Get("Authorization") != "Bearer open sesame":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, `{}`)
		}
	})
	description := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"` + u.URL + `"}],"security":[{"corp":[]}],
		"components":{"securitySchemes":{"corp":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"` + u.URL + `/token","scopes":{}}}}}},
		"paths":{"/a":{"get":{"operationId":"get_a","responses":{"200":{"description":"ok"}}}}}}`
	for range 3 {
		s := replica(t, address, u.URL, func(c *app.Config) {
			c.Defaults.Auth = []string{"corp=oauth2:env:CLIENT"}
			write(t, c.Sources[0].Spec, description)
		})
		if text, got := s.call("get_a", `{}`); got.Result.IsError || got.Error.Message != "" {
			t.Fatal(text)
		}
	}
	if n := u.count("POST /token"); n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
	for key := range strings.FieldsSeq(ask(t, address, "KEYS *")) {
		if text := ask(t, address, "GET "+key); strings.Contains(text, "sesame") {
			t.Errorf("%s is %s", key, text)
		}
	}
}

// wire is a proxy before the store that counts what clients send: a round trip is one
// write, however many commands are in it.
type wire struct {
	address string
	sent    atomic.Int64
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w := &wire{address: l.Addr().String()}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
			go func() {
				defer out.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := in.Read(b)
					if err != nil {
						return
					}
					w.sent.Add(1)
					if _, err := out.Write(b[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return w
}

// A call costs one round trip for all of its limits, and a confirmation two, one for
// each of its calls.
func TestRoundTrips(t *testing.T) {
	address := start(t)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	for name, tt := range map[string]struct {
		limits []string
		calls  []string // tool and arguments
		trips  int64
	}{
		"nothing is kept":              {nil, []string{"get_tool0 {}"}, 0},
		"limits":                       {[]string{"everybody=rate 100/s day 1000", "everybody get_*=rate 100/m", "everybody=rate 100/s shared"}, []string{"get_tool0 {}"}, 1},
		"a confirmation":               {nil, []string{"drop_tool0 {}", `drop_tool0 {"confirmed":true}`}, 2},
		"a confirmation with a limit":  {[]string{"everybody=rate 100/s"}, []string{"drop_tool0 {}", `drop_tool0 {"confirmed":true}`}, 4},
		"a call of a tool that is not": {[]string{"everybody=rate 100/s"}, []string{"no_tool {}"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, address)
			s := replica(t, w.address, u.URL, func(c *app.Config) { c.Limits = tt.limits; c.Defaults.Confirm.All = "arg" })
			least := int64(1 << 60)
			for range 5 { // what the roll of replicas sends in between only adds
				before := w.sent.Load()
				for _, call := range tt.calls {
					tool, args, _ := strings.Cut(call, " ")
					if text, got := s.call(tool, args); got.Result.IsError && !strings.Contains(text, "onfirm") {
						t.Fatal(text)
					}
				}
				least = min(least, w.sent.Load()-before)
			}
			if least != tt.trips {
				t.Errorf("%d round trips, want %d", least, tt.trips)
			}
		})
	}
}

// A store that keeps too much says so of confirmations and parts, and costs calls that
// need none nothing.
func TestServingWithAStoreThatIsFull(t *testing.T) {
	address := start(t, "--maxmemory-policy", "noeviction")
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprint(w, `["`+strings.Repeat(`x","`, 30_000)+`"]`)
	})
	s := replica(t, address, u.URL, func(c *app.Config) {
		c.Defaults.CacheBytes = 1 << 20
		c.Defaults.Confirm.Tools = []app.ToolValue{{Pattern: "drop_*", Value: "arg"}}
		c.Limits = []string{"everybody get_tool2=rate 100/s"}
	})
	ask(t, address, "CONFIG SET maxmemory 1")
	for call, want := range map[string]string{
		"drop_tool0": "The confirmation that this call needs cannot be stored now. Nothing was sent.",
		"get_tool0":  "The store is full and cannot keep its parts.",
		"get_tool2":  "limit",
	} {
		if text, got := s.call(call, `{}`); !strings.Contains(text, want) || !got.Result.IsError && got.Error.Message == "" {
			t.Errorf("%s: %.500s", call, text)
		}
	}
	ask(t, address, "CONFIG SET maxmemory 0")
	if text, _ := s.call("drop_tool0", `{}`); !strings.Contains(text, "onfirm") || strings.Contains(text, "cannot be stored") {
		t.Errorf("when there is room again: %.500s", text)
	}
}

// What is wrong with a store is said at the start: where, what and what to do.
func TestStoresThatCannotBeUsed(t *testing.T) {
	guarded := start(t, "--requirepass", "s3cret")
	free := start(t)
	copied := start(t, append([]string{"--replicaof"}, strings.Split(free, ":")...)...)
	limited := start(t, "--user", "tenon", "on", ">s3cret", "+ping", "~other:*")
	for name, tt := range map[string]struct {
		url, password, want string
	}{
		"no password":      {"redis://" + guarded, "", "store-password"},
		"a wrong password": {"redis://" + guarded, "env:SECRET", "refuses the user or the password"},
		"an unknown user":  {"redis://bob@" + guarded, "env:PASSWORD", "refuses the user or the password"},
		"a copy":           {"redis://" + copied, "", "is a copy that cannot be written to"},
		"no rights":        {"redis://tenon@" + limited, "env:PASSWORD", "docs/replicas.md"},
		"nobody there":     {"redis://127.0.0.1:1", "", "does not answer"},
		"no such master":   {"redis+sentinel://" + free + "/shop", "", "does not answer"},
	} {
		c := newConfig(t, "", "http://127.0.0.1:9", func(c *app.Config) { c.Store, c.StorePassword = tt.url, tt.password })
		a, _, err := newApp(t, c, commonSecret)
		if err == nil {
			a.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if text := err.Error(); !strings.Contains(text, tt.want) || strings.Contains(text, "s3cret") || strings.Contains(text, commonSecret) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Replicas that keep things in another form are told of, and what they keep is not read.
func TestKeysOfAnotherVersion(t *testing.T) {
	address := start(t)
	ask(t, address, "HSET tenon:versions 2 "+strconv.FormatInt(time.Now().Unix(), 10)+" 3 1 x y")
	ask(t, address, "SET tenon:2:0123 {}")
	s := replica(t, address, "http://127.0.0.1:9", nil)
	if said := s.said.String(); !strings.Contains(said, `WARNING: the store was used by replicas that keep things in another form ("2" at `) || strings.Contains(said, `"3"`) {
		t.Errorf("it said %q", said)
	}
	if text := ask(t, address, "HGET tenon:versions 1"); len(text) != 10 {
		t.Errorf("it is not in the list: %q", text)
	}
	other := replica(t, start(t), "http://127.0.0.1:9", nil)
	if said := other.said.String(); said != "" {
		t.Errorf("where there is no other version it said %q", said)
	}
}
