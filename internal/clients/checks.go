package clients

import (
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// check is what a rule can ask. What breaks it is handed to hit as a JSON Pointer
// into the tool as it is listed, or into the list.
type check struct {
	about string
	takes []string // parameters, sorted
	tool  func(r *Rule, t *prepared, hit func(pointer string))
	list  func(r *Rule, l *List, hit func(pointer string))
}

// checks are all checks by their names. A rule that none of them fits needs a
// new one here, in Go: the data has no language of its own.
func checks() map[string]check {
	return map[string]check{
		"name-matches":           {about: "the name matches `pattern`", takes: []string{"pattern"}, tool: nameMatches},
		"prefixed-name-at-most":  {about: "`prefix`, the server's name in place of {server}, and the name have at most `max` characters", takes: []string{"max", "prefix"}, tool: prefixedName},
		"description-at-most":    {about: "the description has at most `max` characters", takes: []string{"max"}, tool: descriptionAtMost},
		"schema-is-object":       {about: "the schema is there, for input, and its `type` is object", takes: []string{"in"}, tool: schemaIsObject},
		"properties-are-objects": {about: "no schema of a property at the root is true or false", takes: []string{"in"}, tool: propertiesAreObjects},
		"no-schema-dialect":      {about: "`$schema` is none of `uris`", takes: []string{"in", "uris"}, tool: noDialect},
		"no-root-keyword":        {about: "the root has none of `keywords`", takes: []string{"in", "keywords"}, tool: noRootKeyword},
		"no-keyword":             {about: "no schema has one of `keywords`", takes: []string{"in", "keywords"}, tool: noKeyword},
		"property-names-match":   {about: "the name of every property matches `pattern`", takes: []string{"in", "pattern"}, tool: propertyNames},
		"no-type-list":           {about: "no `type` is a list", takes: []string{"in"}, tool: noTypeList},
		"no-enum-at-array":       {about: "no `enum` stands beside `type: array`", takes: []string{"in"}, tool: noEnumAtArray},
		"text-enums":             {about: "the values of every `enum` are texts", takes: []string{"in"}, tool: textEnums},
		"arrays-have-items":      {about: "every array has `items`", takes: []string{"in"}, tool: arraysHaveItems},
		"optional-at-most":       {about: "at most `max` properties are not required, at any depth", takes: []string{"in", "max"}, tool: optionalAtMost},
		"all-required":           {about: "every property is required", takes: []string{"in"}, tool: allRequired},
		"optional-take-null":     {about: "every property that is not required takes null", takes: []string{"in"}, tool: optionalTakeNull},
		"closed-objects":         {about: "no schema allows additional properties in so many words", takes: []string{"in"}, tool: closedObjects},
		"no-any-branch":          {about: "no `anyOf` has a branch that takes everything", takes: []string{"in"}, tool: noAnyBranch},
		"properties-at-root":     {about: "what branches at the root name is in the `properties` of the root", takes: []string{"in"}, tool: propertiesAtRoot},
		"no-output-schema":       {about: "there is no output schema", tool: func(_ *Rule, t *prepared, hit func(string)) { t.hitIf(t.output != nil, hit) }},
		"output-schema":          {about: "there is an output schema", tool: func(_ *Rule, t *prepared, hit func(string)) { t.hitIf(t.output == nil, hit) }},
		"tools-at-most":          {about: "the list has at most `max` tools", takes: []string{"max"}, list: func(r *Rule, l *List, hit func(string)) { hitIf(len(l.Tools) > r.Params.Max, "/tools", hit) }},
		"one-page":               {about: "the list is one page", list: func(_ *Rule, l *List, hit func(string)) { hitIf(l.Pages > 1, "/nextCursor", hit) }},
		"instructions-at-most": {about: "the instructions have at most `max` characters", takes: []string{"max"}, list: func(r *Rule, l *List, hit func(string)) {
			hitIf(utf8.RuneCountInString(l.Instructions) > r.Params.Max, "/instructions", hit)
		}},
		"distinct-names": {about: "no name is there twice", list: distinctNames},
	}
}

func hitIf(broken bool, pointer string, hit func(string)) {
	if broken {
		hit(pointer)
	}
}

// The parts of a tool that rules look into.
const (
	partInput  = "input"
	partOutput = "output"
)

// prepared is a tool whose schemas are read.
type prepared struct {
	*Tool

	server        string
	input, output *part
}

// part is one schema of a tool. Its locations are nil where it cannot be read.
type part struct {
	*schemadoc.Locations

	pointer string
}

func prepare(server string, t *Tool) *prepared {
	return &prepared{Tool: t, server: server, input: partOf(t.Input, "/inputSchema"), output: partOf(t.Output, "/outputSchema")}
}

func partOf(schema []byte, pointer string) *part {
	if len(schema) == 0 {
		return nil
	}
	doc, err := rawjson.Parse(schema)
	if err != nil { // no JSON, or nested too deep
		return &part{pointer: pointer}
	}
	return &part{schemadoc.FindLocations(doc), pointer}
}

func (t *prepared) hitIf(broken bool, hit func(string)) { hitIf(broken, "/outputSchema", hit) }

// in is the schema that a rule is about; nil: there is none that can be read.
func (t *prepared) in(r *Rule) *part {
	p := t.input
	if r.Params.In == partOutput {
		p = t.output
	}
	if p == nil || p.Locations == nil {
		return nil
	}
	return p
}

// each hands over the schemas of the part that are objects.
func (t *prepared) each(r *Rule, do func(p *part, at int32, n rawjson.Node)) {
	p := t.in(r)
	if p == nil {
		return
	}
	for i := range p.List {
		if n := p.List[i].Node; p.Doc.Kind(n) == rawjson.Object {
			do(p, int32(i), n)
		}
	}
}

// at is the pointer of a keyword of a location.
func (p *part) at(location int32, tokens ...string) string {
	text := []byte(p.pointer + p.Pointer(location))
	for _, token := range tokens {
		text = rawjson.AppendToken(text, token)
	}
	return string(text)
}

func nameMatches(r *Rule, t *prepared, hit func(string)) {
	hitIf(!r.pattern.MatchString(t.Name), "/name", hit)
}

func prefixedName(r *Rule, t *prepared, hit func(string)) {
	name := strings.ReplaceAll(r.Params.Prefix, "{server}", t.server) + t.Name
	hitIf(utf8.RuneCountInString(name) > r.Params.Max, "/name", hit)
}

func descriptionAtMost(r *Rule, t *prepared, hit func(string)) {
	hitIf(utf8.RuneCountInString(t.Description) > r.Params.Max, "/description", hit)
}

func schemaIsObject(r *Rule, t *prepared, hit func(string)) {
	p, pointer := t.input, "/inputSchema"
	if r.Params.In == partOutput {
		p, pointer = t.output, "/outputSchema"
		if p == nil {
			return
		}
	}
	hitIf(p == nil || p.Locations == nil || !p.Doc.IsStr(p.Doc.Get(p.Doc.Root(), "type"), "object"), pointer, hit)
}

func propertiesAreObjects(r *Rule, t *prepared, hit func(string)) {
	p := t.in(r)
	if p == nil {
		return
	}
	properties := p.Doc.Get(p.Doc.Root(), "properties")
	for n := p.Doc.First(properties); n != rawjson.None; n = p.Doc.Next(n) {
		hitIf(p.Doc.Kind(n) != rawjson.Object, p.at(0, "properties", p.Doc.Key(n)), hit)
	}
}

func noDialect(r *Rule, t *prepared, hit func(string)) {
	p := t.in(r)
	if p == nil {
		return
	}
	dialect := strings.TrimSuffix(p.Doc.Str(p.Doc.Get(p.Doc.Root(), "$schema")), "#")
	for _, uri := range r.Params.URIs {
		hitIf(dialect == uri, p.at(0, "$schema"), hit)
	}
}

func noRootKeyword(r *Rule, t *prepared, hit func(string)) {
	if p := t.in(r); p != nil {
		p.keywords(r, 0, p.Doc.Root(), hit)
	}
}

func noKeyword(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) { p.keywords(r, at, n, hit) })
}

func (p *part) keywords(r *Rule, at int32, n rawjson.Node, hit func(string)) {
	for _, k := range r.Params.Keywords {
		hitIf(p.Doc.Get(n, k) != rawjson.None, p.at(at, k), hit)
	}
}

func distinctNames(_ *Rule, l *List, hit func(string)) {
	seen := map[string]bool{}
	for i := range l.Tools {
		hitIf(seen[l.Tools[i].Name], "/tools/"+l.Tools[i].shown(i), hit)
		seen[l.Tools[i].Name] = true
	}
}
