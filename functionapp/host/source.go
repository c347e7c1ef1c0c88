// Package host serves a function app: it reads the folder that describes the
// app's functions, runs the worker that contains them, and returns tools,
// resources and prompts whose calls are sent to that worker.
//
// It does not know MCP servers, other languages' workers or Azure. Files and
// messages are parsed by package functionapp, processes are managed by
// internal/proc.
//
// It is a source: [Source.Load] reads the description, and the handlers of its
// features call the worker.
//
// Invariants:
//
//   - A call is sent to a worker once. Whether it was executed is reported as
//     known, never guessed.
//   - An error in one function affects only that function.
//   - The worker gets only the environment that it is given.
//   - When Close has returned, the worker has ended and its port is free.
package host

import (
	"log/slog"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Options configure a Source. The zero value works.
type Options struct {
	Policy                     tenon.Policy   // handling of violations; empty: Enforce
	Envelope                   tenon.Envelope // empty: Native
	PublishIncompatibleSchemas bool           // publish output schemas that are not safe for clients
	Environ                    []string       // "NAME=value": environment of the worker in addition to the app's settings
	Logger                     *slog.Logger   // output and state changes of the worker; nil: not logged
	OnDemand                   bool           // start the worker with the first call; false: with Load
	StartTimeout               time.Duration  // timeout for a worker to start; 0: 30 s
	Backoff                    time.Duration  // delay before the first restart; doubles up to 30 s; 0: 250 ms
	MaxCrashes                 int            // consecutive crashes without a successful call after which the worker is given up; 0: 5
	Drain                      time.Duration  // time for running calls when the app is reloaded or closed; 0: 10 s
	TrustPort                  bool           // trust any program on the worker's port; false: only connections that the worker or its children accepted, where the system reports it (Linux, Windows)
	MaxAnswer                  int64          // maximum bytes of a worker's response; 0: 32 MiB
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
	retired sync.WaitGroup // workers that are ending

	loading sync.Mutex // held by Load

	mu      sync.Mutex
	held    watch.Sums  // state of the files at the last read
	inForce *generation // generation being served; nil: nothing was loaded, or the app is closed
	next    *generation // generation of the last Load until it is served; nil: it is
	closed  bool
}

var (
	_ tenon.Watcher = (*Source)(nil)
	_ tenon.Settler = (*Source)(nil)
)

// New returns the app in dir. It reads and starts nothing.
func New(dir string, o Options) *Source { return &Source{dir: dir, o: o.withDefaults()} }

// offer returns the features of an app.
func (s *generation) offer() tenon.Features {
	o := tenon.Features{Diagnostics: s.app.Diagnostics}
	for i := range s.app.Functions {
		f := &s.app.Functions[i]
		switch {
		case f.Tool != nil:
			o.Tools = append(o.Tools, s.tool(f))
		case f.template != nil && f.Resource != nil:
			o.ResourceTemplates = append(o.ResourceTemplates, s.template(f))
		case f.Resource != nil:
			o.Resources = append(o.Resources, s.resource(f))
		case f.Prompt != nil:
			o.Prompts = append(o.Prompts, s.prompt(f))
		}
	}
	return o
}

// Identity returns the name, version and instructions in the current host.json,
// or empty texts.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce == nil {
		return "", "", ""
	}
	i := s.inForce.app.Host.Server
	return i.Name, i.Version, i.Instructions
}
