package format

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// checkTool reads a tool's parameters and checks the tool.
func (c *checker) checkTool(f *File, t *Tool, n *module.Node, path string) {
	if !camelPattern.MatchString(t.Name) {
		c.lenient("VAL030", n, path, "the name is not camelCase")
	}
	n.Members(func(key string, value *module.Node) {
		switch key {
		case "method", "path", "description", "parameters", "output", "preload", "tests", "meta", "headers":
		case "async":
			c.info("VAL037", value, path+".async", "is reserved and ignored")
		default:
			c.warn("VAL076", value, path+"."+key, "is not a field of the format")
		}
	})
	if !slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, t.Method) {
		c.error("VAL032", orElse(n.Get("method"), n), path+".method", "must be GET, POST, PUT or DELETE")
	}
	switch p := n.Get("path"); {
	case !p.Is(module.String):
		c.error("VAL033", orElse(p, n), path+".path", "must be a string")
	case !strings.HasPrefix(p.Text, "/") && p.Text != "":
		c.lenient("VAL033", p, path+".path", "must start with /")
	}
	if t.Description == "" {
		c.error("VAL034", orElse(n.Get("description"), n), path+".description", "is missing or no string")
	}
	c.readParameters(t, n, path)
	t.AcceptsMore = !c.strict && testsGiveMore(t, n)
	c.checkPath(f, t, n, path)
	c.checkOutput(n, path+".output")
	c.checkPreload(t, n.Get("preload"), path+".preload")
	if t.Meta.Exists() {
		c.checkMeta(t.Meta, path+".meta")
	} else {
		c.strictOnly("VAL100", n, path+".meta", "is missing")
	}
	if c.tests {
		c.checkTests(t, n, path+".tests", toolCases())
	}
	if root := f.Main.Get("root"); root.Is(module.String) && root.Text == "" && !t.Handled {
		c.error("VAL015", root, path, "has neither a root nor a handler to make its request")
	}
}

// readParameters reads the parameters of a tool.
func (c *checker) readParameters(t *Tool, n *module.Node, path string) {
	list := n.Get("parameters")
	if !list.Is(module.Array) {
		c.error("VAL035", orElse(list, n), path+".parameters", "must be an array")
		return
	}
	t.implicit = hasImplicit(t, list)
	for i, p := range list.Items {
		if read := c.readParameter(t, p, index(path+".parameters", i)); read != nil {
			t.Parameters = append(t.Parameters, read)
			if read.Location == InBody && (t.Method == "GET" || t.Method == "DELETE") {
				c.unused("VAL083", p, t, read.path, "a "+t.Method+" request has no body")
			}
		}
	}
}

// testsGiveMore reports whether the tool's own test cases use arguments that it
// does not declare. Rejecting them would reject the file's own examples.
func testsGiveMore(t *Tool, n *module.Node) bool {
	for _, test := range n.Get("tests").List() {
		for _, key := range test.ObjectKeys() {
			declared := slices.ContainsFunc(t.Parameters, func(p *Parameter) bool { return slices.Contains(p.Arguments(), key) })
			if key != "_description" && !declared {
				return true
			}
		}
	}
	return false
}

// checkPath compares the placeholders of the path with the parameters.
func (c *checker) checkPath(f *File, t *Tool, n *module.Node, path string) {
	at := n.Get("path")
	used := map[string]bool{}
	t.Pieces = SplitPath(f.Main.Get("root").Str()+t.Path, t, f.ServerParams)
	for _, p := range t.Pieces {
		switch {
		case p.Kind == ArgumentPiece:
			used[p.Text] = true
			if !p.braces {
				c.strictOnly("VAL089", at, path+".path", "writes :%s or {%s} for {{%s}}", p.Text, p.Text, p.Text)
			}
		case p.Kind == ServerPiece:
			c.strictOnly("VAL086", at, path+".path", "names the server parameter %s in the path", p.Text)
		case p.unresolved:
			c.at(at, "VAL084", c.strictOr(unlessHandled(t, Fatal)), path+".path", "the placeholder "+p.Text+" has no insert parameter")
		}
	}
	if len(f.ServerParams) > 0 && t.HasFreeHost() {
		c.warn("SEC106", at, path+".path", "a free-text argument in the host of root would choose who receives a server parameter: such calls are refused; restrict it with an enum or --auth-origin")
	}
	for _, p := range t.Parameters {
		if p.Location == InInsert && !used[p.Key] {
			c.unused("VAL050", at, t, p.path, "the path has no placeholder for "+p.Key)
		}
	}
}

// unused reports a parameter that is not part of the request. Only a handler
// can use it.
func (c *checker) unused(code string, at *module.Node, t *Tool, path, what string) {
	if t.Handled {
		c.strictOnly(code, at, path, "%s; handlers receive it", what)
		return
	}
	c.lenient(code, at, path, "%s; it is not sent", what)
}

// unlessHandled lowers a finding to a warning where a handler may fix the request.
func unlessHandled(t *Tool, s Severity) Severity {
	if t.Handled {
		return Warning
	}
	return s
}

// checkPreload checks the cache block.
func (c *checker) checkPreload(t *Tool, n *module.Node, path string) {
	if !n.Exists() {
		return
	}
	if !n.Is(module.Object) {
		c.lenient("PRL001", n, path, "must be a plain object")
		return
	}
	if !n.Get("enabled").Is(module.Bool) {
		c.lenient("PRL002", orElse(n.Get("enabled"), n), path+".enabled", "must be a boolean")
	}
	if ttl := n.Get("ttl"); !ttl.Is(module.Number) || strings.ContainsAny(ttl.Text, "-.e") || ttl.Text == "0" {
		c.lenient("PRL003", orElse(ttl, n), path+".ttl", "must be a positive integer")
	}
	if d := n.Get("description"); d.Exists() && !d.Is(module.String) {
		c.warn("PRL004", d, path+".description", "must be a string")
	}
	asked, required := false, false
	for _, p := range t.Parameters {
		asked = asked || p.FromCaller()
		required = required || p.FromCaller() && !p.Type.Optional
	}
	switch {
	case !n.Get("enabled").IsTrue():
	case !asked:
		c.info("PRL005", n, path, "the tool has no arguments: one response is cached for all calls")
	case required && n.Get("description").Str() == "":
		c.strictWarning("PRL006", n, path+".description", "does not describe the cache of a tool with required arguments: one response for each set of arguments")
	}
}

// checkMeta checks the MCP block.
func (c *checker) checkMeta(n *module.Node, path string) {
	if !n.Is(module.Object) {
		c.lenient("VAL100", n, path, "must be a plain object")
		return
	}
	for _, rule := range [][2]string{{"VAL101", "isReadOnly"}, {"VAL102", "isConcurrencySafe"}, {"VAL103", "isDestructive"}, {"VAL106", "alwaysLoad"}} {
		if v := n.Get(rule[1]); !v.Is(module.Bool) {
			c.lenient(rule[0], orElse(v, n), path+"."+rule[1], "must be a boolean")
		}
	}
	if n.Get("searchHint").Str() == "" {
		c.lenient("VAL104", orElse(n.Get("searchHint"), n), path+".searchHint", "must be a nonempty string")
	}
	if a := n.Get("aliases"); !a.Is(module.Array) || len(a.Strings()) != len(a.Items) {
		c.lenient("VAL105", orElse(a, n), path+".aliases", "must be an array of strings")
	}
}

// enoughCases is the number of test cases that the format requires of a tool.
const enoughCases = 3

// caseRules are the codes for findings in test cases; queries have codes of
// their own.
type caseRules struct{ none, object, value string }

func toolCases() caseRules  { return caseRules{"TST001", "TST005", "TST004"} }
func queryCases() caseRules { return caseRules{"RES011", "RES023", "RES022"} }

// checkTests checks the test cases of a tool or a query against its parameters.
func (c *checker) checkTests(t *Tool, n *module.Node, path string, r caseRules) {
	tests := n.Get("tests")
	switch count := len(tests.List()); {
	case tests.Exists() && !tests.Is(module.Array):
		c.lenient(r.none, tests, path, "must be an array")
	case count == 0:
		c.lenient(r.none, orElse(tests, n), path, "must hold at least one case")
	case count < enoughCases && (!t.Local || len(t.Parameters) > 0):
		c.info("TST001", tests, path, "should hold at least %d cases, and has %d", enoughCases, count)
	}
	for i, test := range tests.List() {
		c.checkTest(t, test, index(path, i), r)
	}
	if len(tests.List()) > 1 {
		c.checkVariety(t, tests, path)
	}
}

func (c *checker) checkTest(t *Tool, test *module.Node, path string, r caseRules) {
	if !test.Is(module.Object) {
		c.lenient(r.object, test, path, "must be a plain object")
		return
	}
	if test.Get("_description").Str() == "" {
		c.warn("TST002", test, path+"._description", "is missing or no string")
	}
	known := map[string]bool{"_description": true}
	for _, p := range t.Parameters {
		for _, name := range p.Arguments() {
			known[name] = true
			value := test.Get(name)
			switch {
			case !value.Exists() && !p.Type.Optional:
				c.warn("TST003", test, path, "has no %s, which is required", name)
			case value.Exists() && !p.Type.Accepts(value.AppendJSON(nil)):
				c.warn(r.value, value, path+"."+name, "does not match its z")
			}
		}
	}
	for i, key := range test.Keys {
		if !known[key] {
			c.warn("TST006", test.Items[i], path+"."+key, "is not an argument of the tool")
		}
	}
}

// checkVariety reports parameters that the test cases do not vary.
func (c *checker) checkVariety(t *Tool, tests *module.Node, path string) {
	for _, p := range t.Parameters {
		for _, name := range p.Arguments() {
			given, differs := 0, false
			var first []byte
			for _, test := range tests.Items {
				value := test.Get(name).AppendJSON(nil)
				if !test.Get(name).Exists() {
					continue
				}
				if given++; given == 1 {
					first = value
				}
				differs = differs || !bytes.Equal(first, value)
			}
			switch {
			case given == 0 && p.Type.Optional:
				c.info("TST008", tests, path, "no case gives %s, which is optional", name)
			case given > 1 && !differs && len(p.Type.Members) > 1:
				c.strictWarning("TST007", tests, path, "all cases give %s the same one of %d values", name, len(p.Type.Members))
			}
		}
	}
}

// MaxOutputDepth is the maximum nesting of properties, counting the root and
// not the elements of arrays.
const MaxOutputDepth = 4

// RootTypes returns the root types that a media type allows; nil where the
// media type is unknown.
func RootTypes(mime string) []string {
	switch mime {
	case "application/json":
		return []string{"object", "array"}
	case "image/png", "text/plain":
		return []string{"string"}
	}
	return nil
}

// checkOutput checks an output block against the format's output schema page.
func (c *checker) checkOutput(tool *module.Node, path string) {
	n := tool.Get("output")
	if !n.Exists() {
		c.strictWarning("VAL036", tool, path, "is missing: the response is not described")
		return
	}
	if !n.Is(module.Object) {
		c.lenient("VAL061", n, path, "must be a plain object")
		return
	}
	mime := OutputMediaType(n)
	roots := RootTypes(mime)
	switch {
	case !n.Get("mimeType").Exists():
		c.lenient("VAL060", n, path+".mimeType", "is missing; application/json is assumed")
	case roots == nil:
		c.lenient("VAL060", orElse(n.Get("mimeType"), n), path+".mimeType", "must be application/json, image/png or text/plain")
	}
	root := n.Get("schema")
	if !root.Is(module.Object) {
		c.lenient("VAL061", orElse(root, n), path+".schema", "must be a plain object")
		return
	}
	kind := root.Get("type").Str()
	if roots != nil && IsOutputType(kind) && !slices.Contains(roots, kind) {
		c.lenient("VAL062", root, path+".schema.type", "%s is not allowed for %s", kind, mime)
	}
	if mime == "image/png" && root.Get("format").Str() != "base64" {
		c.lenient("VAL062", root, path+".schema.format", "must be base64 for image/png")
	}
	c.checkOutputNode(root, path+".schema", 1)
}

// OutputMediaType returns the media type of an output block. JSON is the default,
// although the page requires the field.
func OutputMediaType(output *module.Node) string {
	if mime := output.Get("mimeType"); mime.Exists() || !output.Exists() {
		return mime.Str()
	}
	return JSONMedia
}

// IsOutputType reports whether the format allows a type in output schemas.
func IsOutputType(kind string) bool {
	return slices.Contains([]string{"string", "number", "boolean", "object", "array"}, kind)
}

// checkOutputNode checks one node of an output schema and those below it.
func (c *checker) checkOutputNode(n *module.Node, path string, depth int) {
	if !n.Is(module.Object) {
		c.lenient("VAL061", n, path, "must be a plain object")
		return
	}
	kind := n.Get("type")
	switch {
	case !kind.Exists():
		c.lenient("VAL061", n, path+".type", "is missing")
	case !IsOutputType(kind.Str()):
		c.lenient("VAL061", kind, path+".type", "must be string, number, boolean, object or array")
	}
	if depth == MaxOutputDepth+1 {
		c.warn("VAL063", n, path, "is nested deeper than %d levels", MaxOutputDepth)
	}
	n.Members(func(key string, value *module.Node) { c.checkOutputKeyword(n, key, value, path) })
	if p := n.Get("properties"); p.Is(module.Object) {
		p.Members(func(key string, value *module.Node) { c.checkOutputNode(value, path+".properties."+key, depth+1) })
	}
	if items := n.Get("items"); items.Exists() {
		c.checkOutputNode(items, path+".items", depth)
	}
}

func (c *checker) checkOutputKeyword(n *module.Node, key string, value *module.Node, path string) {
	at := path + "." + key
	kind := n.Get("type").Str()
	switch key {
	case "type":
	case "properties":
		if kind != "object" {
			c.lenient("VAL064", value, at, "requires type object")
		} else if !value.Is(module.Object) {
			c.lenient("VAL064", value, at, "must be a plain object")
		}
	case "items":
		if kind != "array" {
			c.lenient("VAL065", value, at, "requires type array")
		}
	case "description":
		if !value.Is(module.String) {
			c.warn("OUT002", value, at, "must be a string")
		}
	case "nullable":
		if !value.Is(module.Bool) {
			c.lenient("OUT002", value, at, "must be a boolean")
		}
	case "enum":
		if len(value.List()) == 0 {
			c.lenient("OUT002", value, at, "must be a nonempty array")
		}
	case "format":
		if !slices.Contains([]string{"base64", "date-time", "uri"}, value.Str()) {
			c.warn("OUT002", value, at, "must be base64, date-time or uri")
		}
	case "$ref", "oneOf", "anyOf", "allOf", "required", "additionalProperties", "pattern", "minimum", "maximum":
		c.lenient("OUT001", value, at, "is excluded from output schemas and ignored")
	default:
		c.warn("OUT003", value, at, "is unknown and ignored")
	}
}

// JSONMedia is the default media type of an output block.
const JSONMedia = "application/json"
