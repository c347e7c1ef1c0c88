package flowmcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/internal/suggest"
)

// handlerSet says which tools of a file need its JavaScript. It is read from
// the syntax tree of the factory; the factory is not called.
type handlerSet struct {
	line    int                 // where the factory stands; 0: not known
	all     bool                // what the factory returns cannot be told: every tool may need it
	members map[string]bool     // of the returned object; true: has functions
	stages  map[string][]string // of a member that is an object literal: its keys

	libraries map[string][]string // that a member leads to
	sends     map[string]string   // of a member: a word in what it leads to by which requests are sent that may change something
	names     map[string]bool     // that stand in the factory
}

func (h handlerSet) needs(tool string) bool { return h.all || h.members[tool] }

// readHandlers finds the keys of the object that the export handlers returns.
func (c *checker) readHandlers(main *node) handlerSet {
	h := handlerSet{members: map[string]bool{}, stages: map[string][]string{}, libraries: map[string][]string{}, sends: map[string]string{}}
	x, at := c.m.exported("handlers")
	if x == nil {
		return h
	}
	h.line, h.names = c.m.line(at), names(x)
	body, ok := factoryBody(x)
	if !ok {
		c.add(at, Finding{Code: "VAL004", Severity: c.or(Warning), Path: "handlers", Message: "must be a function that returns the handlers"})
		h.all = true
		return h
	}
	object := returned(body)
	if object == nil {
		h.all = true
		return h
	}
	wanted := main.get("requiredLibraries").strs()
	leads, within := newReach(c.m.ast), newScoped(c.m.ast)
	for _, p := range object.List {
		name := nameOf(p)
		if p.Spread || name == nil || name.IsComputed() {
			h.all = true
			continue
		}
		e := &evaluator{m: c.m}
		key := e.key(name.Literal)
		inner, isObject := p.Value.(*js.ObjectExpr)
		h.members[key] = !isObject || len(inner.List) > 0
		h.sends[key] = within.from(p.Value, sendingWords())
		if len(wanted) > 0 {
			h.libraries[key] = leads.from(p.Value, wanted)
		}
		if isObject {
			h.stages[key] = e.stages(inner)
		}
		tools, resources := toolsOf(main), main.get("resources")
		isTool, resource := tools.get(key).there(), resources.get(key)
		switch path := "handlers." + key; {
		case !isTool && !resource.there():
			c.noHandler(e.at, Finding{Code: "VAL005", Path: path, Message: "matches no tool and no resource"}, key, append(tools.keysOrNone(), resources.keysOrNone()...))
		case !isObject:
		case isTool:
			c.checkKinds(e, path, inner, handlerKinds())
		default:
			c.checkQueryHandlers(e, path, inner, resource)
		}
	}
	return h
}

// checkSigning names a file that may need the values of its server parameters.
func (c *checker) checkSigning(f *file) {
	x, at := c.m.exported("handlers")
	if x == nil || len(f.server) == 0 {
		return
	}
	signs := newReach(c.m.ast).from(x, []string{"createHash", "createHmac", "createSign", "subtle", "btoa", "base64", "sha256", "hmac", "md5"})
	if len(signs) > 0 {
		c.add(at, Finding{Code: "SEC105", Severity: Warning, Path: "handlers", Message: "use " + signs[0] +
			", and the file has server parameters: if they sign with one, they need its value, which only the operator can hand out (handler secrets)"})
	}
}

// sendingWords stand in code that sends a POST and the like: methods, as fetch
// and struct.method take them, and what of the libraries speaks JSON-RPC.
func sendingWords() []string {
	return []string{
		"POST", "post", "PUT", "PATCH", "DELETE", "JsonRpcProvider", "StaticJsonRpcProvider", "FallbackProvider", "AlchemyProvider", "InfuraProvider",
		"AnkrProvider", "QuickNodeProvider", "CloudflareProvider", "EtherscanProvider", "getDefaultProvider", "createPublicClient", "Web3",
	}
}

// checkSending names the tools that only read and whose handlers may send what
// does not count as a read: such a request is refused when it is made.
func (c *checker) checkSending(f *file) {
	for _, t := range f.routes {
		word := f.handlers.sends[t.name]
		if word == "" || t.broken || !t.readOnly() || t.maySend(http.MethodPost) {
			continue
		}
		c.tool = t.name
		c.add(t.at, Finding{Code: "SEC107", Severity: Warning, Path: "handlers." + t.name, Message: "leads to " + word + ", and the tool is a " + t.method +
			": a request that is no GET is refused; where it only reads, say so in meta.isReadOnly (or serve with --handler-reads " + t.id() + "), else the method of the tool is another"})
	}
	c.tool = ""
}

// stages are the handlers of a tool, in the order of a call; nil: they cannot
// be told.
func (e *evaluator) stages(x *js.ObjectExpr) []string {
	there := map[string]bool{}
	for _, p := range x.List {
		name := nameOf(p)
		if p.Spread || name == nil || name.IsComputed() {
			return nil
		}
		there[e.key(name.Literal)] = true
	}
	found := []string{}
	for _, stage := range handlerKinds() {
		if there[stage] {
			found = append(found, stage)
		}
	}
	return found
}

// handlerKinds are the handlers of a tool, in the order of a call.
func handlerKinds() []string { return []string{"preRequest", "executeRequest", "postRequest"} }

// checkKinds names the members of a tool's handlers that nothing calls.
func (c *checker) checkKinds(e *evaluator, path string, x *js.ObjectExpr, known []string) {
	e.members(x, func(key string, _ js.INode) {
		if !slices.Contains(known, key) {
			c.noHandler(e.at, Finding{Code: "VAL006", Path: path + "." + key, Message: "is never called: the handlers are " + strings.Join(known, ", ")}, key, known)
		}
	})
}

// checkQueryHandlers looks at the handlers of a resource, which stand below the
// names of its queries.
func (c *checker) checkQueryHandlers(e *evaluator, path string, x *js.ObjectExpr, resource *node) {
	queries := append(resource.get("queries").keysOrNone(), "runSql", "describeTables")
	e.members(x, func(key string, value js.INode) {
		if !slices.Contains(queries, key) {
			c.noHandler(e.at, Finding{Code: "VAL005", Path: path + "." + key, Message: "matches no query of the resource"}, key, queries)
		} else if inner, ok := value.(*js.ObjectExpr); ok {
			c.checkKinds(e, path+"."+key, inner, []string{"postRequest"})
		}
	})
}

// members calls each with the members of an object whose names can be told.
func (e *evaluator) members(x *js.ObjectExpr, each func(key string, value js.INode)) {
	for _, p := range x.List {
		if name := nameOf(p); !p.Spread && name != nil && !name.IsComputed() {
			each(e.key(name.Literal), p.Value)
		}
	}
}

// noHandler reports a member of the handlers that nothing calls, with the name
// that may have been meant.
func (c *checker) noHandler(at int, f Finding, key string, known []string) {
	f.Severity = Warning
	if near := suggest.Near(key, known, 1); near != nil {
		f.Message += "; " + near[0] + " may be meant"
	}
	c.add(at, f)
}

func factoryBody(x js.INode) (*js.BlockStmt, bool) {
	for {
		switch f := x.(type) {
		case *js.GroupExpr:
			x = f.X
			continue
		case *js.ArrowFunc:
			return &f.Body, true
		case *js.FuncDecl:
			return &f.Body, true
		}
		return nil, false
	}
}

// returned is the object literal that the body returns in its one return
// statement at the end; nil: it cannot be told.
func returned(body *js.BlockStmt) *js.ObjectExpr {
	if len(body.List) == 0 {
		return nil
	}
	last, ok := body.List[len(body.List)-1].(*js.ReturnStmt)
	if !ok || slices.ContainsFunc(body.List[:len(body.List)-1], branches) {
		return nil
	}
	x := last.Value
	for {
		g, ok := x.(*js.GroupExpr)
		if !ok {
			break
		}
		x = g.X
	}
	if v, ok := x.(*js.Var); ok {
		if v.Uses > 2 { // declared and returned: any other use may change it
			return nil
		}
		x = local(body, string(v.Data))
	}
	object, _ := x.(*js.ObjectExpr)
	return object
}

// branches reports whether a statement could return something else.
func branches(s js.IStmt) bool {
	switch s.(type) {
	case *js.VarDecl, *js.FuncDecl, *js.ClassDecl, *js.ExprStmt, *js.EmptyStmt, *js.DirectivePrologueStmt, *js.Comment:
		return false
	}
	return true
}

// local is what a constant of the body was declared as.
func local(body *js.BlockStmt, name string) js.IExpr {
	for _, s := range body.List {
		d, ok := s.(*js.VarDecl)
		if !ok || d.TokenType != js.ConstToken {
			continue
		}
		value, _ := declared(d, name)
		if x, ok := value.(js.IExpr); ok {
			return x
		}
	}
	return nil
}
