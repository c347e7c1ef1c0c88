package openapi

import (
	"cmp"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// api is one document with what its operations share.
type api struct {
	doc     *document
	at      *url.URL // where the document was read; nil: a file
	options Options
	choice  *chooser
	changes []*change
	base    *url.URL // the server of operations that name none
	baseErr error    // why there is no base
	schemes map[string]*scheme

	homes       *destinations   // nil: the document is read once
	authOrigins map[string]bool // that the operator names; empty: none

	unbelieved []unbelieved // marks of the document that do nothing

	upstreams *egress.Upstreams // nil: each request is sent once and at once

	yes, no bool // what hints point to

	mu     sync.Mutex
	shorts shorts
	told   int // how many of the document's conversion faults were handed out
}

// operation is one operation, whatever the version of its document.
type operation struct {
	api    *api
	method string // upper case where the specification names it, else as written
	path   string // template without its "#fragment"
	item   value  // path item
	node   value  // operation object
	safe   bool   // changes nothing at the upstream

	changes []*change // of how it is offered

	once sync.Once
	plan *plan // what is fixed about its requests; see planned
}

// planned returns what is fixed about o's requests, worked out at first use.
func (o *operation) planned() *plan {
	o.once.Do(func() { o.plan = newPlan(o) })
	if o.plan == nil { // the first time ended in a panic
		panic("the requests of " + o.method + " " + o.path + " could not be worked out")
	}
	return o.plan
}

// files is where arguments that stand for bytes may come from.
func (a *api) files() *files { return &files{root: a.options.FileRoot} }

// legacy tells documents of version 2.0 from the others.
func (a *api) legacy() bool { return a.doc.version == v20 }

// index makes a tool of each operation, in the order of the document.
func (a *api) index() (tenon.Features, error) {
	paths := a.doc.root.get("paths")
	ix := &indexer{api: a, names: names{make(map[string]int, 2*paths.len()), cmp.Or(a.options.MaxName, maxName)}}
	for path, item := range paths.each() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		ix.path(path, item)
	}
	for _, rule := range a.choice.unused() {
		ix.fault(paths, fmt.Sprintf("the rule %q matches no operation", rule.Text), rule.Meant)
		ix.offer.Diagnostics[len(ix.offer.Diagnostics)-1].Kind = tenon.DiagnosticSelector
	}
	if err := a.unreached(ix.changed); err != nil {
		return tenon.Features{}, err
	}
	ix.offer.Tools = ix.tools()
	a.doc.tellPatterns()
	ix.offer.Diagnostics = slices.Concat(a.settleDestinations(ix.found), a.unbelievedMarks(), ix.offer.Diagnostics) // first, because it is about what may be called
	ix.offer.Diagnostics = append(ix.offer.Diagnostics, a.conversionFaults()...)                                    // what reading the bytes lost
	return ix.offer, nil
}

type indexer struct {
	api   *api
	names names
	found []found
	offer tenon.Features

	changed []*operation // that are offered otherwise than the document says
}

// found is an operation that is offered, where it was described and its name.
type found struct {
	op   *operation
	at   value
	name string
}

// tools makes the tools, of many by all processors: a client waits for them.
// One that cannot be made is missing, and told.
func (ix *indexer) tools() []tenon.Tool {
	const many = 1000
	all := ix.found
	tools, parts := make([]tenon.Tool, len(all)), 1
	if len(all) >= many {
		parts = runtime.GOMAXPROCS(0)
	}
	failed := make([][]error, parts)
	made := incident.NewGroup(ix.api.options.Logger, "making tools", parts)
	for part := range parts {
		made.Go(func() {
			for i := len(all) * part / parts; i < len(all)*(part+1)/parts; i++ {
				err := incident.Catch(ix.api.options.Logger, "making the tool "+all[i].name, func() {
					tools[i] = all[i].op.tool(all[i].name, all[i].at)
				}, nil)
				if err != nil {
					tools[i] = tenon.Tool{}
					failed[part] = append(failed[part], err)
				}
			}
		}, nil)
	}
	made.Wait()
	for _, err := range slices.Concat(failed...) {
		ix.fault(ix.api.doc.root, "a tool is left out: "+err.Error(), "")
	}
	return slices.DeleteFunc(tools, func(t tenon.Tool) bool { return t.Handler == nil })
}

func (ix *indexer) fault(v value, what, do string) {
	ix.offer.Diagnostics = append(ix.offer.Diagnostics, ix.api.doc.fault(v, what, do))
}

func (ix *indexer) path(path string, v value) {
	item, err := ix.api.doc.deref(v)
	switch {
	case err != nil:
		ix.fault(v, "path "+path+" is skipped: "+err.Error(), "")
		return
	case !strings.HasPrefix(path, "/"):
		ix.fault(v, "path "+path+" is skipped: it does not begin with /", "")
		return
	case item.kind() != rawjson.Object:
		ix.fault(v, "path "+path+" is skipped: it is no object", "")
		return
	}
	if before, fragment, _ := strings.Cut(path, "#"); !strings.Contains(fragment, "/") {
		path = before // Box tells operations of one path apart by a fragment
	}
	for key, node := range item.each() {
		if m := method(key); m != "" {
			ix.operation(m, path, item, node)
		} else if key == "additionalOperations" {
			ix.additional(path, item, node)
		}
	}
}

// additional reads the methods that have no member of their own (3.2).
func (ix *indexer) additional(path string, item, nodes value) {
	for key, node := range nodes.each() {
		if !isToken(key) || key == "CONNECT" || method(strings.ToLower(key)) == key {
			ix.fault(node, "operation "+key+" "+path+" is skipped: not a method for additionalOperations", "")
			continue
		}
		ix.operation(key, path, item, node)
	}
}

func (ix *indexer) operation(method, path string, item, v value) {
	node, err := ix.api.doc.deref(v) // not in the specification but in DigitalOcean's document
	if err != nil {
		ix.fault(v, "operation "+method+" "+path+" is skipped: "+err.Error(), "")
		return
	}
	if node.kind() != rawjson.Object {
		ix.fault(v, "operation "+method+" "+path+" is skipped: it is no object", "")
		return
	}
	op := &operation{api: ix.api, method: method, path: path, item: item, node: node}
	op.changes = ix.api.changesOf(op)
	op.settleSafe()
	wanted := propose(said(op, func(c *OperationOverride) string { return c.Name }, node.strAt("operationId")), method, path, ix.names.most)
	name := ix.names.take(wanted) // also of what is not chosen: a choice renames nothing
	if !ix.api.choice.takes(op) {
		return
	}
	if media, required := op.unsendable(); media != "" {
		what := "operation " + method + " " + path + " is served without its request body: "
		if required {
			what = "operation " + method + " " + path + " is left out: its request body is required, and "
		}
		ix.fault(v, what+"no body of type "+media+" can be made", "describe it as JSON, a form, text or bytes")
		if required {
			return
		}
	}
	if name != wanted {
		ix.fault(v, "the name "+wanted+" is taken; operation "+method+" "+path+" is served as "+name, "give each operation its own operationId")
	}
	ix.found = append(ix.found, found{op, v, name})
	if op.changes != nil {
		ix.changed = append(ix.changed, op)
	}
}

// method returns the method of a path item's member, or "" where the member is
// no operation. A switch on constants: no string is allocated.
func method(key string) string {
	switch key {
	case "get":
		return "GET"
	case "put":
		return "PUT"
	case "post":
		return "POST"
	case "delete":
		return "DELETE"
	case "options":
		return "OPTIONS"
	case "head":
		return "HEAD"
	case "patch":
		return "PATCH"
	case "trace":
		return "TRACE"
	case "query":
		return "QUERY"
	}
	return ""
}

// isSafe names the methods that change nothing (RFC 9110 §9.2.1 and the QUERY
// method).
func isSafe(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY":
		return true
	}
	return false
}

// isToken tells whether s may be a method or the name of a header (RFC 9110
// §5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
