package convert

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

func parseConverter(name string, raw []byte) (*Converter, error) {
	d, err := document.Parse(name, raw)
	if err != nil {
		return nil, err
	}
	return New(d), nil
}

// conversion is a schema S of a document, with others beside it, and what it
// becomes in each direction.
type conversion struct {
	name             string
	others           string // members beside S, each with a comma before it
	schema           string
	in, checked, out string // empty: as in; of checked, where nothing is read-only
	diagnostics      int
}

// component makes a document with S as a component.
func component(version, schema, others string) string {
	switch version {
	case "2.0":
		return `{"swagger":"2.0","paths":{},"definitions":{"S":` + schema + others + `}}`
	default:
		return `{"openapi":"` + version + `","paths":{},"components":{"schemas":{"S":` + schema + others + `}}}`
	}
}

func mustParse(t *testing.T, text string) *Converter {
	t.Helper()
	d, err := parseConverter("api.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// schemaS finds S.
func schemaS(d *Converter) document.Value {
	if d.Version == document.V20 {
		return d.Root.Get("definitions").Get("S")
	}
	return d.Root.Get("components").Get("schemas").Get("S")
}

func (c *conversion) test(t *testing.T, version string) {
	hash := regexp.MustCompile(`_[0-9a-f]{8}\b`)
	home := "#/components/schemas"
	if version == "2.0" {
		home = "#/definitions"
	}
	d := mustParse(t, strings.ReplaceAll(component(version, c.schema, c.others), "DEFS", home))
	for dir, want := range map[Direction]string{Input: c.in, InputCheck: c.checked, Output: c.out} {
		if want == "" && (dir == Output || !strings.Contains(c.schema+c.others, "readOnly")) {
			want = c.in
		}
		f := d.Schema(schemaS(d), dir)
		got := Assemble(f.Body, f.Deps)
		if want == "" {
			continue
		}
		if diff := cmp.Diff(want, hash.ReplaceAllString(string(got), "_HASH")); diff != "" {
			t.Errorf("direction %d: %s", dir, diff)
		}
		if err := compiles(got); err != nil {
			t.Errorf("direction %d: %v", dir, err)
		}
	}
	if got := d.Diagnostics(); len(got) != c.diagnostics {
		t.Errorf("%d diagnostics, want %d: %v", len(got), c.diagnostics, got)
	}
}

func run(t *testing.T, cases []conversion, versions ...string) {
	t.Helper()
	for _, c := range cases {
		for _, v := range versions {
			t.Run(v+" "+c.name, func(t *testing.T) { c.test(t, v) })
		}
	}
}

func TestConvertEveryDialect(t *testing.T) {
	run(t, []conversion{
		{
			name: "keywords pass as they are", schema: `{"type":"object","title":"T","description":"d","properties":{"b":{"type":"integer","maximum":9223372036854775807,"minimum":-1.50},"a":{"type":"array","items":{"type":"string","pattern":"^\\d+$","maxLength":3},"minItems":1,"uniqueItems":true}},"additionalProperties":false,"default":null}`,
			in: `{"type":"object","title":"T","description":"d","properties":{"b":{"type":"integer","maximum":9223372036854775807,"minimum":-1.50},"a":{"type":"array","items":{"type":"string","pattern":"^\\d+$","maxLength":3},"minItems":1,"uniqueItems":true}},"additionalProperties":false,"default":null}`,
		},
		{
			name: "what says nothing about values goes", schema: `{"type":"string","example":{"$ref":"#/no"},"examples":[1],"xml":{"name":"x"},"externalDocs":{"url":"u"},"discriminator":{"propertyName":"p"},"x-any":{"$ref":"#/no"},"deprecated":false,"$id":"http://x/","id":"i","$anchor":"a","$schema":"s","readOnly":true,"writeOnly":true,"unknown":{"type":1}}`,
			in: `{"type":"string"}`,
		},
		{name: "deprecated stays where it is true", schema: `{"deprecated":true}`, in: `{"deprecated":true}`},
		{
			name: "properties may have any name", schema: `{"properties":{"$ref":{"type":"string"},"example":{"type":"string"},"x-y":{"type":"string"},"nullable":{"type":"boolean"},"readOnly":{"type":"boolean"},"format":{"type":"string"},"a\"b\u0041":{"type":"string"},"$id":{"type":"string"}},"required":["$ref","example","readOnly"]}`,
			in: `{"properties":{"$ref":{"type":"string"},"example":{"type":"string"},"x-y":{"type":"string"},"nullable":{"type":"boolean"},"readOnly":{"type":"boolean"},"format":{"type":"string"},"a\"bA":{"type":"string"},"$id":{"type":"string"}},"required":["$ref","example","readOnly"]}`,
		},
		{name: "references in data are data", schema: `{"default":{"$ref":"#/no"},"enum":[{"$ref":"#/no"},1]}`, in: `{"default":{"$ref":"#/no"},"enum":[{"$ref":"#/no"},1]}`},
		{
			name: "format goes into the description of an answer", schema: `{"type":"string","format":"date-time","description":"When."}`,
			in:  `{"type":"string","format":"date-time","description":"When."}`,
			out: `{"type":"string","description":"When. (format: date-time)"}`,
		},
		{name: "format without a description", schema: `{"type":"string","format":"uuid"}`, in: `{"type":"string","format":"uuid"}`, out: `{"type":"string","description":"(format: uuid)"}`},
		{name: "format before the description", schema: `{"description":"","format":"uuid"}`, in: `{"description":"","format":"uuid"}`, out: `{"description":"(format: uuid)"}`},
		{
			name: "read-only and write-only properties", schema: `{"type":"object","properties":{"id":{"readOnly":true,"type":"string"},"secret":{"writeOnly":true,"type":"string"},"name":{"type":"string"}},"required":["id","secret","name"]}`,
			in:      `{"type":"object","properties":{"secret":{"type":"string"},"name":{"type":"string"}},"required":["secret","name"]}`,
			checked: `{"type":"object","properties":{"id":false,"secret":{"type":"string"},"name":{"type":"string"}},"required":["secret","name"]}`,
			out:     `{"type":"object","properties":{"id":{"type":"string"},"secret":{"type":"string"},"name":{"type":"string"}},"required":["id","name"]}`,
		},
		{
			name: "what is read-only stays where a schema says what is not", schema: `{"properties":{"id":{"readOnly":true},"key":{"writeOnly":true}},"not":{"properties":{"id":{"readOnly":true}},"required":["id","key"]}}`,
			in:      `{"properties":{"key":{}},"not":{"properties":{"id":{}},"required":["id","key"]}}`,
			checked: `{"properties":{"id":false,"key":{}},"not":{"properties":{"id":{}},"required":["id","key"]}}`,
			out:     `{"properties":{"id":{},"key":{}},"not":{"properties":{"id":{}},"required":["id","key"]}}`,
		},
		{
			name: "read-only where the reference leads", others: `,"Id":{"$ref":"DEFS/Real"},"Real":{"type":"string","readOnly":true}`, schema: `{"properties":{"id":{"$ref":"DEFS/Id"}},"required":["id"]}`,
			in:  `{"properties":{}}`,
			out: `{"properties":{"id":{"$ref":"#/$defs/Id"}},"required":["id"],"$defs":{"Id":{"$ref":"#/$defs/Real"},"Real":{"type":"string"}}}`,
		},
		{
			name: "read-only in one branch, required in another", others: `,"Base":{"properties":{"id":{"readOnly":true}}}`, schema: `{"allOf":[{"$ref":"DEFS/Base"},{"required":["id","name"]},{"required":["id"]}]}`,
			in:  `{"allOf":[{"$ref":"#/$defs/Base"},{"required":["name"]},{}],"$defs":{"Base":{"properties":{}}}}`,
			out: `{"allOf":[{"$ref":"#/$defs/Base"},{"required":["id","name"]},{"required":["id"]}],"$defs":{"Base":{"properties":{"id":{}}}}}`,
		},
		{
			name: "a property of the same name further down is another one", schema: `{"properties":{"id":{"readOnly":true},"child":{"required":["id"]}}}`,
			in:  `{"properties":{"child":{"required":["id"]}}}`,
			out: `{"properties":{"id":{},"child":{"required":["id"]}}}`,
		},
		{
			name: "boolean schemas", schema: `{"properties":{"a":true,"b":false},"items":false,"not":false,"anyOf":[true,false]}`,
			in: `{"properties":{"a":{},"b":{"not":{}}},"items":false,"not":{"not":{}},"anyOf":[{},{"not":{}}]}`,
		},
		{name: "the tuple of the old drafts", schema: `{"type":"array","items":[{"type":"string"},true],"additionalItems":false}`, in: `{"type":"array","prefixItems":[{"type":"string"},{}],"items":false}`},
		{name: "boolean exclusive bounds", schema: `{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2.50,"exclusiveMaximum":false}`, in: `{"type":"number","exclusiveMinimum":1,"maximum":2.50}`},
		{name: "a boolean exclusive bound without a bound", schema: `{"exclusiveMaximum":true}`, in: `{}`},
		{name: "numeric exclusive bounds", schema: `{"exclusiveMinimum":1,"exclusiveMaximum":9223372036854775807}`, in: `{"exclusiveMinimum":1,"exclusiveMaximum":9223372036854775807}`},
		{name: "an unknown type", schema: `{"type":"any","minimum":1}`, in: `{"minimum":1}`, diagnostics: 1},
		{name: "a type that is a number", schema: `{"type":1}`, in: `{}`, diagnostics: 1},
		{name: "a file", schema: `{"type":"file","description":"f"}`, in: `{"type":"string","contentMediaType":"application/octet-stream","description":"f"}`},
		{name: "duplicates in required", schema: `{"required":["a","b","a","b\u0062","bb"]}`, in: `{"required":["a","b","bb"]}`},
		{name: "an empty required", schema: `{"required":[]}`, in: `{}`},
		{name: "the boolean required", schema: `{"required":true,"properties":{"a":{"required":false}}}`, in: `{"properties":{"a":{}}}`, diagnostics: 2},
		{name: "duplicates in enum", schema: `{"enum":["a","b","a","\u0061",1,1.0,{"a":1,"b":2},{"b":2,"a":1},null]}`, in: `{"enum":["a","b",1,{"a":1,"b":2},null]}`},
		{name: "an empty enum", schema: `{"enum":[]}`, in: `{}`, diagnostics: 1},
		{name: "null as constant and default", schema: `{"const":null,"default":null}`, in: `{"const":null,"default":null}`},
		{name: "values that readers disagree on", schema: `{"default":{"a":1,"a":2},"enum":["\ud800"],"const":1e999,"maximum":1e400,"title":"\ud800"}`, in: "{\"title\":\"\uFFFD\"}", diagnostics: 4},
		{
			name: "keywords of the wrong form", schema: `{"description":1,"pattern":null,"minLength":"1","maxLength":-1,"minItems":1.0,"multipleOf":0,"minimum":"0","properties":[],"allOf":{},"anyOf":[],"additionalProperties":null,"items":"x","format":2,"uniqueItems":1,"patternProperties":3}`,
			in: `{"minItems":1}`, diagnostics: 13,
		},
		{
			name: "duplicate keywords and properties", schema: `{"type":"string","type":"integer","properties":{"a":{"type":"string"},"b":true,"\u0061":{"type":"null"}}}`,
			in: `{"type":"integer","properties":{"b":{},"a":{"type":"null"}}}`,
		},
		{name: "an escaped keyword", schema: `{"t\u0079pe":"string"}`, in: `{"type":"string"}`},
		{name: "a plain reference is what it leads to", others: `,"A":{"$ref":"DEFS/B"},"B":{"type":"string"}`, schema: `{"$ref":"DEFS/A"}`, in: `{"type":"string"}`},
		{
			name: "a circular schema keeps its references", others: `,"Node":{"type":"object","properties":{"next":{"$ref":"DEFS/Node"}}}`, schema: `{"$ref":"DEFS/Node"}`,
			in: `{"$ref":"#/$defs/Node","$defs":{"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"}}}}}`,
		},
		{
			name: "a circle that does not pass the root", others: `,"A":{"properties":{"n":{"$ref":"DEFS/Node"}}},"Node":{"properties":{"next":{"$ref":"DEFS/Node"}}}`, schema: `{"$ref":"DEFS/A"}`,
			in: `{"properties":{"n":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"properties":{"next":{"$ref":"#/$defs/Node"}}}}}`,
		},
		{
			name: "references in a circle", others: `,"A":{"$ref":"DEFS/B"},"B":{"$ref":"DEFS/A"}`, schema: `{"properties":{"a":{"$ref":"DEFS/A"}}}`,
			in: `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{}}}`, diagnostics: 1,
		},
		{
			name: "a schema that contains itself", others: `,"A":{"type":"object","allOf":[{"$ref":"DEFS/B"}]},"B":{"anyOf":[{"$ref":"DEFS/A"},{"type":"null"}]}`, schema: `{"items":{"$ref":"DEFS/A"}}`,
			in: `{"items":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"object","allOf":[{}]}}}`, diagnostics: 1,
		},
		{
			name: "a reference to nothing", schema: `{"properties":{"a":{"$ref":"DEFS/None"},"b":{"$ref":"other.json#/A"},"c":{"$ref":"https://example.com/x"},"d":{"$ref":""}}}`,
			in: `{"properties":{"a":{},"b":{},"c":{},"d":{}}}`, diagnostics: 4,
		},
		{name: "a reference to no schema", others: `,"A":["x"]`, schema: `{"items":{"$ref":"DEFS/A/0"}}`, in: `{"items":{}}`, diagnostics: 1},
		{name: "a loosened branch makes oneOf anyOf", schema: `{"type":"object","oneOf":[{"$ref":"DEFS/None"},{"required":["a"]}]}`, in: `{"type":"object","anyOf":[{},{"required":["a"]}]}`, diagnostics: 1},
		{name: "a loosened not goes", schema: `{"not":{"properties":{"a":{"$ref":"DEFS/None"}}}}`, in: `{}`, diagnostics: 1},
		{
			name: "a deep reference", others: `,"A":{"allOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"y":{"$ref":"DEFS/A/allOf/0/properties/x"}}}]}`, schema: `{"$ref":"DEFS/A"}`,
			in: `{"allOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"y":{"$ref":"#/$defs/0.properties.x_HASH"}}}],"$defs":{"0.properties.x_HASH":{"type":"string"}}}`,
		},
		{
			name: "names that need escapes", others: `,"a/b~c %25«»":{"type":"string"},"x":{"type":"integer"}`, schema: `{"items":{"$ref":"DEFS/a~1b~0c%20%2525%C2%AB%C2%BB"},"not":{"$ref":"DEFS/x"}}`,
			in: `{"items":{"$ref":"#/$defs/a_b_c__25_____HASH"},"not":{"$ref":"#/$defs/x"},"$defs":{"a_b_c__25_____HASH":{"type":"string"},"x":{"type":"integer"}}}`,
		},
		{name: "a slash in a reference that is not escaped", others: `,"a/b":{"type":"string"}`, schema: `{"items":{"$ref":"DEFS/a/b"}}`, in: `{"items":{"$ref":"#/$defs/a_b_HASH"},"$defs":{"a_b_HASH":{"type":"string"}}}`},
		{
			name: "a way through a reference", others: `,"A":{"$ref":"DEFS/B"},"B":{"properties":{"x":{"type":"string"}}}`, schema: `{"items":{"$ref":"DEFS/A/properties/x"}}`,
			in: `{"items":{"$ref":"#/$defs/B.properties.x_HASH"},"$defs":{"B.properties.x_HASH":{"type":"string"}}}`,
		},
		{name: "no schema at all", schema: `"text"`, in: `{}`, diagnostics: 1},
		{name: "true", schema: `true`, in: `{}`},
	}, "2.0", "3.0.3", "3.1.0", "3.2.0")
}

func TestConvertDialectsBefore2020(t *testing.T) {
	run(t, []conversion{
		{name: "nullable joins the type", schema: `{"type":"string","nullable":true}`, in: `{"type":["string","null"]}`},
		{name: "nullable joins type and enum", schema: `{"type":"string","enum":["a"],"nullable":true}`, in: `{"type":["string","null"],"enum":["a",null]}`},
		{name: "the enum of an array is that of its items", schema: `{"type":"array","enum":["a","b"],"items":{"type":"string"}}`, in: `{"type":"array","items":{"type":"string","enum":["a","b"]}}`},
		{name: "the enum of an array behind its items", schema: `{"type":"array","items":{"type":"string","minLength":1},"enum":["a","b"]}`, in: `{"type":"array","items":{"type":"string","minLength":1,"enum":["a","b"]}}`},
		{name: "the enum of an array without items", schema: `{"type":"array","enum":["a",1]}`, in: `{"type":"array","items":{"enum":["a",1]}}`},
		{name: "an enum of arrays", schema: `{"type":"array","enum":[["a"]],"items":{"type":"string"}}`, in: `{"type":"array","enum":[["a"]],"items":{"type":"string"}}`},
		{name: "an enum that is nothing for the items", schema: `{"type":"array","enum":["a"],"items":{"type":"integer"}}`, in: `{"type":"array","enum":["a"],"items":{"type":"integer"}}`},
		{name: "null is in the enum already", schema: `{"type":"string","enum":["a",null],"nullable":true}`, in: `{"type":["string","null"],"enum":["a",null]}`},
		{name: "nullable joins an enum without a type", schema: `{"enum":["a"],"nullable":true}`, in: `{"enum":["a",null]}`},
		{name: "nullable without a type says nothing", schema: `{"nullable":true,"description":"d"}`, in: `{"description":"d"}`},
		{name: "nullable false", schema: `{"type":"string","nullable":false}`, in: `{"type":"string"}`},
		{
			name: "nullable around a composition", others: `,"A":{"type":"string"}`, schema: `{"nullable":true,"allOf":[{"$ref":"DEFS/A"}],"description":"d"}`,
			in: `{"anyOf":[{"allOf":[{"$ref":"#/$defs/A"}],"description":"d"},{"type":"null"}],"$defs":{"A":{"type":"string"}}}`,
		},
		{name: "the extension for nullable", schema: `{"type":"integer","x-nullable":true}`, in: `{"type":["integer","null"]}`},
		{
			name: "beside a reference only the description counts", others: `,"A":{"type":"string"}`, schema: `{"$ref":"DEFS/A","description":"d","nullable":true,"type":"integer"}`,
			in: `{"$ref":"#/$defs/A","description":"d","$defs":{"A":{"type":"string"}}}`,
		},
		{name: "bytes are base64", schema: `{"type":"string","format":"byte"}`, in: `{"type":"string","contentEncoding":"base64","format":"byte"}`, out: `{"type":"string","contentEncoding":"base64","description":"(format: byte)"}`},
		{name: "a list of types is understood", schema: `{"type":["string","integer","string"],"nullable":true}`, in: `{"type":["string","integer","null"]}`},
	}, "2.0", "3.0.0")
}

func TestConvert2020(t *testing.T) {
	run(t, []conversion{
		{name: "nullable is no keyword", schema: `{"type":"string","nullable":true}`, in: `{"type":"string"}`},
		{name: "lists of types", schema: `{"type":["string","null"]}`, in: `{"type":["string","null"]}`},
		{name: "a list of one type", schema: `{"type":["string"]}`, in: `{"type":"string"}`},
		{name: "a list with an unknown type", schema: `{"type":["string","any"]}`, in: `{}`, diagnostics: 1},
		{name: "an empty list of types", schema: `{"type":[]}`, in: `{}`, diagnostics: 1},
		{
			name: "keywords beside a reference count", others: `,"A":{"type":"object"}`, schema: `{"$ref":"DEFS/A","description":"d","required":["a"]}`,
			in: `{"$ref":"#/$defs/A","description":"d","required":["a"],"$defs":{"A":{"type":"object"}}}`,
		},
		{
			name: "every place of a schema", others: `,"A":{"type":"object"}`, schema: `{"if":{"$ref":"DEFS/A"},"then":{"$ref":"DEFS/A"},"else":{"$ref":"DEFS/A"},"contains":{"$ref":"DEFS/A"},"minContains":0,"propertyNames":{"$ref":"DEFS/A"},"unevaluatedItems":{"$ref":"DEFS/A"},"unevaluatedProperties":false,"contentSchema":{"$ref":"DEFS/A"},"prefixItems":[{"$ref":"DEFS/A"}],"dependentSchemas":{"a":{"$ref":"DEFS/A"}},"patternProperties":{"^a":{"$ref":"DEFS/A"}},"dependentRequired":{"a":["b","b"]}}`,
			in: `{"if":{"$ref":"#/$defs/A"},"then":{"$ref":"#/$defs/A"},"else":{"$ref":"#/$defs/A"},"contains":{"$ref":"#/$defs/A"},"minContains":0,"propertyNames":{"$ref":"#/$defs/A"},"unevaluatedItems":{"$ref":"#/$defs/A"},"unevaluatedProperties":false,"contentSchema":{"$ref":"#/$defs/A"},"prefixItems":[{"$ref":"#/$defs/A"}],"dependentSchemas":{"a":{"$ref":"#/$defs/A"}},"patternProperties":{"^a":{"$ref":"#/$defs/A"}},"dependentRequired":{"a":["b"]},"$defs":{"A":{"type":"object"}}}`,
		},
		{
			name: "definitions inside a schema move to the root", schema: `{"$id":"https://example.com/s","$ref":"DEFS/S/$defs/A","$defs":{"A":{"$anchor":"a","type":"string"}}}`,
			in: `{"type":"string"}`,
		},
		{name: "an anchor", others: `,"A":{"$anchor":"here","type":"string"}`, schema: `{"items":{"$ref":"#here"}}`, in: `{"items":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"string"}}}`},
		{name: "an anchor in data is none", schema: `{"default":{"$anchor":"here"},"items":{"$ref":"#here"}}`, in: `{"default":{"$anchor":"here"},"items":{}}`, diagnostics: 1},
		{
			name: "a dynamic reference with one target", others: `,"Node":{"$dynamicAnchor":"node","properties":{"next":{"$dynamicRef":"#node"}}}`, schema: `{"items":{"$ref":"DEFS/Node"}}`,
			in: `{"items":{"$ref":"#/$defs/Node"},"$defs":{"Node":{"properties":{"next":{"$ref":"#/$defs/Node"}}}}}`,
		},
		{name: "a dynamic reference with several targets", others: `,"A":{"$dynamicAnchor":"t"},"B":{"$dynamicAnchor":"t","type":"string"}`, schema: `{"items":{"$dynamicRef":"#t"}}`, in: `{"items":{}}`, diagnostics: 1},
		{
			name: "the recursive reference of 2019-09", others: `,"Filter":{"$recursiveAnchor":true,"properties":{"all":{"items":{"$recursiveRef":"#"}}}}`, schema: `{"items":{"$ref":"DEFS/Filter"}}`,
			in: `{"items":{"$ref":"#/$defs/Filter"},"$defs":{"Filter":{"properties":{"all":{"items":{"$ref":"#/$defs/Filter"}}}}}}`,
		},
		{name: "a recursive reference without an anchor", schema: `{"items":{"$recursiveRef":"#"}}`, in: `{"items":{}}`, diagnostics: 1},
		{
			name: "a loosened schema accepts what it does not mention", schema: `{"$ref":"DEFS/None","unevaluatedProperties":false,"properties":{"a":{"type":"x","additionalProperties":false}}}`,
			in: `{"unevaluatedProperties":true,"properties":{"a":{"additionalProperties":true}}}`, diagnostics: 2,
		},
		{name: "several closed keywords open together", schema: `{"additionalProperties":false,"unevaluatedProperties":false,"allOf":1,"items":false}`, in: `{"additionalProperties":true,"unevaluatedProperties":true,"items":true}`, diagnostics: 1},
		{name: "what is loose further down closes nothing less", schema: `{"properties":{"a":{"type":"x"}},"additionalProperties":false}`, in: `{"properties":{"a":{}},"additionalProperties":false}`, diagnostics: 1},
		{name: "format byte is only a format", schema: `{"format":"byte"}`, in: `{"format":"byte"}`, out: `{"description":"(format: byte)"}`},
		{name: "content keywords", schema: `{"contentEncoding":"base64","contentMediaType":"image/png"}`, in: `{"contentEncoding":"base64","contentMediaType":"image/png"}`},
	}, "3.1.0", "3.2.0")
}

func TestConvertParameter(t *testing.T) {
	d := mustParse(t, `{"swagger":"2.0","parameters":{"P":{"name":"limit","in":"query","required":true,"description":"d","collectionFormat":"csv","allowEmptyValue":true,"type":"array","items":{"type":"integer","description":"inner","collectionFormat":"csv","format":"int32"},"default":[1],"x-nullable":true}}}`)
	f := d.Parameter(d.Root.Get("parameters").Get("P"), Input)
	want := `{"type":["array","null"],"items":{"type":"integer","description":"inner","format":"int32"},"default":[1]}`
	if diff := cmp.Diff(want, string(f.Body)); diff != "" {
		t.Error(diff)
	}
	if f := d.Parameter(document.Value{}, Input); string(f.Body) != "{}" {
		t.Errorf("no parameter gives %s", f.Body)
	}
}

func TestConvertAnAbsentSchema(t *testing.T) {
	d := mustParse(t, component("3.0.0", "{}", ""))
	if f := d.Schema(d.Root.Get("nothing"), Output); string(f.Body) != "{}" || len(d.Diagnostics()) != 0 {
		t.Errorf("got %s, %v", f.Body, d.Diagnostics())
	}
}

func TestDiagnosticsNameTheLineOnce(t *testing.T) {
	d, err := parseConverter("api.yaml", []byte("openapi: 3.0.0\npaths: {}\ncomponents:\n  schemas:\n    S:\n      type: any\n      properties:\n        a:\n          $ref: '#/no'\n    S2: {}\n    S2: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.Schema(schemaS(d), Input)
		d.Schema(schemaS(d), Output)
	}
	var got []string
	for _, f := range d.Diagnostics() {
		got = append(got, f.String())
	}
	want := []string{
		`api.yaml:11: duplicate key "S2": the previous value is lost`,
		`api.yaml:6: type ignored: "any" is not a type`,
		`api.yaml:9: cannot resolve reference "#/no": no such target; any value is accepted there`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnosticsAreBounded(t *testing.T) {
	many := make([]string, 3000)
	for i := range many {
		many[i] = `{"type":"x"}`
	}
	d := mustParse(t, component("3.0.0", `{"allOf":[`+strings.Join(many, ",")+`]}`, ""))
	d.Schema(schemaS(d), Input)
	if n := len(d.Diagnostics()); n != document.MaxDiagnostics {
		t.Errorf("%d diagnostics", n)
	}
}

func TestConversionIsTheSameInAnyOrder(t *testing.T) {
	const schemas = `,"A":{"properties":{"b":{"$ref":"DEFS/B"},"d":{"$ref":"DEFS/B/properties/a"}}},"B":{"properties":{"a":{"$ref":"DEFS/A"},"c":{"$ref":"DEFS/C c"}}},"C c":{"type":"x"}`
	text := component("3.1.0", `{"items":{"$ref":"DEFS/A"}}`, schemas)
	d := mustParse(t, strings.ReplaceAll(text, "DEFS", "#/components/schemas"))
	f := d.Schema(schemaS(d), Output)
	want := string(Assemble(f.Body, f.Deps))
	for range 20 {
		d := mustParse(t, strings.ReplaceAll(text, "DEFS", "#/components/schemas"))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				v := d.Root.Get("components").Get("schemas").Get([]string{"S", "A", "B", "C c"}[i%4])
				f := d.Schema(v, Output)
				if got := string(Assemble(f.Body, f.Deps)); i%4 == 0 && got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
		all.Wait()
		if n := len(d.Diagnostics()); n != 1 {
			t.Errorf("%d diagnostics", n)
		}
	}
}

func TestNamesCannotBeTaken(t *testing.T) {
	// A component that is named like the hash of another one gets its own hash.
	d := mustParse(t, `{"openapi":"3.0.0","paths":{},"components":{"schemas":{"a b":{"type":"string"},"S":{"not":{"$ref":"#/components/schemas/a%20b"}}}}}`)
	f := d.Schema(schemaS(d), Input)
	name := f.Deps[0].Name
	d = mustParse(t, `{"openapi":"3.0.0","paths":{},"components":{"schemas":{"a b":{"type":"string"},"`+name+`":{"type":"integer"},"S":{"items":{"$ref":"#/components/schemas/a%20b"},"not":{"$ref":"#/components/schemas/`+name+`"}}}}}`)
	f = d.Schema(schemaS(d), Input)
	if len(f.Deps) != 2 || f.Deps[0].Name == f.Deps[1].Name || f.Deps[0].Name != name {
		t.Errorf("names %s and %s", f.Deps[0].Name, f.Deps[1].Name)
	}
	if err := compiles(Assemble(f.Body, f.Deps)); err != nil {
		t.Error(err)
	}
}

func TestAssembleOfSeveral(t *testing.T) {
	d := mustParse(t, component("3.0.0", `{}`, `,"B":{"type":"string"},"A":{"items":{"$ref":"#/components/schemas/B"}}`))
	schemas := d.Root.Get("components").Get("schemas")
	a := d.Schema(document.Value{}, Input)
	b := d.definition(schemas.Get("B"), Input)
	all := d.definition(schemas.Get("A"), Input)
	got := string(Assemble([]byte("{}"), a.Deps, []*Definition{all, b}, []*Definition{b}))
	if want := `{"$defs":{"A":{"items":{"$ref":"#/$defs/B"}},"B":{"type":"string"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	body := []byte(`{"type":"object"}`)
	if got := Assemble(body); string(got) != string(body) || &got[0] == &body[0] {
		t.Errorf("got %s, perhaps not a copy", got)
	}
}

// FuzzParseDocument: any bytes give an error or a document of which every
// component converts, in both directions, to strict JSON objects that another
// implementation compiles, unless a pattern is the reason.
func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{
		component("2.0", `{"type":"file","x-nullable":true,"allOf":[{"$ref":"#/definitions/S"}]}`, ""),
		component("3.0.0", `{"nullable":true,"oneOf":[{"$ref":"#/x"},{"enum":[1,1]}],"required":["a"],"properties":{"a":{"readOnly":true,"$ref":"#/components/schemas/S/oneOf/1"}}}`, ""),
		component("3.1.0", `{"$ref":"#s","$anchor":"s","if":true,"not":{"type":"x"},"unevaluatedProperties":false,"items":[{}],"exclusiveMinimum":true,"minimum":1}`, `,"a/b":{"$dynamicRef":"#s"}`),
		"openapi: 3.2\ncomponents:\n  schemas:\n    A: &a\n      type: [string, 'null']\n    B: {allOf: [*a, {$ref: '#/components/schemas/A'}], format: byte}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseConverter("doc", raw)
		if err != nil {
			return
		}
		for _, frag := range everyComponent(d) {
			schema := Assemble(frag.Body, frag.Deps)
			if tree, err := rawjson.Parse(schema); err != nil || tree.Kind(tree.Root()) != rawjson.Object {
				t.Fatalf("%s: %v", schema, err)
			}
			if err := compiles(schema); err != nil && !strings.Contains(err.Error(), "regex") {
				t.Fatalf("%s: %v", schema, err)
			}
		}
		if len(d.Diagnostics()) > document.MaxDiagnostics {
			t.Fatal("too many diagnostics")
		}
	})
}
