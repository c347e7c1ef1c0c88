// Package host serves a function app: it reads the folder in which the app
// describes its functions, runs the worker that holds them, and makes tools,
// resources and prompts of them whose calls go to that worker.
//
// It does not know MCP servers, other languages' workers or Azure. What the
// files and messages mean is the business of package functions, how a process
// is held that of internal/proc.
//
// It stands at the outer end of both paths: [Source.Load] reads, and the
// handlers of what it offers ask the worker.
//
// The rules that this package keeps:
//
//   - A call is sent to a worker once. Whether it was executed is told as it
//     is known, never guessed.
//   - What is wrong with one function costs that function.
//   - The worker sees the environment that it is given, and no other.
//   - When Close has returned there is no worker, and its port is free.
package host

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Options are the choices of New. The zero value works.
type Options struct {
	Policy          tenon.Policy  // what a breach leads to; empty: Enforce
	Shape           tenon.Shape   // empty: Native
	AdvertiseAnyway bool          // output schemas that are not safe for clients are published all the same
	Environ         []string      // "NAME=value": the worker's environment beside the app's settings; nil: nothing
	Logger          *slog.Logger  // what the worker says, starts and ends; nil: nothing is logged
	OnDemand        bool          // the worker is started by the first call; false: by Load
	StartTimeout    time.Duration // until a started worker answers; 0: 30 s
	Backoff         time.Duration // before the first of several restarts; each doubles it, up to 30 s; 0: 250 ms
	MaxCrashes      int           // crashes in a row, without a good answer between, after which a worker is given up; 0: 5
	Drain           time.Duration // what calls under way may take when the app is reloaded or closed; 0: 10 s
	TrustPort       bool          // whoever listens at the worker's port is the worker; false: only what it or its children accepted, where the system tells (Linux)
	MaxAnswer       int64         // bytes of a worker's answer; 0: 32 MiB
}

func (o Options) withDefaults() Options {
	o.Logger = orElse(o.Logger, slog.New(slog.DiscardHandler))
	o.Policy = orElse(o.Policy, tenon.Enforce)
	o.StartTimeout = orElse(o.StartTimeout, 30*time.Second)
	o.Backoff = orElse(o.Backoff, 250*time.Millisecond)
	o.MaxCrashes = orElse(o.MaxCrashes, 5)
	o.Drain = orElse(o.Drain, 10*time.Second)
	o.MaxAnswer = orElse(o.MaxAnswer, 32<<20)
	return o
}

func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

// Source is a function app in a folder. It is safe for concurrent use.
type Source struct {
	dir     string
	o       Options
	retired sync.WaitGroup // of workers that are ending

	mu     sync.Mutex
	held   watch.Held // by the files when the app in force was read
	app    *App       // the one in force
	worker *worker    // its worker
	closed bool
}

var _ tenon.Watcher = (*Source)(nil)

// New returns the app in dir. Nothing is read or started yet.
func New(dir string, o Options) *Source { return &Source{dir: dir, o: o.withDefaults()} }

// Load reads the app and starts its worker, or with OnDemand lets the first
// call start it; calls wait until it answers. A
// second Load puts the app as it is now in the place of the first: calls under
// way end in the old worker, which then ends, and all others go to the new one.
func (s *Source) Load(context.Context) (tenon.Offer, error) {
	held := watch.Read(s.files())
	app, err := Read(s.dir, s.o.Environ)
	if err != nil {
		return tenon.Offer{}, err
	}
	if app.Host.Executable == "" {
		return tenon.Offer{}, badApp(fmt.Sprintf("the host.json of %s names no worker: customHandler.description.defaultExecutablePath", s.dir), nil)
	}
	offer := s.offer(app)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return tenon.Offer{}, badApp("the app was closed", nil)
	}
	before := s.worker
	s.held, s.app, s.worker = held, app, newWorker(app, s.o, before)
	if !s.o.OnDemand {
		s.worker.begin() //nolint:contextcheck // the worker outlives the loading; Close ends it
	}
	s.retire(before)
	return offer, nil
}

// retire lets w end its calls and then itself, in the background.
func (s *Source) retire(w *worker) {
	if w != nil {
		s.retired.Go(w.retire)
	}
}

// Close ends the worker, after the calls under way, and returns when it is
// gone. Later calls fail.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	s.retire(s.worker)
	s.worker, s.app = nil, nil
	s.mu.Unlock()
	s.retired.Wait()
	return nil
}

// begin finds a function in the app in force, and its worker, which stays
// until end is called.
func (s *Source) begin(function string) (f *Function, w *worker, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.app == nil {
		return nil, nil, nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the app is closed"}
	}
	if f = s.app.find(function); f == nil {
		return nil, nil, nil, &tenon.Error{Code: tenon.CodeNotFound, Message: "the app does not have the function " + function + " any more"}
	}
	s.worker.calls.Add(1)
	return f, s.worker, s.worker.calls.Done, nil
}

// offer makes what clients see of an app's functions.
func (s *Source) offer(a *App) tenon.Offer {
	o := tenon.Offer{Faults: a.Faults}
	for i := range a.Functions {
		f := &a.Functions[i]
		switch {
		case f.Tool != nil:
			o.Tools = append(o.Tools, s.tool(f))
		case f.template != nil && f.Resource != nil:
			o.Templates = append(o.Templates, s.template(f))
		case f.Resource != nil:
			o.Resources = append(o.Resources, s.resource(f))
		case f.Prompt != nil:
			o.Prompts = append(o.Prompts, s.prompt(f))
		}
	}
	return o
}

// Identity is how the host.json in force names the app's MCP server, and what
// it tells models of it; what it does not say is empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.app == nil {
		return "", "", ""
	}
	i := s.app.Host.Server
	return i.Name, i.Version, i.Instructions
}
