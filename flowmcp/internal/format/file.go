package format

import (
	"crypto/sha256"
	"errors"
	"path/filepath"

	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// File is one schema file, read and checked.
type File struct {
	Path               string
	Namespace          string
	Name               string
	Hash               string   // Hash
	Sum                string   // hash of the whole text
	Text               []byte   // kept only where the file has handlers
	Hosts              []string // allowed for handlers, as patterns
	Main               *module.Node
	Handlers           HandlerSet
	Lists              map[string]*ListReference // declared lists; nil where one cannot be read
	usedLists          map[string]bool           // lists used by an enum
	ServerParams       map[string]bool           // declared server parameters
	Strict             bool                      // strict mode
	ImplicitParameters bool                      // undeclared placeholders may be arguments
	Tools              []*Tool
	Resources          []*Resource
	Prompts            []*Guide // that main declares
	Findings           []Finding
	Failed             bool
	Invalid            bool     // has errors other than disallowed libraries
	BlockedLibraries   []string // disallowed libraries
}

// Tool is one tool of a file.
type Tool struct {
	File        *File
	Name        string
	Method      string
	Path        string
	Pieces      []Piece // pieces of root and path
	Description string  // description
	Parameters  []*Parameter
	Output      *module.Node
	Meta        *module.Node
	Tests       *module.Node
	Preload     *module.Node
	Headers     *module.Node
	Handled     bool // runs the file's JavaScript
	Local       bool // without HTTP
	implicit    bool // its test cases give values for undeclared placeholders
	AcceptsMore bool // accepts undeclared arguments
	ReadsOnly   bool // declared by the operator: POST requests of its handlers only read
	Writes      bool // declared by the operator: its handlers may change something
	Broken      bool // has an error: not served
	offset      int
	Line        int
}

// Rules are the options under which files are checked.
type Rules struct {
	strict    bool
	tests     bool // check the test cases
	callers   bool // see Options.CallerMarks
	libraries []string
	Lists     *listFolder

	reads, writes []string // see Options.HandlerReads and HandlerWrites
}

// ReadSchema reads, evaluates and checks the text of one schema file. Errors
// are returned as findings.
func ReadSchema(path string, text []byte, r Rules) *File {
	sum := sha256.Sum256(text)
	f := &File{Path: path, Sum: string(sum[:]), Lists: map[string]*ListReference{}, usedLists: map[string]bool{}, ServerParams: map[string]bool{}, Strict: r.strict, ImplicitParameters: r.callers && !r.strict}
	m, err := module.Parse(text)
	if err != nil {
		f.Failed = true
		f.Findings = []Finding{syntaxFinding(err)}
		return f
	}
	c := &checker{m: m, strict: r.strict, tests: r.tests, broken: map[string]bool{}}
	if r.tests || r.strict { // otherwise only lists that a file names are read
		c.lists = r.Lists
	}
	f.Main = c.evaluate("main")
	f.Hash = module.Hash(f.Main)
	f.Namespace, f.Name = f.Main.Get("namespace").Str(), f.Main.Get("name").Str()
	c.checkMain(f, r)
	if f.Main.Is(module.Object) {
		if f.Handlers = c.readHandlers(f.Main); f.Handlers.Line > 0 {
			f.Text, f.Hosts = text, HostsIn(string(text))
		}
		c.checkSigning(f)
		c.readLists(f, r)
		c.readRoutes(f)
		c.readResources(f)
		c.readPrompts(f)
		c.checkPlaceholders(f)
		c.checkListUse()
		c.checkUnusedLists(f)
	}
	c.checkSecurity()
	for _, t := range f.Tools {
		t.Broken = c.broken[t.Name]
		t.ReadsOnly, t.Writes = t.namedIn(r.reads), t.namedIn(r.writes)
	}
	c.checkSending(f)
	f.Failed, f.Invalid, f.Findings = c.failed || f.BlockedLibraries != nil, c.failed, c.findings
	return f
}

func syntaxFinding(err error) Finding {
	f := Finding{Code: "VAL001", Severity: Fatal, Path: "file", Message: "is not an ECMAScript module: " + err.Error()}
	if s, ok := errors.AsType[*module.SyntaxError](err); ok {
		f.Line, f.Message = s.Line, "is not an ECMAScript module: "+s.Message
	}
	return f
}

// evaluate returns the value of an export, or nil. Anything but a literal is
// reported and affects only the part of the file that contains it.
func (c *checker) evaluate(name string) *module.Node {
	exported, at := c.m.Export(name)
	x, ok := exported.(js.IExpr)
	if !ok {
		return nil
	}
	e := &module.Evaluator{Module: c.m, Offset: max(at, 0), AllowStringify: !c.strict, Constants: c.prose}
	failed := c.failed
	code := "SEC017"
	if c.list {
		code = "SEC019"
	}
	e.Report = func(at int, path, what string) {
		c.add(at, Finding{Code: code, Severity: Fatal, Path: path, Message: what})
	}
	e.OnStringify = func(at int, path string) {
		c.add(at, Finding{Code: "SEC017", Severity: Warning, Path: path, Message: "calls JSON.stringify; its text was made without running it"})
	}
	n := e.Value(x, name)
	c.failed = failed // callers check valid instead
	return n
}

// Evaluate returns the value of an export, or nil, and drops the findings.
func Evaluate(m *module.Module, name string) *module.Node {
	return (&checker{m: m, broken: map[string]bool{}}).evaluate(name)
}

// ToolsOf returns the tools, under either of their keys.
func ToolsOf(main *module.Node) *module.Node {
	if tools := main.Get("tools"); tools.Exists() {
		return tools
	}
	return main.Get("routes")
}

// readRoutes reads and checks every tool.
func (c *checker) readRoutes(f *File) {
	where := "main.tools"
	if !f.Main.Get("tools").Exists() {
		where = "main.routes"
	}
	ToolsOf(f.Main).Members(func(name string, n *module.Node) {
		c.tool = name
		t := &Tool{
			File: f, Name: name, offset: place(n), Line: c.m.Line(place(n)), Method: n.Get("method").Str(), Path: n.Get("path").Str(),
			Description: n.Get("description").Str(), Output: n.Get("output"), Tests: n.Get("tests"), Preload: n.Get("preload"), Meta: metaOf(f.Main, name), Headers: n.Get("headers"), Handled: f.Handlers.Needs(name),
		}
		f.Tools = append(f.Tools, t)
		if n.Is(module.Object) && n.Valid() {
			c.checkTool(f, t, n, where+"."+name)
		} else {
			c.error("VAL016", n, where+"."+name, "must be a plain object of literals")
		}
		c.tool = ""
	})
}

// metaOf returns the MCP block of a tool: its own, or that of the file for this
// tool or for all.
func metaOf(main *module.Node, tool string) *module.Node {
	if own := ToolsOf(main).Get(tool).Get("meta"); own.Exists() {
		return own
	}
	shared := main.Get("meta")
	if of := shared.Get(tool); of.Is(module.Object) {
		return of
	}
	if shared.Get("isReadOnly").Exists() {
		return shared
	}
	return nil
}

// readLists resolves the file's references to shared lists.
func (c *checker) readLists(f *File, r Rules) {
	for i, n := range f.Main.Get("sharedLists").List() {
		c.readList(f, r, n, index("main.sharedLists", i))
	}
}

func (c *checker) readList(f *File, r Rules, n *module.Node, path string) {
	ref, version := n.Get("ref").Str(), n.Get("version").Str()
	if ref == "" {
		c.error("VAL070", n, path+".ref", "is missing")
		return
	}
	f.Lists[ref] = nil
	if !Semver.MatchString(version) {
		c.lenient("VAL071", n, path+".version", "must be a version such as 1.0.0")
	}
	filter := n.Get("filter")
	if filter.Exists() && filter.Get("key").Str() == "" {
		c.error("VAL074", filter, path+".filter", "must have a key")
		return
	}
	found := r.Lists.get(ref)
	switch {
	case found.missing:
		c.lenient("VAL072", n, path, "the list %s is not in a folder _lists above the file; the enums that name it take any text", ref)
		return
	case found.list == nil:
		c.lenient(listCode(found.findings), n, path, "the list %s has errors: %s", ref, FirstError(found.findings))
		return
	case found.list.version != version:
		if c.strict || major(found.list.version) != major(version) {
			c.error("VAL073", n, path+".version", "wants %s, and the list %s has version %s", version, ref, found.list.version)
			return
		}
		c.warn("VAL073", n, path+".version", "wants %s, and the list %s has version %s", version, ref, found.list.version)
	}
	c.checkDepends(r.Lists, found.list, n, path, []string{ref})
	f.Lists[ref] = &ListReference{List: found.list, Entries: filtered(found.list.Entries, filter)}
}

func (c *checker) checkUnusedLists(f *File) {
	if f.Handlers.all || len(f.Handlers.members) > 0 {
		return // handlers may use it
	}
	for i, n := range f.Main.Get("sharedLists").List() {
		if ref := n.Get("ref").Str(); ref != "" && !f.usedLists[ref] {
			c.warn("VAL075", n, index("main.sharedLists", i), "the list %s is not used", ref)
		}
	}
}

// FirstError returns the first error among findings, or "unknown".
func FirstError(findings []Finding) string {
	for _, f := range findings {
		if f.Severity == Fatal {
			return f.String()
		}
	}
	return "unknown"
}

func major(version string) string {
	for i := range version {
		if version[i] == '.' {
			return version[:i]
		}
	}
	return version
}

// provider returns the name of the folder that must equal the namespace, or ""
// where the file is not in a library.
func provider(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(filepath.Dir(dir)) == "providers" {
		return filepath.Base(dir)
	}
	return ""
}

// ID returns the qualified name.
func (t *Tool) ID() string { return QualifiedName(t.File.Namespace, t.File.Path, t.Name) }
