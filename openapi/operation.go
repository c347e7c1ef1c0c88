package openapi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/idempotency"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// api is one document and what its operations share.
type api struct {
	doc       *document.Document
	schemas   *convert.Converter
	at        *url.URL // where the document was read; nil: a file
	options   Options
	selection *selection
	overrides []*override
	base      *url.URL // the server of operations that declare none
	baseErr   error    // why there is no base
	schemes   map[string]*scheme

	destinations *destinations   // nil: the document is read once
	authOrigins  map[string]bool // set by the operator; empty: none

	ignoredMarks []ignoredMark // extensions of the document without effect

	upstreams *egress.Upstreams // nil: each request is sent once, without limits
	keys      *idempotency.Keys

	definition tenon.DefinitionAt // of all tools

	yes, no bool // targets of the pointers in annotations

	mu                  sync.Mutex
	published           publishedSchemas
	reportedConversions int // how many of the document's conversion diagnostics were reported
}

// operation is an operation of any version of OpenAPI.
type operation struct {
	api    *api
	method string         // upper case if the specification names it, else as written
	path   string         // template without its "#fragment"
	item   document.Value // path item
	node   document.Value // operation object
	safe   bool           // changes nothing at the upstream

	overrides []*override // overrides

	once sync.Once
	plan *plan // the constant parts of its requests; see planned
}

// planned returns the plan of o's requests, which is made at first use.
func (o *operation) planned() *plan {
	o.once.Do(func() { o.plan = newPlan(o) })
	if o.plan == nil { // its first use panicked
		panic("the requests of " + o.method + " " + o.path + " could not be planned")
	}
	return o.plan
}

// files returns the source of file arguments.
func (a *api) files() *encode.Files { return &encode.Files{Root: a.options.UploadRoot} }

// legacy reports whether the document is of version 2.0.
func (a *api) legacy() bool { return a.doc.Version == document.V20 }

// index makes a tool of each operation, in the order of the document.
func (a *api) index() (tenon.Features, error) {
	paths := a.doc.Root.Get("paths")
	ix := &indexer{api: a, names: names{make(map[string]int, 2*paths.Len()), cmp.Or(a.options.MaxName, maxName)}}
	for path, item := range paths.Each() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		ix.path(path, item)
	}
	for _, rule := range a.selection.unused() {
		ix.addDiagnostic(paths, fmt.Sprintf("the selector %q matches no operation", rule.Text), rule.Suggestion)
		ix.features.Diagnostics[len(ix.features.Diagnostics)-1].Kind = tenon.DiagnosticSelector
	}
	if err := a.checkUnusedOverrides(ix.changed); err != nil {
		return tenon.Features{}, err
	}
	ix.features.Tools = ix.tools()
	reportPatterns(a.doc)
	ix.features.Diagnostics = slices.Concat(a.checkDestinations(ix.found), a.ignoredMarkDiagnostics(), ix.features.Diagnostics) // first, because they concern credentials
	ix.features.Diagnostics = append(ix.features.Diagnostics, a.conversionDiagnostics()...)                                     // of reading the bytes
	return ix.features, nil
}

type indexer struct {
	api      *api
	names    names
	found    []found
	features tenon.Features

	changed []*operation // those with overrides
}

// found is a selected operation, the place of its description and its name.
type found struct {
	op   *operation
	at   document.Value
	name string
}

// tools makes the tools, many of them in parallel: a client is waiting. One
// that cannot be made is skipped and reported.
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
		ix.addDiagnostic(ix.api.doc.Root, "a tool is skipped: "+err.Error(), "")
	}
	return slices.DeleteFunc(tools, func(t tenon.Tool) bool { return t.Handler == nil })
}

func (ix *indexer) addDiagnostic(v document.Value, what, do string) {
	ix.features.Diagnostics = append(ix.features.Diagnostics, ix.api.doc.Diagnostic(v, what, do))
}

func (ix *indexer) path(path string, v document.Value) {
	item, err := ix.api.doc.Deref(v)
	switch {
	case err != nil:
		ix.addDiagnostic(v, "path "+path+" is skipped: "+err.Error(), "")
		return
	case !strings.HasPrefix(path, "/"):
		ix.addDiagnostic(v, "path "+path+" is skipped: it does not start with /", "")
		return
	case item.Kind() != rawjson.Object:
		ix.addDiagnostic(v, "path "+path+" is skipped: not an object", "")
		return
	}
	if before, fragment, _ := strings.Cut(path, "#"); !strings.Contains(fragment, "/") {
		path = before // Box has several operations per path, with different fragments
	}
	for key, node := range item.Each() {
		if m := document.Method(key); m != "" {
			ix.operation(m, path, item, node)
		} else if key == "additionalOperations" {
			ix.additional(path, item, node)
		}
	}
}

// additional reads the methods without a member of their own (3.2).
func (ix *indexer) additional(path string, item, nodes document.Value) {
	for key, node := range nodes.Each() {
		if !encode.IsToken(key) || key == "CONNECT" || document.Method(strings.ToLower(key)) == key {
			ix.addDiagnostic(node, "operation "+key+" "+path+" is skipped: not a method for additionalOperations", "")
			continue
		}
		ix.operation(key, path, item, node)
	}
}

func (ix *indexer) operation(method, path string, item, v document.Value) {
	node, err := ix.api.doc.Deref(v) // a reference is not allowed here, but DigitalOcean's document has them
	if err != nil {
		ix.addDiagnostic(v, "operation "+method+" "+path+" is skipped: "+err.Error(), "")
		return
	}
	if node.Kind() != rawjson.Object {
		ix.addDiagnostic(v, "operation "+method+" "+path+" is skipped: not an object", "")
		return
	}
	op := &operation{api: ix.api, method: method, path: path, item: item, node: node}
	op.overrides = ix.api.overridesOf(op)
	op.resolveSafe()
	wanted := propose(lastOverride(op, func(c *OperationOverride) string { return c.Name }, node.StrAt("operationId")), method, path, ix.names.maxLength)
	name := ix.names.take(wanted) // unselected operations take their names too, so that a selection renames nothing
	if !ix.api.selection.selects(op) {
		return
	}
	if media, required := op.unsupportedMedia(); media != "" {
		what := "operation " + method + " " + path + " is served without its request body: "
		if required {
			what = "operation " + method + " " + path + " is skipped: its request body is required, and "
		}
		ix.addDiagnostic(v, what+"bodies of type "+media+" are not supported", "declare it as JSON, a form, text or bytes")
		if required {
			return
		}
	}
	if name != wanted {
		ix.addDiagnostic(v, "the name "+wanted+" is taken; operation "+method+" "+path+" is served as "+name, "give each operation its own operationId")
	}
	ix.found = append(ix.found, found{op, v, name})
	if op.overrides != nil {
		ix.changed = append(ix.changed, op)
	}
}

// isSafe reports whether a method is safe (RFC 9110 §9.2.1 and the QUERY
// method).
func isSafe(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY":
		return true
	}
	return false
}

// maxName is the longest name that all clients accept; Options.MaxName sets
// another limit.
const maxName = 64

// names gives the operations of a document unique names, in the order of the
// document.
type names struct {
	taken     map[string]int
	maxLength int // maximum length of a name
}

// propose returns the preferred name of an operation.
func propose(id, method, path string, most int) string {
	if n := sanitizeName(id); n != "" {
		return shorten(n, most)
	}
	return shorten(sanitizeName(strings.ToLower(method)+" "+path), most)
}

// take returns n if it is free, else n with a number, and reserves it.
func (ns names) take(n string) string {
	for {
		k := ns.taken[n] + 1
		ns.taken[n] = k
		if k == 1 {
			return n
		}
		suffix := "_" + strconv.Itoa(k)
		m := n[:min(len(n), ns.maxLength-len(suffix))] + suffix
		if ns.taken[m] == 0 {
			ns.taken[m] = 1
			return m
		}
	}
}

// sanitizeName replaces each run of characters that are not allowed in a name with one
// underscore, and removes runs at the ends.
func sanitizeName(s string) string {
	ok := true
	for i := 0; i < len(s) && ok; i++ {
		ok = isNameByte(s[i])
	}
	if ok {
		return s
	}
	b := make([]byte, 0, len(s))
	gap := false
	for i := range len(s) {
		if !isNameByte(s[i]) {
			gap = true
			continue
		}
		if gap && len(b) > 0 && b[len(b)-1] != '_' && s[i] != '_' {
			b = append(b, '_')
		}
		gap = false
		b = append(b, s[i])
	}
	return string(b)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// shorten cuts a long name at the end of a word and appends a hash of the whole
// name, so that the result does not depend on other names in the document.
func shorten(n string, most int) string {
	if len(n) <= most {
		return n
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(n))
	suffix := fmt.Sprintf("_%06x", h.Sum32()&0xffffff)
	head := n[:most-len(suffix)]
	if i := strings.LastIndexAny(head, "_-."); i > len(head)*2/3 {
		head = head[:i]
	}
	return strings.TrimRight(head, "_-.") + suffix
}
