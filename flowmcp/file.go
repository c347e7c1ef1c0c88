package flowmcp

import (
	"crypto/sha256"
	"errors"
	"path/filepath"

	"github.com/tdewolff/parse/v2/js"
)

// file is one schema file as it was read and checked.
type file struct {
	path      string
	namespace string
	name      string
	hash      string   // schemaHash
	sum       string   // of the whole text
	text      []byte   // kept where there are handlers
	hosts     []string // that handlers may talk to, as patterns
	main      *node
	handlers  handlerSet
	lists     map[string]*reference // declared ones; nil: it cannot be read
	used      map[string]bool       // lists that an enum names
	server    map[string]bool       // declared server parameters
	letter    bool                  // the letter of the pages is kept
	callers   bool                  // bare marks that name none of them may be arguments
	routes    []*route
	resources []*resource
	prompts   []*guide // that main declares
	findings  []Finding
	failed    bool
	wrong     bool              // has errors other than the libraries that are refused
	refused   []string          // libraries that nobody allowed
	moved     map[string]string // server parameters that would go where they may not, and where that is
}

// route is one tool of a file.
type route struct {
	file       *file
	name       string
	method     string
	path       string
	pieces     []piece // of root and path
	text       string  // description
	parameters []*parameter
	output     *node
	meta       *node
	tests      *node
	preload    *node
	headers    *node
	handled    bool // needs the file's JavaScript
	local      bool // no HTTP is involved
	asks       bool // its cases give values for marks that name nothing
	more       bool // takes arguments that it does not declare
	reads      bool // the operator says: what its handlers POST only reads
	writes     bool // the operator says: its handlers may change something
	broken     bool // has an error: not served
	at         int
	line       int
}

// rules are the choices under which files are checked.
type rules struct {
	strict    bool
	tests     bool // check the test cases too
	callers   bool // see Options.CallerMarks
	libraries []string
	shelf     *shelf

	reads, writes []string // see Options.HandlerReads and HandlerWrites
}

// readSchema reads, evaluates and checks the text of one schema file. It never
// fails: what is wrong stands in the findings.
func readSchema(path string, text []byte, r rules) *file {
	sum := sha256.Sum256(text)
	f := &file{path: path, sum: string(sum[:]), lists: map[string]*reference{}, used: map[string]bool{}, server: map[string]bool{}, letter: r.strict, callers: r.callers && !r.strict}
	m, err := parseModule(text)
	if err != nil {
		f.failed = true
		f.findings = []Finding{syntaxFinding(err)}
		return f
	}
	c := &checker{m: m, strict: r.strict, tests: r.tests, broken: map[string]bool{}}
	if r.tests || r.strict { // else no list is read that no file names
		c.shelf = r.shelf
	}
	f.main = c.evaluate("main")
	f.hash = schemaHash(f.main)
	f.namespace, f.name = f.main.get("namespace").str(), f.main.get("name").str()
	c.checkMain(f, r)
	if f.main.is(objectKind) {
		if f.handlers = c.readHandlers(f.main); f.handlers.line > 0 {
			f.text, f.hosts = text, hostsIn(string(text))
		}
		c.checkSigning(f)
		c.readLists(f, r)
		c.readRoutes(f)
		c.readResources(f)
		c.readPrompts(f)
		c.checkPlaces(f)
		c.checkFrozen()
		c.checkUnusedLists(f)
	}
	c.checkSecurity()
	for _, t := range f.routes {
		t.broken = c.broken[t.name]
		t.reads, t.writes = t.namedIn(r.reads), t.namedIn(r.writes)
	}
	c.checkSending(f)
	f.failed, f.wrong, f.findings = c.failed || f.refused != nil, c.failed, c.findings
	return f
}

func syntaxFinding(err error) Finding {
	f := Finding{Code: "VAL001", Severity: Fatal, Path: "file", Message: "is no ECMAScript module: " + err.Error()}
	if s, ok := errors.AsType[*syntaxError](err); ok {
		f.Line, f.Message = s.line, "is no ECMAScript module: "+s.what
	}
	return f
}

// evaluate returns the value of an export, nil where there is none. What is no
// literal in it is reported; it costs the part of the file that it is in.
func (c *checker) evaluate(name string) *node {
	exported, at := c.m.exported(name)
	x, ok := exported.(js.IExpr)
	if !ok {
		return nil
	}
	e := &evaluator{m: c.m, at: max(at, 0), lax: !c.strict, named: c.prose}
	failed := c.failed
	code := "SEC017"
	if c.list {
		code = "SEC019"
	}
	e.report = func(at int, path, what string) {
		c.add(at, Finding{Code: code, Severity: Fatal, Path: path, Message: what})
	}
	e.laxed = func(at int, path string) {
		c.add(at, Finding{Code: "SEC017", Severity: Warning, Path: path, Message: "calls JSON.stringify; its text was made without running it"})
	}
	n := e.value(x, name)
	c.failed = failed // callers decide by what is not valid
	return n
}

// toolsOf are the tools under either of their names.
func toolsOf(main *node) *node {
	if tools := main.get("tools"); tools.there() {
		return tools
	}
	return main.get("routes")
}

// readRoutes reads and checks every tool.
func (c *checker) readRoutes(f *file) {
	where := "main.tools"
	if !f.main.get("tools").there() {
		where = "main.routes"
	}
	toolsOf(f.main).members(func(name string, n *node) {
		c.tool = name
		t := &route{
			file: f, name: name, at: place(n), line: c.m.line(place(n)), method: n.get("method").str(), path: n.get("path").str(),
			text: n.get("description").str(), output: n.get("output"), tests: n.get("tests"), preload: n.get("preload"), meta: metaOf(f.main, name), headers: n.get("headers"), handled: f.handlers.needs(name),
		}
		f.routes = append(f.routes, t)
		if n.is(objectKind) && n.valid() {
			c.checkTool(f, t, n, where+"."+name)
		} else {
			c.fault("VAL016", n, where+"."+name, "must be a plain object of literals")
		}
		c.tool = ""
	})
}

// metaOf is the MCP block of a tool: its own, or that of the file for one tool
// or for all.
func metaOf(main *node, tool string) *node {
	if own := toolsOf(main).get(tool).get("meta"); own.there() {
		return own
	}
	shared := main.get("meta")
	if of := shared.get(tool); of.is(objectKind) {
		return of
	}
	if shared.get("isReadOnly").there() {
		return shared
	}
	return nil
}

// readLists resolves the file's references to shared lists.
func (c *checker) readLists(f *file, r rules) {
	for i, n := range f.main.get("sharedLists").list() {
		c.readList(f, r, n, index("main.sharedLists", i))
	}
}

func (c *checker) readList(f *file, r rules, n *node, path string) {
	ref, version := n.get("ref").str(), n.get("version").str()
	if ref == "" {
		c.fault("VAL070", n, path+".ref", "is missing")
		return
	}
	f.lists[ref] = nil
	if !semver.MatchString(version) {
		c.loose("VAL071", n, path+".version", "must be a version such as 1.0.0")
	}
	filter := n.get("filter")
	if filter.there() && filter.get("key").str() == "" {
		c.fault("VAL074", filter, path+".filter", "must have a key")
		return
	}
	found := r.shelf.get(ref)
	switch {
	case found.missing:
		c.loose("VAL072", n, path, "the list %s is not in a folder _lists above the file; the enums that name it take any text", ref)
		return
	case found.list == nil:
		c.loose(listCode(found.findings), n, path, "the list %s has errors: %s", ref, firstError(found.findings))
		return
	case found.list.version != version:
		if c.strict || major(found.list.version) != major(version) {
			c.fault("VAL073", n, path+".version", "wants %s, and the list %s has version %s", version, ref, found.list.version)
			return
		}
		c.warn("VAL073", n, path+".version", "wants %s, and the list %s has version %s", version, ref, found.list.version)
	}
	c.checkDepends(r.shelf, found.list, n, path, []string{ref})
	f.lists[ref] = &reference{list: found.list, entries: filtered(found.list.entries, filter)}
}

func (c *checker) checkUnusedLists(f *file) {
	if f.handlers.all || len(f.handlers.members) > 0 {
		return // the handlers may use it
	}
	for i, n := range f.main.get("sharedLists").list() {
		if ref := n.get("ref").str(); ref != "" && !f.used[ref] {
			c.warn("VAL075", n, index("main.sharedLists", i), "the list %s is not used", ref)
		}
	}
}

func firstError(findings []Finding) string {
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

// provider is the folder that must be named like the namespace; empty: the
// file does not stand in a library's folder.
func provider(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(filepath.Dir(dir)) == "providers" {
		return filepath.Base(dir)
	}
	return ""
}
