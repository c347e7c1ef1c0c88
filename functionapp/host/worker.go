package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/proc"
)

const (
	maxBackoff  = 30 * time.Second
	stopGrace   = 5 * time.Second // between terminating and killing a worker
	exitRestart = 200             // the exit code of a worker that wants to be restarted
)

// worker keeps an app's worker running: one process at a time, restarted after
// a crash, given up when it only crashes.
type worker struct {
	app   *App
	o     Options
	said  *saidLog
	calls sync.WaitGroup // running calls

	before *worker // predecessor that must release the port first; nil: none
	once   sync.Once
	end    context.CancelFunc // set by once
	done   chan struct{}      // closed when no process is left

	mu      sync.Mutex
	session *session      // nil: the worker is not responding now
	failed  error         // it will never respond
	changed chan struct{} // closed with every change of the two
}

// newWorker returns an app's worker, which waits until its predecessor has
// released the port.
func newWorker(app *App, o Options, before *worker) *worker {
	return &worker{app: app, o: o, said: newSaidLog(app, o), before: before, done: make(chan struct{}), changed: make(chan struct{})}
}

// begin starts the worker in the background, once.
func (w *worker) begin() {
	w.once.Do(func() {
		ctx, end := context.WithCancel(context.Background())
		w.end = end
		incident.Go(w.o.Logger, "the worker of an app", func() {
			defer close(w.done)
			if w.before != nil {
				<-w.before.done
				w.before = nil
			}
			w.run(ctx)
		}, func(e *incident.Error) { w.set(nil, e) })
	})
}

// finish ends the process and returns when it has ended. A worker that has not
// begun will not.
func (w *worker) finish() {
	w.once.Do(func() {
		w.set(nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the app is closed"})
		w.end = func() {}
		close(w.done)
	})
	w.end()
	<-w.done
}

// run keeps a process running until ctx ends or the worker is given up.
func (w *worker) run(ctx context.Context) {
	crashes := 0
	if !provable && !w.o.TrustPort {
		w.o.Logger.Warn("this system does not tell who listens at a port: any program on this machine could take the place of the worker and read the arguments of calls; --trust-worker-port says that this is accepted", "app", w.app.Dir)
	}
	for ctx.Err() == nil {
		s, err := w.start(ctx)
		if err != nil {
			w.set(nil, err)
			return
		}
		if s.ready {
			w.o.Logger.Info("the worker answers", "app", w.app.Dir, "port", s.port, "pid", s.child.PID())
			w.set(s, nil)
		}
		select {
		case <-s.child.Done():
		case <-ctx.Done():
		}
		w.set(nil, nil)
		s.close()
		if ctx.Err() != nil {
			break
		}
		if s.answered.Load() {
			crashes = 0
		}
		exit := s.child.Exit()
		if crashes++; crashes >= w.o.MaxCrashes {
			w.giveUp(fmt.Sprintf("ended %d times in a row without an answer", crashes), exit)
			return
		}
		w.o.Logger.Warn("the worker ended and is started again", "app", w.app.Dir, "exit", exit.String(), "stderr", exit.Tail)
		if exit.Code != exitRestart {
			wait(ctx, backoff(w.o.Backoff, crashes))
		}
	}
	w.set(nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the app is closed"})
}

// giveUp sets the error for all further calls. The last output of the worker is
// for the operator: it may contain anything.
func (w *worker) giveUp(why string, exit proc.Exit) {
	w.o.Logger.Error("the worker "+why+" and is given up", "app", w.app.Dir, "exit", exit.String(), "stderr", exit.Tail)
	w.set(nil, &tenon.Error{
		Code:    tenon.CodeNetwork,
		Message: fmt.Sprintf("the worker of the app %s (%s) and is not started again; the operator finds its last words in the log", why, exit),
	})
}

// backoff doubles with every crash, with 10 % jitter so that several apps do
// not start at the same time.
func backoff(first time.Duration, crashes int) time.Duration {
	d := min(first<<min(crashes-1, 20), maxBackoff)
	return d*9/10 + rand.N(d/5+1) //nolint:gosec // nothing is secret about it
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *worker) set(s *session, failed error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session, w.failed = s, failed
	close(w.changed)
	w.changed = make(chan struct{})
}

// answering returns the process that responds, and waits while it is being
// started.
func (w *worker) answering(ctx context.Context) (*session, error) {
	w.begin() //nolint:contextcheck // the worker outlives the call
	for {
		w.mu.Lock()
		s, failed, changed := w.session, w.failed, w.changed
		w.mu.Unlock()
		switch {
		case s != nil && !s.ended():
			return s, nil
		case failed != nil:
			return nil, failed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, &tenon.Error{Code: tenon.CodeTimeout, Message: "the worker of the app did not answer in time: it is being started", Err: ctx.Err()}
		}
	}
}

// retire waits for running calls, up to the drain timeout, then ends the
// process.
func (w *worker) retire() {
	idle := make(chan struct{})
	go func() {
		w.calls.Wait()
		close(idle)
	}()
	late := time.NewTimer(w.o.Drain)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
		w.o.Logger.Warn("calls were under way for too long and end with their worker", "app", w.app.Dir)
	}
	w.finish()
	<-idle
}
