package host

import (
	"context"
	"fmt"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// generation is the app as one Load found it, with its worker. Its handlers
// call its own worker while that is running, and then the current one.
type generation struct {
	*Source

	app      *App
	worker   *worker       // guarded by Source.mu
	replaced *generation   // generation whose worker released the port for this one; nil: none
	tried    chan struct{} // closed when the worker has answered or failed
}

// Load reads the app and starts its worker, or with OnDemand lets the first
// call start it; calls wait until it responds.
//
// A second Load starts a new worker next to the running one and returns when it
// responds; if it does not, Load fails and nothing changes. The old worker
// keeps running until the new features are known to be served, by Settle or by
// a call; then it finishes its calls and exits. Where host.json fixes the port,
// two workers cannot run: the old one finishes its calls first, and is
// restarted if the new one fails.
func (s *Source) Load(ctx context.Context) (tenon.Features, error) {
	s.loading.Lock()
	defer s.loading.Unlock()
	held := watch.Read(s.files())
	app, err := Read(s.dir, s.o.Environ)
	if err != nil {
		return tenon.Features{}, err
	}
	if app.Host.Executable == "" {
		return tenon.Features{}, badApp(fmt.Sprintf("the host.json of %s names no worker: customHandler.description.defaultExecutablePath", s.dir), nil)
	}
	g := &generation{Source: s, app: app, tried: make(chan struct{})}
	defer close(g.tried)
	waits, err := s.take(g) //nolint:contextcheck // the worker outlives Load; Close ends it
	if err == nil && waits {
		err = s.stands(ctx, g)
	}
	if err != nil {
		return tenon.Features{}, err
	}
	s.mu.Lock()
	s.held = held
	s.mu.Unlock()
	return g.offer(), nil
}

// take makes g current where nothing is, else a candidate. waits reports
// whether the worker is being started while another one could continue.
func (s *Source) take(g *generation) (waits bool, err error) {
	s.Settle(false) // features of an earlier Load
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, badApp("the app was closed", nil)
	}
	before := s.inForce
	if before == nil {
		g.worker, s.inForce = newWorker(g.app, s.o, nil), g
	} else {
		var leaving *worker
		if port := g.app.Host.Port; port != 0 && port == before.app.Host.Port {
			g.replaced, leaving = before, before.worker
			s.retire(leaving)
		}
		g.worker, s.next = newWorker(g.app, s.o, leaving), g
	}
	if s.o.OnDemand {
		return false, nil
	}
	g.worker.begin()
	return before != nil, nil
}

// stands waits until the worker of g responds. If it does not in time, g is
// discarded.
func (s *Source) stands(ctx context.Context, g *generation) error {
	limit := s.o.StartTimeout
	if g.replaced != nil {
		limit += s.o.Drain + stopGrace
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := g.worker.answering(limited)
	if err == nil {
		return nil
	}
	s.Settle(false) //nolint:contextcheck // as in Load
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return badApp("the new worker of the app does not answer, and the one before goes on", err)
}

// Settle tells whether the features of the last Load are served now.
// Generations that are no longer served finish their calls and end their
// workers.
func (s *Source) Settle(served bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(served)
}

func (s *Source) settle(served bool) {
	g := s.next
	if g == nil {
		return
	}
	s.next = nil
	if served {
		before := s.inForce
		s.inForce = g
		if g.replaced == nil {
			s.retire(before.worker)
		}
		return
	}
	s.retire(g.worker)
	if before := g.replaced; before != nil {
		before.worker = newWorker(before.app, s.o, g.worker)
		before.worker.begin()
	}
}

// retire lets w finish its calls and exit, in the background.
func (s *Source) retire(w *worker) {
	if w != nil {
		s.retired.Go(w.retire)
	}
}

// Close stops the workers after their running calls and returns when they have
// exited. Later calls fail.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.next != nil {
		s.settle(true)
	}
	if s.inForce != nil {
		s.retire(s.inForce.worker)
	}
	s.inForce = nil
	s.mu.Unlock()
	s.retired.Wait()
	return nil
}

// begin finds a function in the app of g, or in the current one, and its
// worker, which is kept until end is called.
func (s *Source) begin(g *generation, function string) (f *Function, w *worker, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce == nil {
		return nil, nil, nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the app is closed"}
	}
	if g == s.next {
		s.settle(true) // a call proves that it is served
	}
	g = s.current(g)
	if f = g.app.find(function); f == nil {
		return nil, nil, nil, &tenon.Error{Code: tenon.CodeNotFound, Message: "the app does not have the function " + function + " any more"}
	}
	g.worker.calls.Add(1)
	return f, g.worker, g.worker.calls.Done, nil
}

// current returns the generation that handles the calls of g.
func (s *Source) current(g *generation) *generation {
	switch {
	case g == s.next:
		return g
	case s.next != nil && s.next.replaced != nil:
		return s.next // the port is free
	}
	return s.inForce
}

// hasMoved reports whether calls of g now go to another worker than w. It waits
// while w is being tried.
func (s *Source) hasMoved(ctx context.Context, g *generation, w *worker) bool {
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	if next != nil && next.worker == w {
		select {
		case <-next.tried:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inForce != nil && s.current(g).worker != w
}
