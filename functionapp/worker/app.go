package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/gateway"
)

// Options are the choices of New. The zero value works.
type Options struct {
	Name         string        // of the MCP server; empty: the host has one
	Version      string        // likewise
	Instructions string        // for the model; may be empty
	Executable   string        // the program, as seen from the folder of the app; empty: "worker"
	Anonymous    bool          // callers need no key of Azure's
	Timeout      time.Duration // the longest that a call may take; 0: five minutes
	Drain        time.Duration // how long calls may go on at the end before they are cancelled; 0: five seconds
	MaxBody      int64         // the largest call, in bytes; 0: 32 MiB
	Logger       *slog.Logger  // nil: nothing is logged
}

// App is a function app. It is put together by one goroutine; then it is safe
// for concurrent use.
type App struct {
	o         Options
	tools     []*Tool
	resources []*Resource
	prompts   []*Prompt
	faults    []error
}

// Property is an argument of a tool: see [Tool.WithProperty].
type Property = functionapp.Property

// New returns an app without functions.
func New(o Options) *App {
	if o.Executable == "" {
		o.Executable = "worker"
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	if o.Drain == 0 {
		o.Drain = 5 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &App{o: o}
}

// Error is a mistake in how an app is put together, with the place in the
// program where it was made.
type Error struct {
	File string
	Line int
	What string // which function of the app
	Err  error
}

// Error formats e as "file:line: what: cause".
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.What, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Err returns all mistakes that were made so far, as [*Error] values joined;
// nil: none. A chain of calls cannot return them one by one; nothing is
// written or served while there is one.
func (a *App) Err() error {
	faults := slices.Clip(a.faults)
	taken := map[string]string{}
	for _, f := range a.functions() {
		faults = append(faults, f.check(taken)...)
	}
	return errors.Join(faults...)
}

// site is a place in the program that uses this package.
type site struct {
	file string
	line int
}

// here returns the place from which this package was called.
func here() site {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/functionapp/worker.") || !more {
			return site{f.File, f.Line}
		}
	}
}

// function is what tools, resources and prompts have in common.
type function struct {
	app  *App
	site site
	what string // "tool forecast", for errors
	id   string // that of the registry of the host, where case does not count
	name string // of the function and its folder; empty: it is made of made
	made string
	runs bool // there is a handler
}

func (f *function) fault(s site, err error) *Error {
	return &Error{File: s.file, Line: s.line, What: f.what, Err: err}
}

// complain keeps a mistake of the call that is under way.
func (f *function) complain(err error) {
	if err != nil {
		f.app.faults = append(f.app.faults, f.fault(here(), err))
	}
}

// folder is the name of the function: what was given, else what can be made
// of the tool's name.
func (f *function) folder() string {
	if f.name != "" {
		return f.name
	}
	name := []byte(f.made)
	for i, c := range name {
		if !functionapp.IsFunctionName("f" + string(c)) {
			name[i] = '_'
		}
	}
	if made := string(name); functionapp.IsFunctionName(made) {
		return made
	}
	made := "f_" + string(name)
	return made[:min(len(made), 128)]
}

// check finds what no single call could know. taken holds the names of the
// functions before this one.
func (f *function) check(taken map[string]string) (faults []error) {
	if !f.runs {
		faults = append(faults, f.fault(f.site, errors.New("it has no handler")))
	}
	for _, key := range []string{"function " + f.folder(), f.id} {
		key = strings.ToLower(key)
		if other := taken[key]; other != "" {
			faults = append(faults, f.fault(f.site, fmt.Errorf("%s is taken by %s; case does not count", key, other)))
		}
		taken[key] = f.what
	}
	return faults
}

// functions returns what the app has, in the order of its kinds.
func (a *App) functions() []*function {
	var all []*function
	for _, t := range a.tools {
		all = append(all, &t.function)
	}
	for _, r := range a.resources {
		all = append(all, &r.function)
	}
	for _, p := range a.prompts {
		all = append(all, &p.function)
	}
	return all
}

// gateway returns the gateway through which the app's tools are called.
func (a *App) gateway() *gateway.Gateway {
	offer := tenon.Features{}
	for _, t := range a.tools {
		offer.Tools = append(offer.Tools, t.middle())
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "app", Features: offer}}, gateway.BuildOptions{})
	return gateway.New(catalog, gateway.Options{Logger: a.o.Logger, Timeout: a.o.Timeout})
}
