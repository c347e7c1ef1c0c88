// Package incident starts goroutines that run foreign code or read foreign
// data. A panic there would end the process with everybody's calls; here it
// costs the one piece of work, and leaves a line with an id in the log.
//
// It does not know what the work is: who starts it says what its failure means.
// arch_test.go finds the goroutines that are started in another way.
package incident

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Error stands for a panic. It says nothing of it but the id.
type Error struct {
	ID   string // stands in the log beside the panic and its stack
	What string // happened, for example "a task failed inside"
}

func (e *Error) Error() string {
	return e.What + "; the operator finds incident " + e.ID + " in the log"
}

// Report writes a line to the log, nil: the default one, and returns what its
// id is. more are keys and values, as in the methods of slog.
func Report(log *slog.Logger, what string, cause any, more ...any) *Error {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	e := &Error{ID: hex.EncodeToString(b[:]), What: what}
	if log == nil {
		log = slog.Default() //nolint:forbidigo // without a logger of its own a package must not lose the cause
	}
	log.Error(what, append([]any{"incident", e.ID, "cause", fmt.Sprint(cause)}, more...)...)
	return e
}

// Catch runs f and turns a panic into an error; nil: f returned. Where f ends
// its goroutine instead (runtime.Goexit), failed is told, which may be nil.
func Catch(log *slog.Logger, what string, f func(), failed func(*Error)) (err *Error) {
	returned := false
	defer func() {
		p := recover()
		if returned {
			return
		}
		cause := p
		if p == nil {
			cause = "the goroutine was ended"
		}
		err = Report(log, what+" failed inside", cause, "stack", string(debug.Stack()))
		if failed != nil {
			failed(err)
		}
	}()
	f()
	returned = true
	return nil
}

// Go runs f in a goroutine. failed, which may be nil, is told where f does not
// return: whoever waits for f must hear of it.
func Go(log *slog.Logger, what string, f func(), failed func(*Error)) {
	go func() { _ = Catch(log, what, f, failed) }()
}

// Group is work of which so many pieces run side by side.
type Group struct {
	log    *slog.Logger
	what   string
	places chan struct{}
	wait   sync.WaitGroup
}

// NewGroup returns a group of at most so many goroutines at a time.
func NewGroup(log *slog.Logger, what string, most int) *Group {
	return &Group{log: log, what: what, places: make(chan struct{}, max(most, 1))}
}

// Go runs f as [Go] does, and waits where too many others run.
func (g *Group) Go(f func(), failed func(*Error)) {
	g.places <- struct{}{}
	g.wait.Go(func() {
		defer func() { <-g.places }()
		_ = Catch(g.log, g.what, f, failed)
	})
}

// Wait returns when all work has ended.
func (g *Group) Wait() { g.wait.Wait() }
