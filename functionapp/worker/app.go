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

// Options configure an App. The zero value works.
type Options struct {
	Name         string        // name of the MCP server; empty: the host's
	Version      string        // likewise
	Instructions string        // for the model; may be empty
	Executable   string        // the program, relative to the folder of the app; empty: "worker"
	Anonymous    bool          // callers need no Azure key
	Timeout      time.Duration // time limit of a call; 0: five minutes
	Drain        time.Duration // time for running calls at shutdown; 0: five seconds
	MaxBody      int64         // maximum bytes of a call; 0: 32 MiB
	Logger       *slog.Logger  // nil: no logging
}

// App is a function app. It is built by one goroutine; then it is safe for
// concurrent use.
type App struct {
	o           Options
	tools       []*Tool
	resources   []*Resource
	prompts     []*Prompt
	diagnostics []error
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

// Error is a mistake in the definition of an app, with its position in the
// program.
type Error struct {
	File string
	Line int
	What string // function of the app
	Err  error
}

// Error formats e as "file:line: what: cause".
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.What, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Err returns all mistakes so far as joined [*Error] values, or nil. Chained
// methods cannot return errors; nothing is written or served while there is
// one.
func (a *App) Err() error {
	diagnostics := slices.Clip(a.diagnostics)
	taken := map[string]string{}
	for _, f := range a.functions() {
		diagnostics = append(diagnostics, f.check(taken)...)
	}
	return errors.Join(diagnostics...)
}

// site is a place in the program that uses this package.
type site struct {
	file string
	line int
}

// here returns the position from which this package was called.
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

// function is the common part of tools, resources and prompts.
type function struct {
	app  *App
	site site
	what string // "tool forecast", for errors
	id   string // key in the host's registry, which ignores case
	name string // name of the function and its folder; empty: derived from made
	made string
	runs bool // has a handler
}

func (f *function) problem(s site, err error) *Error {
	return &Error{File: s.file, Line: s.line, What: f.what, Err: err}
}

// complain records a mistake of the current method.
func (f *function) complain(err error) {
	if err != nil {
		f.app.diagnostics = append(f.app.diagnostics, f.problem(here(), err))
	}
}

// folder returns the name of the function: as set, else derived from the tool's
// name.
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

// check finds mistakes across functions. taken holds the names of the previous
// ones.
func (f *function) check(taken map[string]string) (diagnostics []error) {
	if !f.runs {
		diagnostics = append(diagnostics, f.problem(f.site, errors.New("it has no handler")))
	}
	for _, key := range []string{"function " + f.folder(), f.id} {
		key = strings.ToLower(key)
		if other := taken[key]; other != "" {
			diagnostics = append(diagnostics, f.problem(f.site, fmt.Errorf("%s is taken by %s; case does not count", key, other)))
		}
		taken[key] = f.what
	}
	return diagnostics
}

// functions returns all functions, ordered by kind.
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

// gateway returns the gateway for calls of the app's tools.
func (a *App) gateway() *gateway.Gateway {
	offer := tenon.Features{}
	for _, t := range a.tools {
		offer.Tools = append(offer.Tools, t.middle())
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "app", Features: offer}}, gateway.BuildOptions{})
	return gateway.New(catalog, gateway.Options{Logger: a.o.Logger, Timeout: a.o.Timeout})
}
