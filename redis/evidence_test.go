package redis_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/evidence"
)

// The evidence of replicas adds up to that of one server that got all calls: in each of
// their files, when they have ended one after the other and one has come back.
func TestEvidenceOfReplicasAddsUp(t *testing.T) {
	address := start(t)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	})
	dir := t.TempDir()
	counting := func(name string) *served {
		return replica(t, address, u.URL, func(c *app.Config) { c.Evidence = filepath.Join(dir, name) })
	}
	a, b := counting("a"), counting("b")
	for i := range 7 {
		a.call("get_tool0", `{}`)
		if i%2 == 0 {
			b.call("get_tool0", `{}`)
			b.call("get_tool1", `{}`)
		}
	}
	a.stop()
	b.stop() // takes what a gave
	a = counting("a")
	a.call("get_tool1", `{}`)
	a.stop() // takes what b gave
	counting("b").stop()
	for _, name := range []string{"a", "b"} {
		l, err := evidence.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]int64{}
		for k, c := range l.Sum() {
			if k.Keyword == "" {
				calls[k.Operation] += c.Calls
			}
		}
		if calls["get_tool0"] != 11 || calls["get_tool1"] != 5 {
			t.Errorf("%s: %v", name, calls)
		}
	}
}

// A call whose outcome one replica does not know is sent with its key by another, also
// after the first has ended.
func TestAnotherReplicaSendsTheKeyAgain(t *testing.T) {
	address := start(t)
	var mu sync.Mutex
	var keys []string
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		first := len(keys) == 1
		mu.Unlock()
		if first {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	})
	ordering := func() *served {
		return replica(t, address, u.URL, func(c *app.Config) {
			c.Defaults.Confirm.All = "off"
			write(t, c.Sources[0].Spec, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"`+u.URL+`"}],"paths":{"/orders":{"post":{"operationId":"order",
				"parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`)
		})
	}
	a := ordering()
	if text, got := a.call("order", `{}`); !got.Result.IsError {
		t.Fatal(text)
	}
	a.stop()
	b := ordering()
	for range 2 { // the second one is another order
		if text, got := b.call("order", `{}`); got.Result.IsError {
			t.Fatal(text)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(keys) != 3 || keys[0] == "" || keys[1] != keys[0] || keys[2] == keys[0] {
		t.Errorf("%q", keys)
	}
}
