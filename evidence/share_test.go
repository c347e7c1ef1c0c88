package evidence_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// replica counts, and shares what it counts.
type replica struct {
	*evidence.Recorder

	path string
}

func newReplica(t *testing.T, store tenon.Store, dir, name string, log io.Writer) replica {
	t.Helper()
	path := filepath.Join(dir, name)
	r, err := evidence.Open(evidence.Options{Path: path, Store: store, Logger: slog.New(slog.NewTextHandler(log, nil)), Describe: func(tool any) evidence.Operation { return evidence.Operation{Name: fmt.Sprint(tool)} }})
	if err != nil {
		t.Fatal(err)
	}
	return replica{r, path}
}

func (r replica) count(n int, tool string) {
	for range n {
		r.Observe(&evidence.Observation{Tool: tool, Declared: true, Status: "200", Verdict: tenon.Fits})
	}
}

// calls are how many calls a ledger knows of each operation.
func calls(t *testing.T, path string) string {
	t.Helper()
	l, err := evidence.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	counts := l.Sum()
	for _, k := range evidence.Keys(counts) {
		all = append(all, fmt.Sprintf("%s %d", k.Operation, counts[k].Calls))
	}
	return strings.Join(all, ", ")
}

// TestReplicasShareEvidence: the file of each has the sums of all, however often they
// exchange them, also of one that was lost, and after a restart.
func TestReplicasShareEvidence(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(memstore.Options{})
		a, b, lost := newReplica(t, store, dir, "a", io.Discard), newReplica(t, store, dir, "b", io.Discard), newReplica(t, store, dir, "lost", io.Discard)
		a.count(3, "get")
		b.count(4, "get")
		b.count(1, "list")
		lost.count(5, "get")
		time.Sleep(5 * time.Minute) // several exchanges
		for _, r := range []replica{a, b} {
			if got := calls(t, r.path); got != "get 12, list 1" {
				t.Errorf("%s: %s", r.path, got)
			}
		}
		b.count(2, "get")
		if err := b.Close(); err != nil { // shares the last ones
			t.Error(err)
		}
		for i := range 64 { // the store has lost everything
			if _, _, err := store.GetAndDelete(t.Context(), fmt.Sprintf("evidence %02d", i)); err != nil {
				t.Error(err)
			}
		}
		b = newReplica(t, store, dir, "b", io.Discard) // restarts, and goes on
		b.count(10, "list")
		time.Sleep(3 * time.Minute)
		for _, r := range []replica{a, b, lost} {
			if got := calls(t, r.path); got != "get 14, list 11" {
				t.Errorf("%s: %s", r.path, got)
			}
		}
		for _, r := range []replica{a, b, lost} {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSharesOfStrangers: what is in the store and no ledger is said once, and costs
// nothing else; so does a store that is away.
func TestSharesOfStrangers(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(memstore.Options{})
		for i, text := range []string{"no ledger", `{"tenon":"evidence","version":2}`} {
			if err := store.Put(t.Context(), fmt.Sprintf("evidence %02d", i), []byte(text), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		a, b := newReplica(t, store, dir, "a", &log), newReplica(t, store, dir, "b", io.Discard)
		a.count(1, "get")
		b.count(1, "get")
		time.Sleep(3 * time.Minute)
		if got := calls(t, a.path); got != "get 2" {
			t.Error(got)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		a.count(1, "get")
		for _, r := range []replica{a, b} {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := calls(t, a.path); got != "get 3" {
			t.Error(got)
		}
		text := log.String()
		for words, times := range map[string]int{"cannot be shared": 2, "is shared with other replicas again": 1, "evidence 00 of the store: line 1: ": 1, "evidence of version 2": 1} {
			if n := strings.Count(text, words); n != times {
				t.Errorf("%q is there %d times, want %d:\n%s", words, n, times, text)
			}
		}
	})
}
