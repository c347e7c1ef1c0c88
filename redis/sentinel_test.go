package redis_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/redis"
	"github.com/tenon-mcp/tenon/tenontest"
)

// watched are a server and its copy, which a sentinel watches.
type watched struct {
	t              *testing.T
	main, sentinel string
	kill           func() // of the server that is written to
}

func startWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t}
	w.main, w.kill = startServer(t, "--appendonly", "yes", "--repl-diskless-sync-delay", "0")
	host, port, _ := net.SplitHostPort(w.main)
	copied := start(t, "--appendonly", "yes", "--repl-diskless-sync-delay", "0", "--replicaof", host, port)
	// A copy that was not filled yet would be promoted empty.
	until(t, func() bool { return strings.Contains(ask(t, copied, "INFO replication"), "master_link_status:up") })
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	write(t, file, "sentinel monitor shop "+host+" "+port+" 1\nsentinel down-after-milliseconds shop 500\nsentinel failover-timeout shop 2000\n")
	w.sentinel = start(t, file, "--sentinel")
	until(t, func() bool {
		_, port, _ := net.SplitHostPort(copied)
		return strings.Contains(ask(t, w.sentinel, "SENTINEL replicas shop"), port)
	})
	return w
}

// until asks until it is so. A test that waits for ever ends with the time of all.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		time.Sleep(20 * time.Millisecond)
	}
}

// failOver kills the server that is written to, and waits until its copy is.
func (w *watched) failOver() {
	w.t.Helper()
	// What the copy has not got yet would be lost, whoever keeps it.
	if text := ask(w.t, w.main, "WAIT 1 5000"); text != "1" {
		w.t.Fatalf("the copy does not follow: %q", text)
	}
	_, port, _ := net.SplitHostPort(w.main)
	w.kill()
	until(w.t, func() bool {
		return !strings.Contains(ask(w.t, w.sentinel, "SENTINEL get-master-addr-by-name shop"), " "+port)
	})
}

// TestStoreBehindSentinels runs the checks of every Store before a failover, and after it
// with stores that were open before.
func TestStoreBehindSentinels(t *testing.T) {
	w := startWatched(t)
	url := "redis+sentinel://" + w.sentinel + "/shop"
	var mu sync.Mutex
	var opened []*redis.Store
	for i := range 40 { // more than there are checks
		opened = append(opened, open(t, url, redis.Options{Prefix: "after" + strconv.Itoa(i)}))
	}
	t.Cleanup(func() {
		for _, s := range opened {
			_ = s.Close()
		}
	})
	t.Run("before", func(t *testing.T) {
		tenontest.Store(t, func(t *testing.T) tenon.Store { return open(t, url, redis.Options{Prefix: t.Name()}) }, tenontest.StateOptions{})
	})
	w.failOver()
	for _, s := range opened { // until it has heard of the other server
		until(t, func() bool { return s.Put(t.Context(), "k", nil, time.Millisecond) == nil })
	}
	t.Run("after", func(t *testing.T) {
		tenontest.Store(t, func(*testing.T) tenon.Store {
			mu.Lock()
			defer mu.Unlock()
			s := opened[0]
			opened = opened[1:]
			return s
		}, tenontest.StateOptions{})
	})
}

// Confirmations, parts and limits of before a failover count after it, at every replica.
func TestServingThroughAFailover(t *testing.T) {
	w := startWatched(t)
	u := newUpstream(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			var all []string
			for i := range 20_000 {
				all = append(all, strconv.Itoa(i))
			}
			_ = json.NewEncoder(rw).Encode(all)
			return
		}
		fmt.Fprint(rw, `{}`)
	})
	settings := func(c *app.Config) {
		c.Store = "redis+sentinel://" + w.sentinel + "/shop"
		c.Limits = []string{"everybody get_tool2=day 2 shared"}
		c.Defaults.Confirm.Tools = []app.ToolValue{{Pattern: "drop_*", Value: "arg"}}
	}
	a, b := replica(t, "", u.URL, settings), replica(t, "", u.URL, settings)
	if text, got := a.call("drop_tool0", `{}`); !strings.Contains(text, "confirmed: true") || got.Error.Message != "" {
		t.Fatalf("no confirmation is wanted: %.500s", text)
	}
	text, _ := a.call("get_tool0", `{}`)
	_, rest, _ := strings.Cut(text, `"resume_token":"`)
	token, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no parts: %.500s", text)
	}
	_, _ = a.call("get_tool2", `{}`)
	w.failOver()
	var last string
	until(t, func() bool { // the second of two calls a day, once the store is there again
		var got answer
		last, got = b.call("get_tool2", `{}`)
		return !got.Result.IsError && got.Error.Message == ""
	})
	until(t, func() bool {
		text, _ = a.call("get_tool2", `{}`)
		return strings.Contains(text, "allows 2 calls a day")
	})
	if n := u.count("GET /tool2"); n != 2 {
		t.Errorf("%d calls were made, 2 a day are allowed: %.300s", n, last)
	}
	if text, got := b.call("drop_tool0", `{"confirmed":true}`); got.Result.IsError || u.count("DELETE /tool0") != 1 {
		t.Errorf("the confirmation is lost: %.500s", text)
	}
	if text, got := b.call("next_part", `{"resume_token":"`+token+`"}`); got.Result.IsError || !strings.Contains(text, "19999") && !strings.Contains(text, "resume_token") {
		t.Errorf("the part is lost: %.500s", text)
	}
	if n := u.count("GET /tool0"); n != 1 {
		t.Errorf("the upstream was asked %d times for one result", n)
	}
}
