package host_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/functionapp"
)

// pidOf asks the worker behind a catalog who it is.
func pidOf(t *testing.T, call func(tool, args string) outcome) string {
	t.Helper()
	got := call("pid", `{}`)
	if got.IsError || got.Text == "" {
		t.Fatalf("%+v", got)
	}
	return got.Text
}

// TestAnAppThatCannotStartReplacesNothing reloads into apps whose worker never
// answers: the worker before goes on, in its own process where it need not leave
// its port, and the next good change is served.
func TestAnAppThatCannotStartReplacesNothing(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		for _, manner := range []string{"die at start", "never listen", "there is no such program"} {
			t.Run(manner, func(t *testing.T) {
				port := 0
				if fixed {
					port = unusedPort(t)
				}
				bad := hostFile(manner, port)
				if strings.HasPrefix(manner, "there is no") {
					bad = `{"customHandler":{"description":{"defaultExecutablePath":"/no/such/program"}}}`
				}
				dir := newApp(t, "plain", functionapp.Tool{Name: "Pid", Envelope: false})
				write(t, dir, "host.json", hostFile("plain", port))
				o := quick()
				o.StartTimeout, o.MaxCrashes = 2*time.Second, 2
				g, s := serve(t, dir, o)
				ask := func(tool, args string) outcome { return call(t, g, tool, args) }
				before := pidOf(t, ask)
				write(t, dir, "host.json", bad)
				if _, err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "the one before goes on") {
					t.Fatalf("the reload: %v", err)
				}
				now := pidOf(t, ask)
				if !fixed && now != before {
					t.Errorf("the worker before was %s and is %s", before, now)
				}
				write(t, dir, "host.json", hostFile("plain", port))
				g = load(t, s)
				s.Settle(true)
				if again := pidOf(t, ask); again == now {
					t.Error("a good change is not served")
				}
			})
		}
	}
}

// TestAWorkerStaysUntilTheCatalogStands loads a good change whose catalog is
// refused, and one that is served.
func TestAWorkerStaysUntilTheCatalogStands(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		port := 0
		if fixed {
			port = unusedPort(t)
		}
		dir := newApp(t, "plain", functionapp.Tool{Name: "Pid"})
		write(t, dir, "host.json", hostFile("plain", port))
		first, s := serve(t, dir, quick())
		pid := func() string {
			return pidOf(t, func(tool, args string) outcome { return call(t, first, tool, args) })
		}
		before := pid()
		load(t, s)
		s.Settle(false)
		if now := pid(); now != before && !fixed {
			t.Errorf("a catalog that was refused took the worker %s away: %s answers", before, now)
		}
		before = pid()
		second := load(t, s)
		if now := pid(); now != before && !fixed {
			t.Errorf("before the catalog stood, %s answered for %s", now, before)
		}
		s.Settle(true)
		after := pid()
		if after == before {
			t.Error("the worker before was not replaced")
		}
		if now := pidOf(t, func(tool, args string) outcome { return call(t, second, tool, args) }); now != after {
			t.Errorf("two workers answer: %s and %s", now, after)
		}
		load(t, s) // never settled, and closed
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestACallSettles: who makes calls through a new offer serves it.
func TestACallSettles(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Pid"})
	first, s := serve(t, dir, quick())
	second := load(t, s)
	var pids [2]string
	pids[1] = pidOf(t, func(tool, args string) outcome { return call(t, second, tool, args) })
	pids[0] = pidOf(t, func(tool, args string) outcome { return call(t, first, tool, args) })
	if pids[0] != pids[1] {
		t.Errorf("two workers answer: %v", pids)
	}
}

// TestCallsDuringReloads has callers that see no reload, good or bad.
func TestCallsDuringReloads(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		port := 0
		if fixed {
			port = unusedPort(t)
		}
		dir := newApp(t, "plain", functionapp.Tool{Name: "Echo", Envelope: true})
		write(t, dir, "host.json", hostFile("plain", port))
		o := quick()
		o.StartTimeout, o.MaxCrashes = 20*time.Second, 2
		g, s := serve(t, dir, o)
		stop := make(chan struct{})
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if got := call(t, g, "echo", `{"n":1}`); got.IsError {
						t.Errorf("fixed %v: %+v", fixed, got)
						return
					}
				}
			})
		}
		for n := range 6 {
			manner, served := "plain", n%3 != 1
			if n%3 == 2 {
				manner = "die at start"
			}
			write(t, dir, "host.json", hostFile(manner, port))
			if _, err := s.Load(t.Context()); (err != nil) != (manner != "plain") {
				t.Errorf("fixed %v, %d: %v", fixed, n, err)
			}
			s.Settle(served)
		}
		close(stop)
		callers.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func unusedPort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return portOf(t, l)
}
