// Package flowmcp turns FlowMCP schema files into tools.
//
// A schema file is an ECMAScript module that exports pure data, main, and
// where data is not enough a factory of handlers. The file is parsed and main
// is evaluated from the syntax tree: reading, checking, listing and hashing
// run nothing. Handlers run in worker processes that can be killed; where there
// is no command for those, the tools that need them are left out and reported.
//
// It does not know the Model Context Protocol, how answers are checked or
// shaped, nor how addresses are allowed: it hands out plain [tenon.Tool]
// values, and their requests leave through the client that it was given.
//
// The path of a description: bytes → module → values → [Finding] and route →
// tool. The path of a call: arguments → request (request.go, path.go), through
// the handlers where there are some (execution.go) → upstream → [tenon.Response].
package flowmcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Options configure a source. The zero value works.
type Options struct {
	Client *http.Client // the way out; nil: a client that refuses private addresses
	// Env gives the values of server parameters. It is asked for the names that
	// a file declares in requiredServerParams, at load whether they are there
	// and at each call. nil: there are none.
	Env       func(name string) (string, bool)
	BaseURL   string   // replaces every file's root; empty: the roots
	Lists     string   // folder of shared lists; empty: _lists or _shared above a file
	Libraries []string // libraries that are allowed beside the format's own
	// CallerMarks makes a mark that names no server parameter, such as {{CITY}},
	// the caller's argument where the tool's own test cases give it a value.
	// Without, an empty text is sent, as the format's reference does. By the
	// letter such a mark is an error.
	CallerMarks     bool
	TrustMarks      bool              // believe meta of routes that are not GET: else those that it calls harmless are told at load, and ask where the operator chose to be asked
	Strict          bool              // keep the letter of the pages; false: load what the public library does
	Policy          tenon.Policy      // empty: Warn, as the page has it
	Consent         tenon.ConfirmMode // of routes that destroy; empty: ConfirmAuto
	Shape           tenon.Envelope    // empty: FlowMCP
	MaxInputSchema  int               // bytes of a published input schema; 0: 32 KiB; negative: no limit
	MaxOutputSchema int               // bytes of a published output schema; 0: 16 KiB; negative: no limit
	MaxAnswer       int64             // bytes of an answer's body; 0: 32 MiB
	Timeout         time.Duration     // of one call and all its requests; 0: 30 s

	// The folders in which resources of schema files lie, those of the project
	// and those of the user, each in its folder resources, and the one for what
	// is downloaded or kept for later. Empty: there is none, and what needs it
	// is not served.
	ProjectDir, GlobalDir, CacheDir string
	Selection                       string // file of a selection or an agent: only what it names is offered; empty: everything
	NoCache                         bool   // answers are neither kept nor taken from those that were kept
	Refresh                         bool   // answers are kept, and those that were kept are not taken

	// Takes reports whether a tool is offered, by its method, its path below the
	// root, its names (the first in full) and the tags of its file. nil: all are.
	Takes func(method, path string, names, tags []string) bool

	// Worker is the command that starts a worker for handlers: see [WorkerMain].
	// nil: tools with handlers are left out.
	Worker      []string
	Workers     int           // the most workers at a time; 0: as many as processors, at least 2
	HandlerTime time.Duration // that the code of one handler may run, waiting left out; 0: 5 s
	// HandlerSecrets names the files whose handlers get the values of server
	// parameters instead of markers, because they sign with them: namespaces,
	// or namespace/file. Such a file must be trusted like a program.
	HandlerSecrets []string
	// HandlerReads names tools whose handlers send POST and only read with it:
	// namespaces, namespace/file or namespace/file::tool. HandlerWrites names
	// those whose handlers may change something with any method: they are not
	// read-only, and consent is asked. All others send what their tools declare.
	HandlerReads, HandlerWrites []string
	LibraryDir                  string // folder of the bundles that AddBundle wrote; empty: none

	// AuthOrigins are the origins (https://host or https://host:port) to which
	// server parameters may go, and no others. Empty: to those of the roots at the
	// first Load; where a later one names others, that is told and refused.
	AuthOrigins []string
}

// handsOut reports whether the handlers of a file get the values themselves.
func (o *Options) handsOut(f *file) bool {
	name := strings.TrimSuffix(filepath.Base(f.path), ".mjs")
	return slices.Contains(o.HandlerSecrets, f.namespace) || slices.Contains(o.HandlerSecrets, f.namespace+"/"+name)
}

func (o Options) defaults() (Options, error) {
	if err := o.checkOrigins(); err != nil {
		return o, err
	}
	if o.Client == nil {
		c, err := egress.NewClient(egress.Options{})
		if err != nil {
			return o, &tenon.Error{Code: tenon.CodeInternal, Message: "no client", Err: err}
		}
		o.Client = c
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.Policy == "" {
		o.Policy = tenon.Warn
	}
	if o.Shape == "" {
		o.Shape = tenon.FlowMCP
	}
	if o.MaxInputSchema == 0 {
		o.MaxInputSchema = 32 << 10
	}
	if o.MaxOutputSchema == 0 {
		o.MaxOutputSchema = 16 << 10
	}
	if o.MaxAnswer == 0 {
		o.MaxAnswer = 32 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.HandlerTime == 0 {
		o.HandlerTime = defaultHandlerTime
	}
	return o, nil
}

// Source is a schema file or a folder of them.
type Source struct {
	spec    string
	options Options

	mu   sync.Mutex
	pool *sandbox.Pool // starts workers when handlers are called; nil: none were needed yet
	dbs  *databases    // nil: not loaded yet

	cases     []TestCase     // of the last Load
	standings []Availability // of the last Load
	held      watch.Held     // by the files at the last load that went well

	homes destinations
	about about // the files of the last Load
}

var _ tenon.Watcher = (*Source)(nil)

// New returns the source for the path of a schema file or of a folder. It
// opens nothing.
func New(spec string, o Options) *Source { return &Source{spec: spec, options: o} }

// Load reads and checks every file. An error in a file costs that file, an
// error in a tool that tool; a file that deviates otherwise is loaded. Where no
// file can be read, that is the error of Load.
func (s *Source) Load(ctx context.Context) (tenon.Features, error) {
	held := watch.Read(s.files())
	offer, err := s.load(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.held == nil {
		s.held = held
	}
	return offer, err
}

func (s *Source) load(ctx context.Context) (tenon.Features, error) {
	o, err := s.options.defaults()
	if err != nil {
		return tenon.Features{}, err
	}
	files, err := readFiles(ctx, s.spec, o, false)
	if err != nil {
		return tenon.Features{}, err
	}
	if err := unreadable(s.spec, files); err != nil {
		return tenon.Features{}, err
	}
	b := offerer{spec: s.spec, options: &o, taken: map[string]bool{}, books: newBookcase(), kept: newKept(&o), dbs: s.databases()}
	if b.library, err = openLibraries(o.LibraryDir); err != nil {
		return tenon.Features{}, err
	}
	if o.Worker != nil {
		b.runner = &runner{pool: s.workers(o), library: b.library.get, dbs: b.dbs, programs: map[*file]*sandbox.Program{}}
	}
	guides := readGuides(files, o)
	if o.Strict && isFolder(s.spec) {
		(&around{options: o, files: files, guides: guides}).resolve(ctx, guides) // what is served counts
	}
	b.unmatched(files)
	for _, f := range files {
		if b.take(f) {
			b.file(f)
		}
	}
	b.places(&s.homes, b.served)
	b.guides(guides)
	b.tellMarked()
	if o.Selection != "" {
		if err := b.choose(o.Selection, files, guides); err != nil {
			return tenon.Features{}, err
		}
	}
	s.mu.Lock()
	s.cases, s.standings = b.cases, b.standings
	s.about = aboutOf(b.served)
	s.mu.Unlock()
	return b.offer, nil
}

// workers returns the pool for handlers, the same at every Load.
func (s *Source) workers(o Options) *sandbox.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		s.pool = sandbox.NewPool(sandbox.Options{Command: o.Worker, Workers: o.Workers})
	}
	return s.pool
}

// databases are those that are open, the same at every Load.
func (s *Source) databases() *databases {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dbs == nil {
		s.dbs = newDatabases()
	}
	return s.dbs
}

// Close ends the workers and with them the calls of handlers under way. A
// source without calls under way needs no Close: workers that idle end.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.dbs != nil {
		err = s.dbs.close()
	}
	if s.pool != nil {
		err = errors.Join(err, s.pool.Close())
	}
	return err
}

// offerer gathers the tools of files.
type offerer struct {
	spec    string
	options *Options
	runner  *runner // nil: handlers cannot be run
	library *libraries
	dbs     *databases
	books   *bookcase
	kept    *kept
	taken   map[string]bool
	offer   tenon.Features

	cases     []TestCase
	standings []Availability
	served    []*file
}

// Kinds of diagnostics that no rule has a code for.
const (
	kindKey     = "key"     // a server parameter is not set
	kindName    = "name"    // a tool has another name than its file gives it
	kindRunner  = "runner"  // handlers run nowhere here
	kindLibrary = "library" // a library or a list is not here
	kindData    = "data"    // a resource is not here
)

func (b *offerer) fault(f *file, line int, kind, what, do string) {
	b.offer.Diagnostics = append(b.offer.Diagnostics, tenon.Diagnostic{File: f.path, Line: line, Message: what, Hint: do, Kind: kind})
}

// told notes what the operator has to know: a warning is served with notice.
func (b *offerer) told(path string, findings []Finding) {
	for _, x := range findings {
		if x.Severity != Info {
			b.offer.Diagnostics = append(b.offer.Diagnostics, tenon.Diagnostic{File: path, Line: x.Line, Message: x.Code + " " + x.Path + ": " + x.Message, Kind: x.Code})
		}
	}
}

func (b *offerer) file(f *file) {
	b.told(f.path, f.findings)
	needs := b.ofFile(f)
	if len(needs) > 0 {
		b.unserved(f, needs)
		var missing []string
		for _, n := range needs {
			if n.Kind == NeedKey {
				missing = append(missing, n.Name)
			}
		}
		if missing != nil && !f.failed {
			b.fault(f, 0, kindKey, "its tools are not served: "+strings.Join(missing, ", ")+" not set", "set it in the environment")
		}
		return
	}
	b.served = append(b.served, f)
	b.routes(f)
	b.resources(f)
}

func (b *offerer) routes(f *file) {
	lacking := map[Need][]string{} // tools by what they need
	for _, t := range f.routes {
		needs := b.needs(f, t.name, t.handled, t.broken)
		if needs != nil {
			b.stands(t, wireName(t.name, f.namespace), needs)
			for _, n := range needs {
				lacking[n] = append(lacking[n], t.name)
			}
			continue
		}
		name := unique(b.taken, wireName(t.name, f.namespace), f.path)
		if plain := wireName(t.name, f.namespace); plain != name {
			b.fault(f, t.line, kindName, fmt.Sprintf("the tool name %q is taken; this tool is served as %q", plain, name), "")
		}
		tool := t.tool(name, b.options, b.runner)
		tool.Handler = b.kept.around(t, tool.Handler, b.options, b.runner)
		b.add(t, tool)
	}
	delete(lacking, Need{Kind: NeedRepair}) // its findings are told
	for _, n := range slices.SortedFunc(maps.Keys(lacking), func(a, b Need) int { return cmp.Compare(a.Name, b.Name) }) {
		kind, do := kindLibrary+" "+n.Name, n.Do()
		text := "need " + n.Name + ", which is not bundled"
		switch n.Kind { //nolint:exhaustive // the others are told otherwise
		case NeedWorkers:
			kind, text, do = kindRunner, "need handlers, which run nowhere here", "give a command for workers"
		case NeedNative:
			text = "need " + n.Name + ", which is native code and cannot be run"
			if n.Name == "better-sqlite3" {
				do = "describe the database in main.resources; executeRequest can ask it there"
			}
		case NeedList:
			text = "need " + n.Name + ", a shared list that cannot be read"
		}
		b.fault(f, f.handlers.line, kind, fmt.Sprintf("%d of %d tools %s, and are not served: %s",
			len(lacking[n]), len(f.routes), text, strings.Join(lacking[n], ", ")), do)
	}
}
