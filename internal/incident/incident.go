// Package incident starts goroutines that run foreign code or read foreign data.
// A panic there would end the process with all calls; here it ends one piece of
// work and logs a line with an id.
//
// It does not know what the work is: its caller handles the failure. A test of
// the root finds goroutines that are started in another way.
package incident

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Error represents a panic. Its text has only the id.
type Error struct {
	ID   string // also in the log, beside the panic and its stack
	What string // what failed, for example "internal error in a task"
}

func (e *Error) Error() string {
	return e.What + "; see incident " + e.ID + " in the log"
}

// Report logs a line and returns its id. A nil logger is the default one; more
// are keys and values as in the methods of slog.
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

// Catch runs f and turns a panic into an error; nil: f returned. failed, which can
// be nil, is called if f ends its goroutine (runtime.Goexit).
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

// Go runs f in a goroutine. failed, which can be nil, is called if f does not
// return, so that a waiting goroutine is woken.
func Go(log *slog.Logger, what string, f func(), failed func(*Error)) {
	go func() { _ = Catch(log, what, f, failed) }()
}

// Group runs functions in a bounded number of goroutines.
type Group struct {
	log    *slog.Logger
	what   string
	places chan struct{}
	wait   sync.WaitGroup
}

// NewGroup returns a group with at most limit goroutines at a time.
func NewGroup(log *slog.Logger, what string, limit int) *Group {
	return &Group{log: log, what: what, places: make(chan struct{}, max(limit, 1))}
}

// Go runs f as [Go] does, and waits while the limit is reached.
func (g *Group) Go(f func(), failed func(*Error)) {
	g.places <- struct{}{}
	g.wait.Go(func() {
		defer func() { <-g.places }()
		_ = Catch(g.log, g.what, f, failed)
	})
}

// Wait returns when all functions have ended.
func (g *Group) Wait() { g.wait.Wait() }
