// Package flowmcp loads FlowMCP schema files as tools, resources and prompts.
//
// A schema file is an ECMAScript module that exports pure data, main, and where
// data is not enough a factory of handlers. The file is parsed and main is
// evaluated from the syntax tree: reading, checking, listing and hashing
// execute no code of the file. Handlers run in worker processes that can be
// killed. Without a command for workers, the tools that need them are skipped
// and reported.
//
// The package does not know the Model Context Protocol, validates no responses,
// builds no envelopes and decides about no addresses: it returns plain
// [tenon.Tool] values and sends their requests through the client it was given.
//
// It is the first stage of a description (bytes → module → values → [Finding]
// and route → tool) and the handler of a call: arguments → request (request.go),
// for tools with handlers through execution.go → upstream → [tenon.Response].
// What is read of a file is in flowmcp/internal/format; library has the tools for
// its authors.
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
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Options configure a source. The zero value works.
type Options struct {
	Client *http.Client // nil: a client that refuses private addresses
	// Env returns the values of server parameters. It is called with the names
	// in a file's requiredServerParams, at load and for each call. nil: none
	// are set.
	Env       func(name string) (string, bool)
	BaseURL   string   // replaces every file's root; empty: the roots
	ListsDir  string   // folder of shared lists; empty: _lists or _shared above a file
	Libraries []string // libraries allowed in addition to the format's own
	// ImplicitParameters makes an undeclared placeholder such as {{CITY}} an argument
	// where the tool's own test cases give it a value. Otherwise an empty text
	// is sent, as in the reference implementation. In strict mode such a
	// placeholder is an error.
	ImplicitParameters bool
	TrustMarks         bool              // trust meta of routes that are not GET; otherwise those that it calls harmless are reported at load and subject to confirmation
	Strict             bool              // enforce the format's pages; false: accept what the public library contains
	Policy             tenon.Policy      // empty: Warn, as the page specifies
	Confirm            tenon.ConfirmMode // for destructive routes; empty: ConfirmAuto
	Envelope           tenon.Envelope    // empty: FlowMCP
	MaxInputSchema     int               // bytes of a published input schema; 0: 32 KiB; negative: no limit
	MaxOutputSchema    int               // bytes of a published output schema; 0: 16 KiB; negative: no limit
	MaxResponse        int64             // bytes of a response body; 0: 32 MiB
	Timeout            time.Duration     // of one call and all its requests; 0: 30 s

	// The folders of resource files, for those of the project and of the user
	// (each in its subfolder resources), and for caches and downloads.
	// Resources that need an unset folder are not served.
	ProjectDir, GlobalDir, CacheDir string
	Selection                       string // file of a selection or an agent: serve only what it names; empty: everything
	NoCache                         bool   // disable the response cache
	Refresh                         bool   // write the response cache without reading it

	// Selects reports whether a tool is served, by its method, its path below the
	// root, its names (the qualified one first) and the tags of its file. nil:
	// all are.
	Selects func(method, path string, names, tags []string) bool

	// Worker is the command that starts a worker for handlers: see
	// [WorkerMain]. nil: tools with handlers are not served.
	Worker         []string
	Workers        int           // maximum number of workers; 0: one per processor, at least 2
	HandlerTimeout time.Duration // CPU time limit of one handler, without waiting; 0: 5 s
	// HandlerSecrets names the files whose handlers receive the values of
	// server parameters instead of markers, because they sign requests:
	// namespaces, or namespace/file. Such a file must be trusted like a
	// program.
	HandlerSecrets []string
	// HandlerReads names tools whose handlers send POST requests that only
	// read: namespaces, namespace/file or namespace/file::tool. HandlerWrites
	// names those whose handlers may use any method: they are not read-only and
	// require confirmation. All others send what their tools declare.
	HandlerReads, HandlerWrites []string
	LibraryDir                  string // folder of the bundles written by AddBundle; empty: none

	// AuthOrigins are the only origins (https://host or https://host:port) to
	// which server parameters may be sent. Empty: the origins of the roots at
	// the first Load; requests to origins that a later Load adds are refused
	// and reported.
	AuthOrigins []string
}

// handsOut reports whether the handlers of a file receive the values of server
// parameters.
func (o *Options) handsOut(f *format.File) bool {
	name := strings.TrimSuffix(filepath.Base(f.Path), ".mjs")
	return slices.Contains(o.HandlerSecrets, f.Namespace) || slices.Contains(o.HandlerSecrets, f.Namespace+"/"+name)
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
	if o.Envelope == "" {
		o.Envelope = tenon.FlowMCP
	}
	if o.MaxInputSchema == 0 {
		o.MaxInputSchema = 32 << 10
	}
	if o.MaxOutputSchema == 0 {
		o.MaxOutputSchema = 16 << 10
	}
	if o.MaxResponse == 0 {
		o.MaxResponse = 32 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.HandlerTimeout == 0 {
		o.HandlerTimeout = defaultHandlerTime
	}
	return o, nil
}

// Source is a schema file or a folder of them.
type Source struct {
	spec    string
	options Options

	mu   sync.Mutex
	pool *sandbox.Pool // nil until handlers are needed
	dbs  *databases    // nil before the first Load

	cases        []TestCase     // of the last Load
	availability []Availability // of the last Load
	params       []string       // server parameters of the last Load
	held         watch.Sums     // state of the files at the last successful load

	destinations destinations
	about        about // from the last Load
}

var _ tenon.Watcher = (*Source)(nil)

// New returns the source for a schema file or a folder. It opens nothing.
func New(spec string, o Options) *Source { return &Source{spec: spec, options: o} }

// Load reads and checks every file. An error in a file excludes that file, an
// error in a tool that tool; other findings are only reported. Load fails where
// no file can be read.
func (s *Source) Load(ctx context.Context) (tenon.Features, error) {
	held := watch.Read(s.files())
	features, err := s.load(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.held == nil {
		s.held = held
	}
	return features, err
}

func (s *Source) load(ctx context.Context) (tenon.Features, error) {
	o, err := s.options.defaults()
	if err != nil {
		return tenon.Features{}, err
	}
	files, err := format.ReadFiles(ctx, s.spec, *o.reading(), false)
	if err != nil {
		return tenon.Features{}, err
	}
	if err := format.Unreadable(s.spec, files); err != nil {
		return tenon.Features{}, err
	}
	b := builder{spec: s.spec, options: &o, taken: map[string]bool{}, index: newGuideIndex(), cache: newResponseCache(&o), dbs: s.databases(), moved: movedParameters{}}
	if b.library, err = format.OpenLibraries(o.LibraryDir); err != nil {
		return tenon.Features{}, err
	}
	if o.Worker != nil {
		b.runner = &runner{pool: s.workers(o), library: b.library.Get, dbs: b.dbs, programs: map[*format.File]*sandbox.Program{}}
	}
	guides := format.ReadGuides(files, *o.reading())
	if o.Strict && format.IsFolder(s.spec) {
		(&format.Resolver{Options: *o.reading(), Files: files, Guides: guides}).Resolve(ctx, guides) // check what is served
	}
	b.unmatched(files)
	for _, f := range files {
		if b.selectTools(f) {
			b.params = append(b.params, f.Main.Get("requiredServerParams").Strings()...)
			b.file(f)
		}
	}
	b.checkDestinations(&s.destinations, b.served)
	b.guides(guides)
	b.reportTrustMarks()
	if o.Selection != "" {
		if err := b.applySelection(o.Selection, files, guides); err != nil {
			return tenon.Features{}, err
		}
	}
	s.mu.Lock()
	s.cases, s.availability, s.params = b.cases, b.availability, b.params
	s.about = newAbout(b.served)
	s.mu.Unlock()
	return b.features, nil
}

// WorkerCount is how many processes run handlers.
func (s *Source) WorkerCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		return 0
	}
	return s.pool.Len()
}

// workers returns the pool for handlers, which all loads share.
func (s *Source) workers(o Options) *sandbox.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		s.pool = sandbox.NewPool(sandbox.Options{Command: o.Worker, Workers: o.Workers})
	}
	return s.pool
}

// databases returns the open databases, which all loads share.
func (s *Source) databases() *databases {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dbs == nil {
		s.dbs = newDatabases()
	}
	return s.dbs
}

// Close stops the workers and with them running calls of handlers. A source
// without running calls needs no Close: idle workers exit.
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

// builder collects the tools of files.
type builder struct {
	spec     string
	options  *Options
	runner   *runner // nil: handlers cannot be run
	library  *format.Libraries
	dbs      *databases
	index    *guideIndex
	cache    *responseCache
	taken    map[string]bool
	features tenon.Features

	cases        []TestCase
	availability []Availability
	params       []string
	served       []*format.File
	moved        movedParameters
}

// Kinds of diagnostics without a code of the format.
const (
	kindKey     = "key"     // a server parameter is not set
	kindName    = "name"    // a tool was renamed
	kindRunner  = "runner"  // no command for workers
	kindLibrary = "library" // a library or a list is missing
	kindData    = "data"    // a resource is missing
)

func (b *builder) diagnose(f *format.File, line int, kind, what, do string) {
	b.features.Diagnostics = append(b.features.Diagnostics, tenon.Diagnostic{File: f.Path, Line: line, Message: what, Hint: do, Kind: kind})
}

// addFindings reports errors and warnings as diagnostics.
func (b *builder) addFindings(path string, findings []Finding) {
	for _, x := range findings {
		if x.Severity != Info {
			b.features.Diagnostics = append(b.features.Diagnostics, tenon.Diagnostic{File: path, Line: x.Line, Message: x.Code + " " + x.Path + ": " + x.Message, Kind: x.Code})
		}
	}
}

func (b *builder) file(f *format.File) {
	b.addFindings(f.Path, f.Findings)
	needs := b.fileNeeds(f)
	if len(needs) > 0 {
		b.addUnserved(f, needs)
		var missing []string
		for _, n := range needs {
			if n.Kind == NeedKey {
				missing = append(missing, n.Name)
			}
		}
		if missing != nil && !f.Failed {
			b.diagnose(f, 0, kindKey, "its tools are not served: "+strings.Join(missing, ", ")+" not set", "set it in the environment")
		}
		return
	}
	b.served = append(b.served, f)
	b.routes(f)
	b.resources(f)
}

func (b *builder) routes(f *format.File) {
	lacking := map[Need][]string{} // tools by need
	for _, t := range f.Tools {
		needs := b.toolNeeds(f, t.Name, t.Handled, t.Broken)
		if needs != nil {
			b.addAvailability(t, format.WireName(t.Name, f.Namespace), needs)
			for _, n := range needs {
				lacking[n] = append(lacking[n], t.Name)
			}
			continue
		}
		name := format.Unique(b.taken, format.WireName(t.Name, f.Namespace), f.Path)
		if plain := format.WireName(t.Name, f.Namespace); plain != name {
			b.diagnose(f, t.Line, kindName, fmt.Sprintf("the tool name %q is taken; this tool is served as %q", plain, name), "")
		}
		x := tool{t, b.moved}
		served := x.tool(name, b.options, b.runner)
		served.Handler = b.cache.wrap(x, served.Handler, b.options, b.runner)
		b.add(t, served)
	}
	delete(lacking, Need{Kind: NeedRepair}) // already reported as findings
	for _, n := range slices.SortedFunc(maps.Keys(lacking), func(a, b Need) int { return cmp.Compare(a.Name, b.Name) }) {
		kind, do := kindLibrary+" "+n.Name, n.Hint()
		text := "need " + n.Name + ", which is not bundled"
		switch n.Kind { //nolint:exhaustive // the others are reported otherwise
		case NeedWorkers:
			kind, text, do = kindRunner, "need handlers, but no worker command is set", "set a command for workers"
		case NeedNative:
			text = "need " + n.Name + ", which is native code and cannot be run"
			if n.Name == "better-sqlite3" {
				do = "describe the database in main.resources; executeRequest can query it there"
			}
		case NeedList:
			text = "need " + n.Name + ", a shared list that cannot be read"
		}
		b.diagnose(f, f.Handlers.Line, kind, fmt.Sprintf("%d of %d tools %s, and are not served: %s",
			len(lacking[n]), len(f.Tools), text, strings.Join(lacking[n], ", ")), do)
	}
}

const (
	maxInstructions = 1000 // bytes of all descriptions together
	maxDescription  = 300  // bytes of one description
	maxNames        = 3    // names listed in a title
)

// about is the title and the instructions taken from the descriptions of schema
// files.
type about struct{ title, instructions string }

// newAbout reads the names and descriptions of schema files. main.version is the
// version of the format and not used.
func newAbout(files []*format.File) about {
	var a about
	var names []string
	for i, f := range files {
		name, text := strings.TrimSpace(f.Main.Get("name").Str()), strings.Join(strings.Fields(f.Main.Get("description").Str()), " ")
		if name != "" {
			names = append(names, truncate(name, maxDescription))
		}
		line := truncate(text, maxDescription)
		if len(files) > 1 && name != "" && line != "" {
			line = truncate(name, maxDescription) + ": " + line
		}
		switch {
		case line == "":
		case len(a.instructions)+len(line) > maxInstructions:
			a.instructions += "\nand " + strconv.Itoa(len(files)-i) + " more"
			a.title = joinNames(files, names)
			return a
		default:
			a.instructions = strings.TrimSpace(a.instructions + "\n" + line)
		}
	}
	a.title = joinNames(files, names)
	return a
}

// joinNames joins the names, or counts the files when there are many.
func joinNames(files []*format.File, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if len(files) <= maxNames {
		return strings.Join(names, ", ")
	}
	return names[0] + " and " + strconv.Itoa(len(files)-1) + " more"
}

// truncate truncates a text at a rune boundary.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.TrimSpace(text[:limit]) + "…"
}

// Identity returns the names and the shortened descriptions of the schema files
// in use. The version is always empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.about.title, "", s.about.instructions
}
