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
	"log/slog"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Options are the choices of New. The zero value works.
type Options struct {
	Policy          tenon.Policy   // what a violation leads to; empty: Enforce
	Shape           tenon.Envelope // empty: Native
	AdvertiseAnyway bool           // output schemas that are not safe for clients are published anyway
	Environ         []string       // "NAME=value": the worker's environment beside the app's settings; nil: nothing
	Logger          *slog.Logger   // what the worker says, starts and ends; nil: nothing is logged
	OnDemand        bool           // the worker is started by the first call; false: by Load
	StartTimeout    time.Duration  // until a started worker answers; 0: 30 s
	Backoff         time.Duration  // before the first of several restarts; each doubles it, up to 30 s; 0: 250 ms
	MaxCrashes      int            // crashes in a row, without a good answer between, after which a worker is given up; 0: 5
	Drain           time.Duration  // what calls under way may take when the app is reloaded or closed; 0: 10 s
	TrustPort       bool           // whoever listens at the worker's port is the worker; false: only what it or its children accepted, where the system tells (Linux, Windows)
	MaxAnswer       int64          // bytes of a worker's answer; 0: 32 MiB
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

	loading sync.Mutex // held by Load

	mu      sync.Mutex
	held    watch.Held  // by the files when they were read last
	inForce *generation // whose offer is served; nil: nothing was loaded, or the app is closed
	next    *generation // of the last Load, as long as it is not known whether it is served; nil: it is
	closed  bool
}

var (
	_ tenon.Watcher = (*Source)(nil)
	_ tenon.Settler = (*Source)(nil)
)

// New returns the app in dir. Nothing is read or started yet.
func New(dir string, o Options) *Source { return &Source{dir: dir, o: o.withDefaults()} }

// offer makes what clients see of an app's functions.
func (s *generation) offer() tenon.Features {
	o := tenon.Features{Diagnostics: s.app.Faults}
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

// Identity is how the host.json in force names the app's MCP server, and what
// it tells models of it; what it does not say is empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce == nil {
		return "", "", ""
	}
	i := s.inForce.app.Host.Server
	return i.Name, i.Version, i.Instructions
}
