package format

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// HandlerSet records which tools of a file need its JavaScript. It is read from
// the syntax tree of the factory; the factory is not called.
type HandlerSet struct {
	Line    int                 // line of the factory; 0: unknown
	all     bool                // the returned object is unknown: every tool may need it
	members map[string]bool     // members of the returned object; true: has functions
	Stages  map[string][]string // keys of a member that is an object literal

	Libraries   map[string][]string // libraries that a member uses, directly or not
	unsafeWords map[string]string   // the word in a member's code that indicates unsafe requests
	Names       map[string]bool     // all names in the factory
}

// Needs reports whether a tool may need the file's JavaScript.
func (h HandlerSet) Needs(tool string) bool { return h.all || h.members[tool] }

// readHandlers finds the keys of the object that the export handlers returns.
func (c *checker) readHandlers(main *module.Node) HandlerSet {
	h := HandlerSet{members: map[string]bool{}, Stages: map[string][]string{}, Libraries: map[string][]string{}, unsafeWords: map[string]string{}}
	x, at := c.m.Export("handlers")
	if x == nil {
		return h
	}
	h.Line, h.Names = c.m.Line(at), module.Names(x)
	body, ok := factoryBody(x)
	if !ok {
		c.add(at, Finding{Code: "VAL004", Severity: c.strictOr(Warning), Path: "handlers", Message: "must be a function that returns the handlers"})
		h.all = true
		return h
	}
	object := returned(body)
	if object == nil {
		h.all = true
		return h
	}
	wanted := main.Get("requiredLibraries").Strings()
	leads, within := module.NewReferences(c.m.AST), module.NewScopedReferences(c.m.AST)
	for _, p := range object.List {
		name := module.NameOf(p)
		if p.Spread || name == nil || name.IsComputed() {
			h.all = true
			continue
		}
		e := &module.Evaluator{Module: c.m}
		key := e.Key(name.Literal)
		inner, isObject := p.Value.(*js.ObjectExpr)
		h.members[key] = !isObject || len(inner.List) > 0
		h.unsafeWords[key] = within.From(p.Value, sendingWords())
		if len(wanted) > 0 {
			h.Libraries[key] = leads.From(p.Value, wanted)
		}
		if isObject {
			h.Stages[key] = stages(e, inner)
		}
		tools, resources := ToolsOf(main), main.Get("resources")
		isTool, resource := tools.Get(key).Exists(), resources.Get(key)
		switch path := "handlers." + key; {
		case !isTool && !resource.Exists():
			c.noHandler(e.Offset, Finding{Code: "VAL005", Path: path, Message: "matches no tool and no resource"}, key, append(tools.ObjectKeys(), resources.ObjectKeys()...))
		case !isObject:
		case isTool:
			c.checkKinds(e, path, inner, handlerKinds())
		default:
			c.checkQueryHandlers(e, path, inner, resource)
		}
	}
	return h
}

// checkSigning reports a file that may need the values of its server
// parameters.
func (c *checker) checkSigning(f *File) {
	x, at := c.m.Export("handlers")
	if x == nil || len(f.ServerParams) == 0 {
		return
	}
	signs := module.NewReferences(c.m.AST).From(x, []string{"createHash", "createHmac", "createSign", "subtle", "btoa", "base64", "sha256", "hmac", "md5"})
	if len(signs) > 0 {
		c.add(at, Finding{Code: "SEC105", Severity: Warning, Path: "handlers", Message: "use " + signs[0] +
			", and the file has server parameters: if they sign with one, they need its value, which the operator must allow (handler secrets)"})
	}
}

// sendingWords returns words of code that sends POST and the like: methods for
// fetch and struct.method, and JSON-RPC clients of the libraries.
func sendingWords() []string {
	return []string{
		"POST", "post", "PUT", "PATCH", "DELETE", "JsonRpcProvider", "StaticJsonRpcProvider", "FallbackProvider", "AlchemyProvider", "InfuraProvider",
		"AnkrProvider", "QuickNodeProvider", "CloudflareProvider", "EtherscanProvider", "getDefaultProvider", "createPublicClient", "Web3",
	}
}

// checkSending reports read-only tools whose handlers may send unsafe requests,
// which are refused at run time.
func (c *checker) checkSending(f *File) {
	for _, t := range f.Tools {
		word := f.Handlers.unsafeWords[t.Name]
		if word == "" || t.Broken || !t.ReadOnly() || t.MaySend(http.MethodPost) {
			continue
		}
		c.tool = t.Name
		c.add(t.offset, Finding{Code: "SEC107", Severity: Warning, Path: "handlers." + t.Name, Message: "uses " + word + ", but the tool is a " + t.Method +
			": requests other than GET are refused; if they only read, set meta.isReadOnly (or serve with --handler-reads " + t.ID() + "), else change the tool's method"})
	}
	c.tool = ""
}

// stages returns the handlers of a tool in call order, or nil where they are
// unknown.
func stages(e *module.Evaluator, x *js.ObjectExpr) []string {
	there := map[string]bool{}
	for _, p := range x.List {
		name := module.NameOf(p)
		if p.Spread || name == nil || name.IsComputed() {
			return nil
		}
		there[e.Key(name.Literal)] = true
	}
	found := []string{}
	for _, stage := range handlerKinds() {
		if there[stage] {
			found = append(found, stage)
		}
	}
	return found
}

// handlerKinds returns the handlers of a tool in call order.
func handlerKinds() []string { return []string{"preRequest", "executeRequest", "postRequest"} }

// checkKinds reports members of a tool's handlers that are never called.
func (c *checker) checkKinds(e *module.Evaluator, path string, x *js.ObjectExpr, known []string) {
	e.Members(x, func(key string, _ js.INode) {
		if !slices.Contains(known, key) {
			c.noHandler(e.Offset, Finding{Code: "VAL006", Path: path + "." + key, Message: "is never called: the handlers are " + strings.Join(known, ", ")}, key, known)
		}
	})
}

// checkQueryHandlers checks the handlers of a resource, which are grouped by
// query.
func (c *checker) checkQueryHandlers(e *module.Evaluator, path string, x *js.ObjectExpr, resource *module.Node) {
	queries := append(resource.Get("queries").ObjectKeys(), "runSql", "describeTables")
	e.Members(x, func(key string, value js.INode) {
		if !slices.Contains(queries, key) {
			c.noHandler(e.Offset, Finding{Code: "VAL005", Path: path + "." + key, Message: "matches no query of the resource"}, key, queries)
		} else if inner, ok := value.(*js.ObjectExpr); ok {
			c.checkKinds(e, path+"."+key, inner, []string{"postRequest"})
		}
	})
}

// noHandler reports a member that is never called, with a suggestion.
func (c *checker) noHandler(at int, f Finding, key string, known []string) {
	f.Severity = Warning
	if near := suggest.Near(key, known, 1); near != nil {
		f.Message += "; " + "did you mean " + near[0] + "?"
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

// returned returns the object literal of the single return statement at the end
// of the body, or nil.
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
		if v.Uses > 2 { // declared and returned; any other use may modify it
			return nil
		}
		x = local(body, string(v.Data))
	}
	object, _ := x.(*js.ObjectExpr)
	return object
}

// branches reports whether a statement can contain another return.
func branches(s js.IStmt) bool {
	switch s.(type) {
	case *js.VarDecl, *js.FuncDecl, *js.ClassDecl, *js.ExprStmt, *js.EmptyStmt, *js.DirectivePrologueStmt, *js.Comment:
		return false
	}
	return true
}

// local returns the value of a constant of the body.
func local(body *js.BlockStmt, name string) js.IExpr {
	for _, s := range body.List {
		d, ok := s.(*js.VarDecl)
		if !ok || d.TokenType != js.ConstToken {
			continue
		}
		value, _ := module.Declared(d, name)
		if x, ok := value.(js.IExpr); ok {
			return x
		}
	}
	return nil
}
