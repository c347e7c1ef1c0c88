package incident_test

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// Whatever ends a goroutine but a return is an incident: its id links what was
// told to the log, which has the cause, and nothing else is told.
func TestIncidents(t *testing.T) {
	for name, f := range map[string]func(){
		"panic":     func() { panic("a secret") },
		"index":     func() { var list []int; _ = list[len(list)] },
		"nil panic": func() { panic(any(nil)) },
		"goexit":    func() { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, nil))
			told := make(chan *incident.Error, 1)
			incident.Go(log, "a piece of work", f, func(e *incident.Error) { told <- e })
			e := <-told
			if text := e.Error(); strings.Contains(text, "secret") || !strings.Contains(text, e.ID) || !strings.Contains(text, "a piece of work") {
				t.Error(text)
			}
			if line := out.String(); !strings.Contains(line, e.ID) || !strings.Contains(line, "stack=") {
				t.Error(line)
			}
		})
	}
}

func TestWorkThatReturnsIsNoIncident(t *testing.T) {
	if err := incident.Catch(slog.New(slog.DiscardHandler), "work", func() {}, func(*incident.Error) { t.Error("told") }); err != nil {
		t.Error(err)
	}
}

// A group runs no more at a time than it may, and outlives every panic.
func TestGroupIsBounded(t *testing.T) {
	g := incident.NewGroup(slog.New(slog.DiscardHandler), "work", 2)
	var running, most, failed atomic.Int32
	for i := range 50 {
		g.Go(func() {
			defer running.Add(-1)
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			runtime.Gosched()
			if i%2 == 0 {
				panic(i)
			}
		}, func(*incident.Error) { failed.Add(1) })
	}
	g.Wait()
	if most.Load() > 2 || failed.Load() != 25 {
		t.Errorf("%d at a time, %d failed", most.Load(), failed.Load())
	}
}
