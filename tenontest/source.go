package tenontest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gofunc"
)

// SourceOptions say how a source can be checked. The zero value works.
type SourceOptions struct {
	// Samples are calls that may be made, whatever they change, and how they
	// have to end.
	Samples []Sample
	// SamplesOnly makes no other calls. Without, tools that are marked as
	// read-only are called, too, with arguments made of their input schemas, and
	// resources are read; what comes back may be an error then.
	SamplesOnly bool
	// Timeout is the longest that anything may take: a Load, a call, the end of
	// a goroutine. 0: ten seconds.
	Timeout time.Duration
	// Requester answers what tools ask; nil: nobody can be asked.
	Asker tenon.Requester
}

// Sample is a call of one tool.
type Sample struct {
	Tool string     // as the source names it
	Args string     // a JSON object; empty: made of the input schema
	Code tenon.Code // of the error in which the call ends; empty: it succeeds

	// Begun says that the call is under way. It is cancelled then and has to end;
	// nil: the call runs to its end.
	Begun <-chan struct{}
}

// Source checks a source: open returns a new one over the same description each
// time, and is called twice. All that is wrong is reported, a line each.
//
//   - Load: ends in time, also with a context that has ended; finds the same
//     each time, in the same order
//   - tools: names, texts, hints; a handler each
//   - schemas: compile, stand alone, have the dialect 2020-12; what is published
//     accepts what calls are checked against
//   - calls (see [SourceOptions]): the answer fits its schema, errors are of a
//     known class and say something, nothing panics, the arguments stay as they
//     are and so does an answer once given; Response.Sent says what was sent
//   - cancellation: a call ends with its context
//   - resources, templates and prompts: the same, as far as it applies
//   - concurrency: many calls and a Load at once; with the race detector
//   - Watch ends with its context; Close leaves nothing running, nor does Load
//
// What open starts beside the source, such as a server for tests, must end with
// the source's Close; start it before.
func Source(t testing.TB, open func() tenon.Source, o SourceOptions) {
	t.Helper()
	c := &sourceCheck{o: o, timeout: o.Timeout}
	if c.timeout == 0 {
		c.timeout = 10 * time.Second
	}
	c.labelled(t.Context(), func(ctx context.Context) { c.run(ctx, open) })
	c.mu.Lock() // what hangs may still have something to say
	defer c.mu.Unlock()
	for _, n := range c.notes {
		t.Log(n)
	}
	for _, p := range c.problems {
		t.Error(p)
	}
}

// Functions checks typed functions as [Source] does. A function is called if it
// is marked as read-only or has a [Sample].
func Functions(t testing.TB, functions gofunc.Functions, o SourceOptions) {
	t.Helper()
	Source(t, func() tenon.Source { return functions }, o)
}

// sourceCheck is one check under way.
type sourceCheck struct {
	o       SourceOptions
	timeout time.Duration
	label   string // of the goroutines that it starts, and those that they start

	mu       sync.Mutex
	problems []string
	notes    []string
	given    []givenBody
}

// problem takes down what is wrong, once.
func (c *sourceCheck) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := fmt.Sprintf(format, args...); !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

func (c *sourceCheck) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// within runs f and reports whether it returned in time. A panic and an end
// that does not come are problems.
func (c *sourceCheck) within(what string, f func()) (returned bool) {
	done := make(chan bool, 1)
	go func() {
		ok := false
		defer func() {
			if p := recover(); p != nil {
				c.problem("%s panics: %v", what, p)
			}
			done <- ok
		}()
		f()
		ok = true
	}()
	late := time.NewTimer(c.timeout)
	defer late.Stop()
	select {
	case ok := <-done:
		return ok
	case <-late.C:
		c.problem("%s has not returned after %v", what, c.timeout)
		return false
	}
}

func (c *sourceCheck) run(ctx context.Context, open func() tenon.Source) {
	s := open()
	if s == nil {
		c.problem("open returns no source")
		return
	}
	offer, ok := c.load(ctx, s, "Load")
	if ok {
		c.offered(offer)
		ok = c.contracts(offer)
	}
	if ok {
		c.sameAgain(ctx, s, open, offer)
		c.watched(ctx, s)
		offer, ok = c.endedLoad(ctx, s)
	}
	if ok {
		c.used(ctx, s, offer)
	}
	c.end(s, "Close")
	if ok {
		c.afterwards(ctx, s, offer)
	}
	c.unchanged()
	c.leftRunning(s)
}

// load loads a source. The offer counts only where ok is true.
func (c *sourceCheck) load(ctx context.Context, s tenon.Source, what string) (offer tenon.Features, ok bool) {
	var found tenon.Features
	var err error
	if !c.within(what, func() { found, err = s.Load(ctx) }) {
		return offer, false
	}
	if err != nil {
		c.problem("%s: %v", what, err)
		return offer, false
	}
	return found, true
}

// reload loads a source once more and serves what it offers, as a server does.
func (c *sourceCheck) reload(ctx context.Context, s tenon.Source, what string) (offer tenon.Features, ok bool) {
	offer, ok = c.load(ctx, s, what)
	c.settle(s, ok)
	return offer, ok
}

func (c *sourceCheck) settle(s tenon.Source, served bool) {
	if s, ok := s.(tenon.Settler); ok {
		c.within("Settle", func() { s.Settle(served) })
	}
}

// reloads is how often a source is loaded again.
const reloads = 5

// sameAgain loads the source and another one over the same description.
func (c *sourceCheck) sameAgain(ctx context.Context, s tenon.Source, open func() tenon.Source, first tenon.Features) {
	want := fingerprint(first)
	before := c.running()
	for range reloads {
		again, ok := c.reload(ctx, s, "a second Load")
		if !ok {
			return
		}
		if d := difference(want, fingerprint(again)); d != "" {
			c.problem("a second Load finds something else: %s", d)
			break
		}
	}
	for _, at := range c.grown(before, reloads) {
		c.problem("each Load leaves a goroutine running: %s", at)
	}
	other := open()
	if other == nil {
		c.problem("open returns no source the second time")
		return
	}
	if again, ok := c.load(ctx, other, "Load of a second source"); ok {
		if d := difference(want, fingerprint(again)); d != "" {
			c.problem("a second source over the same description finds something else: %s", d)
		}
	}
	c.end(other, "Close of a second source")
}

// endedLoad asks for a Load that nobody waits for any more. It may still
// succeed, but it has to end. What the next Load offers is returned.
func (c *sourceCheck) endedLoad(ctx context.Context, s tenon.Source) (offer tenon.Features, ok bool) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	c.within("Load with a context that has ended", func() {
		_, err := s.Load(ended)
		c.settle(s, err == nil)
	})
	return c.reload(ctx, s, "Load after one whose context had ended")
}

// watched checks that a watch ends with its context.
func (c *sourceCheck) watched(ctx context.Context, s tenon.Source) {
	w, ok := s.(tenon.Watcher)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	c.within("Watch with a context that has ended", func() { _ = w.Watch(ctx, func() {}) })
}

// closer is a source that holds something.
type closer interface{ Close() error }

func (c *sourceCheck) end(s tenon.Source, what string) {
	if s, ok := s.(closer); ok {
		c.within(what, func() {
			if err := s.Close(); err != nil {
				c.problem("%s: %v", what, err)
			}
		})
	}
}

// afterwards calls a tool of a source that was closed: the call has to end.
func (c *sourceCheck) afterwards(ctx context.Context, s tenon.Source, offer tenon.Features) {
	if _, ok := s.(closer); !ok {
		return
	}
	for _, k := range c.samples(offer) {
		if k.Begun == nil {
			_, _ = c.handle(ctx, &k, "a call after Close") // whatever it says
			break
		}
	}
}

// difference names the first line in which two lists differ; empty: none.
func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			from := 0
			for from < min(len(a[i]), len(b[i])) && a[i][from] == b[i][from] {
				from++
			}
			return fmt.Sprintf("%s, then %s", excerpt(a[i], from), excerpt(b[i], from))
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries, then %d", len(a), len(b))
	}
	return ""
}

// excerpt is what stands around a place of s, under the name with which s
// begins.
func excerpt(s string, at int) string {
	const around = 40
	name, _, _ := strings.Cut(s, "\n")
	if at <= len(name) {
		return name
	}
	return fmt.Sprintf("%s with …%q…", name, s[max(0, at-around):min(len(s), at+around)])
}
