package typedecl_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/typedecl"
)

// parses fails where a module is not TypeScript.
func parses(t *testing.T, module []byte) {
	t.Helper()
	r := api.Transform(string(module), api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent})
	for _, e := range r.Errors {
		t.Errorf("it does not parse: %s at line %d: %s", e.Text, e.Location.Line, e.Location.LineText)
	}
}

func data(schemas ...string) *typedecl.Set {
	s := typedecl.NewSet(false)
	for i, doc := range schemas {
		s.Add(typedecl.Tool{Name: fmt.Sprintf("t%d", i+1), Data: []byte(doc)})
	}
	return s
}

// declared is the declaration of a type, without its name.
func declared(t *testing.T, module, name string) string {
	t.Helper()
	for _, form := range []string{"export type " + name + " = ", name + ": TypeAlias = ", name + " = TypedDict("} {
		if _, after, ok := strings.Cut(module, form); ok {
			end := strings.Index(after, ";\n")
			for _, other := range []string{"\n\n", "\n/**", "\nexport"} {
				if i := strings.Index(after, other); i >= 0 && (end < 0 || i < end) {
					end = i
				}
			}
			depth := 0
			for i, c := range after { // to the end of what is open
				switch c {
				case '{', '(', '[':
					depth++
				case '}', ')', ']':
					depth--
				case '\n', ';':
					if depth <= 0 {
						return strings.Join(strings.Fields(after[:i]), " ")
					}
				}
			}
			return after[:end]
		}
	}
	t.Fatalf("there is no %s in\n%s", name, module)
	return ""
}

// TestTypes: what a schema says is what both languages say of it.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ name, schema, ts, python string }{
		{"scalars", `{"type":"integer"}`, `number`, `int`},
		{"null", `{"type":["string","null"]}`, `string | null`, `Union[str, None]`},
		{"nothing is known", `{}`, `unknown`, `object`},
		{"false", `false`, `never`, `Never`},
		{"enum and type agree", `{"type":"string","enum":["a",1,null]}`, `"a"`, `Literal["a"]`},
		{"enum with null", `{"type":["string","null"],"enum":["a",null]}`, `"a" | null`, `Union[Literal["a"], None]`},
		{"booleans and numbers", `{"enum":[true,1,1.5,-2]}`, `true | 1 | 1.5 | -2`, `Union[Literal[True, 1, -2], float]`},
		{"numbers beyond a double", `{"const":9007199254740993}`, `number`, `float`},
		{"list of a union", `{"type":"array","items":{"type":["string","null"]}}`, `(string | null)[]`, `list[Union[str, None]]`},
		{"tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"minItems":1}`, `[string, number?, ...unknown[]]`, `list[object]`},
		{"closed tuple", `{"type":"array","prefixItems":[{"type":"string"}],"minItems":1,"items":false}`, `[string]`, `list[str]`},
		{"empty list", `{"type":"array","items":false}`, `[]`, `list[Never]`},
		{"any object", `{"type":"object"}`, `Record<string, unknown>`, `dict[str, object]`},
		{"empty object", `{"type":"object","properties":{},"additionalProperties":false}`, `Record<string, never>`, `"T1Data", {})`},
		{"map", `{"type":"object","additionalProperties":{"type":"number"}}`, `{ [key: string]: number }`, `dict[str, float]`},
		{"members", `{"type":"object","properties":{"a":{"type":"string"},"b-c":{}},"required":["a"]}`, `{ a: string; "b-c"?: unknown; }`, `"T1Data", { "a": str, "b-c": NotRequired[object], })`},
		{"required and not declared", `{"type":"object","required":["z"]}`, `{ z: unknown; }`, `"T1Data", { "z": object, })`},
		{"required and forbidden", `{"type":"object","required":["z"],"additionalProperties":false}`, `never`, `Never`},
		{"more members", `{"type":"object","properties":{"id":{"type":"string"},"n":{}},"required":["id","n"],"additionalProperties":{"type":"number"}}`, `{ id: string; n: unknown; [key: string]: unknown; }`, `"T1Data", { "id": str, "n": object, }, extra_items=float)`},
		{"more optional members", `{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":{"type":"number"}}`, `{ id?: string; [key: string]: number | string | undefined; }`, `"T1Data", { "id": NotRequired[str], }, extra_items=float)`},
		{"patterns", `{"type":"object","patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, `{ [key: string]: string }`, `dict[str, str]`},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, `unknown`, `object`},
		{"branches that require", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{ a: string; b?: string; } | { a?: string; b: string; }`, `Union["T1Data_2", "T1Data_3"]`},
		{"allOf of enums", `{"allOf":[{"type":"string","enum":["a","b"]},{"enum":["b","c"]}]}`, `"b"`, `Literal["b"]`},
		{"allOf of objects", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"number"}},"required":["a"]}]}`, `{ a: string; b?: number; }`, `"T1Data", { "a": str, "b": NotRequired[float], })`},
		{"types that exclude each other", `{"allOf":[{"type":"string"},{"type":"number"}]}`, `never`, `Never`},
		{"integer and number", `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `number`, `float`},
		{"false member", `{"type":"object","properties":{"a":{"type":"string"},"b":false},"required":["a"]}`, `{ a: string; b?: never; }`, `"T1Data", { "a": str, "b": NotRequired[Never], })`},
		{"value of an object", `{"const":{"a":[1]}}`, `{ a: [1]; }`, `"T1Data", { "a": list[Literal[1]], })`},
		{"a name twice", `{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"number"}}}`, `{ a?: number; }`, `"T1Data", { "a": NotRequired[float], })`},
		{"items of old drafts", `{"type":"array","items":[{"type":"string"}],"additionalItems":false}`, `[string?]`, `list[str]`},
		{"members that nothing describes", `{"type":"object","required":3,"properties":[1],"additionalProperties":3,"anyOf":7}`, `Record<string, unknown>`, `dict[str, object]`},
		{"a type that is none", `{"type":"text"}`, `unknown`, `object`},
		{"a reference to nothing", `{"$ref":"#/$defs/X"}`, `unknown`, `object`},
		{"half of a pair", `{"enum":["\ud83d"]}`, `string`, `str`},
	} {
		ts, python := data(c.schema).TypeScript("x"), data(c.schema).Python("x")
		parses(t, ts)
		if got := declared(t, string(ts), "T1Data"); got != c.ts {
			t.Errorf("%s: TypeScript has %s\nand not                    %s", c.name, got, c.ts)
		}
		if got := declared(t, string(python), "T1Data"); got != c.python {
			t.Errorf("%s: Python has %s\nand not        %s", c.name, got, c.python)
		}
	}
}

// TestReferences: definitions are types with names, shared by all tools; two that
// differ are two types.
func TestReferences(t *testing.T) {
	s := typedecl.NewSet(false)
	pet := `{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/pet"}}},"required":["name"]}`
	s.Add(typedecl.Tool{Name: "get", Data: []byte(`{"type":"array","items":{"$ref":"#/$defs/pet"},"$defs":{"pet":` + pet + `}}`)})
	s.Add(typedecl.Tool{Name: "one", Data: []byte(strings.TrimSuffix(pet, "}") + `,"$defs":{"pet":` + pet + `}}`)})
	s.Add(typedecl.Tool{Name: "put", Input: []byte(`{"type":"object","properties":{"pet":{"$ref":"#/$defs/pet"}},"$defs":{"pet":{"type":"object","properties":{"name":{"type":"string"}}}}}`)})
	s.Add(typedecl.Tool{Name: "also", Data: []byte(`{"allOf":[{"$ref":"#/$defs/pet"},{"required":["kids"]}],"$defs":{"pet":` + pet + `}}`)})
	s.Add(typedecl.Tool{Name: "odd", Data: []byte(`{"anyOf":[{"$ref":"#/$defs/Pet"},{"$ref":"#/$defs/p e t"}],"$defs":{"Pet":{"type":"string"},"p e t":{"type":"number"}}}`)})
	s.Add(typedecl.Tool{Name: "self", Data: []byte(`{"type":"object","properties":{"a":{"type":"string"},"next":{"$ref":"#"}}}`)})
	ts, python := string(s.TypeScript("x")), string(s.Python("x"))
	parses(t, []byte(ts))
	for name, want := range map[string][2]string{
		"GetData":  {`Pet[]`, `list["Pet"]`},
		"OneData":  {`Pet`, `"Pet"`},
		"Pet":      {`{ name: string; kids?: Pet[]; }`, `"Pet", { "name": str, "kids": NotRequired[list["Pet"]], })`},
		"PutArgs":  {`{ pet?: PetInput; }`, `"PutArgs", { "pet": NotRequired["PetInput"], })`},
		"AlsoData": {`{ kids: unknown; } & Pet`, `"AlsoData", { "kids": list["Pet"], "name": str, })`},
		"OddData":  {`Pet_2 | PET_3`, `Union["Pet_2", "PET_3"]`},
		"SelfData": {`SelfDataSchema`, `"SelfDataSchema"`},
	} {
		if got := declared(t, ts, name); got != want[0] {
			t.Errorf("TypeScript has %s = %s, not %s", name, got, want[0])
		}
		if got := declared(t, python, name); got != want[1] {
			t.Errorf("Python has %s = %s, not %s", name, got, want[1])
		}
	}
}

// TestLoops: schemas that refer to themselves end, also where no language allows
// the same of types.
func TestLoops(t *testing.T) {
	for _, doc := range []string{
		`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/A"}]}}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"},{"type":"object"}]}}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`,
		`{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}},"B":{"type":"array","items":{"$ref":"#/$defs/B"}}}}`,
		`{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"type":"object","properties":{"c":{"$ref":"#/$defs/A"}}},"B":{"type":"object","properties":{"c":{"$ref":"#/$defs/B"}}}}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"c":{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"},{"properties":{"x":{"type":"string"}}}]}}},"B":{"type":"object","properties":{"c":{"allOf":[{"$ref":"#/$defs/B"},{"$ref":"#/$defs/A"}]}}}}}`,
		`{"type":"object","additionalProperties":{"$ref":"#"}}`,
		strings.Repeat(`{"type":"array","items":`, 200) + `{}` + strings.Repeat(`}`, 200),
		strings.Repeat(`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},`, 100) + `{}` + strings.Repeat(`]}`, 100),
	} {
		s := data(doc)
		parses(t, s.TypeScript("x"))
		if len(s.Python("x")) == 0 {
			t.Error("nothing is declared")
		}
	}
	if got := string(data(`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`).TypeScript("x")); !strings.Contains(got, "Unknown: the type refers to nothing but itself") || !strings.Contains(got, " = unknown;") {
		t.Errorf("the loop is not open:\n%s", got)
	}
}

// TestNames: names of tools and members that no language allows.
func TestNames(t *testing.T) {
	s := typedecl.NewSet(false)
	for _, name := range []string{"delete", "issues/list", "issues-list", "issues.list", "1st", "", "list", "None", "größe", "获取", "😀", strings.Repeat("long", 100)} {
		s.Add(typedecl.Tool{Name: name, Input: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
	}
	ts, python := string(s.TypeScript("x")), string(s.Python("x"))
	parses(t, []byte(ts))
	for _, want := range []string{"function delete_(", "function issues_list(", "function _1st(", "function größe(", "function 获取(", "function list(", "function None("} {
		if !strings.Contains(ts, want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, want := range []string{"def delete(", "def list_(", "def None_(", "def issues_list("} {
		if !strings.Contains(python, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if n := strings.Count(ts, "function issues_list_"); n != 2 {
		t.Errorf("%d functions have a digest", n)
	}
	for text, form := range map[string]string{ts: "export function %s(", python: "async def %s("} {
		seen := map[string]bool{}
		for line := range strings.SplitSeq(text, "\n") {
			var name string
			if _, err := fmt.Sscanf(strings.ReplaceAll(line, "(", " ("), strings.ReplaceAll(form, "(", " ("), &name); err == nil {
				if seen[name] {
					t.Errorf("two functions are %s", name)
				}
				seen[name] = true
			}
		}
		if len(seen) != s.Len() {
			t.Errorf("%d functions of %d tools", len(seen), s.Len())
		}
	}
}

// TestForeignText: descriptions and names stay within comments and strings.
func TestForeignText(t *testing.T) {
	evil := `*/ export const hacked = 1; /* \"\"\" + hacked\n@ts-nocheck\n# type: ignore\u2028\u202e\u0000 \\`
	s := typedecl.NewSet(false)
	s.Add(typedecl.Tool{Name: "a", Description: "x */ hacked \"\"\"\nhacked()\n\\", Data: []byte(`{"type":"object","description":"` + evil + `","properties":{"` + evil + `":{"description":"` + evil + `","type":"string","pattern":"*/","default":"*/"}}}`)})
	ts, python := string(s.TypeScript("*/\nhacked()")), string(s.Python("x\nhacked()"))
	parses(t, []byte(ts))
	code := api.Transform(ts, api.TransformOptions{Loader: api.LoaderTS, MinifyWhitespace: true})
	if strings.Contains(string(code.Code), "hacked") {
		t.Errorf("a description became code: %s", code.Code)
	}
	for line := range strings.SplitSeq(ts+python, "\n") {
		if i := strings.IndexAny(line, "\u2028\u202e\x00"); i >= 0 {
			t.Errorf("what is hidden is left in %q", line)
		}
		line = strings.TrimSpace(line)
		if (strings.HasPrefix(line, "*") || strings.HasPrefix(line, "#")) && (strings.Contains(line, "@ts-") || strings.Contains(line, "type: ignore")) {
			t.Errorf("an instruction is left in %q", line)
		}
	}
	if !strings.Contains(python, `x */ hacked \"\"\"`) {
		t.Errorf("the text of the function is not escaped:\n%s", python)
	}
}

// TestUnreadable: what is no schema makes its place unknown and says so; the others
// stay.
func TestUnreadable(t *testing.T) {
	s := data(`{"type":"object","properties":{"a":3,"b":{"type":"string"}}}`, `nonsense`, `[1]`, `{"not":{"type":"string"},"if":{},"type":"number"}`)
	ts := string(s.TypeScript("x"))
	parses(t, []byte(ts))
	for _, want := range []string{"a?: unknown;\n  b?: string;", "Unknown: what stands here is not a schema.", "T2Data = unknown", "T3Data = unknown", "Not in the type: not, if."} {
		if !strings.Contains(ts, want) {
			t.Errorf("%q is missing in\n%s", want, ts)
		}
	}
}

// TestLarge: 5,000 properties, and unions whose product would be larger than what
// they describe.
func TestLarge(t *testing.T) {
	var props strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&props, `,"p%d":{"type":"string"}`, i)
	}
	wide := `"type":"object","properties":{` + props.String()[1:] + `}`
	var branches strings.Builder
	for i := range 60 {
		fmt.Fprintf(&branches, `,{"required":["p%d"]}`, i)
	}
	s := data(`{`+wide+`}`, `{`+wide+`,"anyOf":[`+branches.String()[1:]+`],"oneOf":[`+branches.String()[1:]+`]}`)
	for _, text := range [][]byte{s.TypeScript("x"), s.Python("x")} {
		if len(text) > 2<<20 {
			t.Errorf("%d bytes", len(text))
		}
		if n := bytes.Count(text, []byte("p4999")); n < 2 {
			t.Errorf("%d members p4999", n)
		}
	}
	parses(t, s.TypeScript("x"))
}

// TestAdvice: what a server publishes as advice is declared as what it advises.
func TestAdvice(t *testing.T) {
	const anything = `{"type":["object","array","string","integer","number","boolean","null"],"items":{}}`
	doc := `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/AnyValue"}]},"b":{"anyOf":[{"type":"number"},{}]}},"anyOf":[{"required":["a"]},{}],"$defs":{"AnyValue":` + anything + `}}`
	s := typedecl.NewSet(true)
	s.Add(typedecl.Tool{Name: "t1", Data: []byte(doc)})
	if got := declared(t, string(s.TypeScript("x")), "T1Data"); got != `{ a: string; b?: number; }` {
		t.Errorf("with advice: %s", got)
	}
	if got := declared(t, string(data(doc).TypeScript("x")), "T1Data"); got != `{ a?: string | AnyValue; b?: unknown; }` {
		t.Errorf("without: %s", got)
	}
}

// TestSameBytes: the order of maps does not show.
func TestSameBytes(t *testing.T) {
	doc := `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/B"}},"$defs":{"A":{"type":"string"},"B":{"type":"object","patternProperties":{"a":{"$ref":"#/$defs/A"},"b":{"type":"null"}}}}}`
	ts, python := data(doc, doc).TypeScript("x"), data(doc, doc).Python("x")
	for range 20 {
		if !bytes.Equal(ts, data(doc, doc).TypeScript("x")) || !bytes.Equal(python, data(doc, doc).Python("x")) {
			t.Fatal("the bytes differ")
		}
	}
}

// TestRuntimesNameCodes: both runtimes know the codes of errors.
func TestRuntimesNameCodes(t *testing.T) {
	for _, lang := range []string{typedecl.LanguageTypeScript, typedecl.LanguagePython} {
		file, text := typedecl.Runtime(lang)
		for _, c := range tenon.Codes() {
			if quoted := `"` + string(c.Code) + `"`; !strings.HasPrefix(string(c.Code), "bad_") && c.Code != tenon.CodeUsage && !bytes.Contains(text, []byte(quoted)) {
				t.Errorf("%s has no %s", file, quoted)
			}
		}
	}
	_, ts := typedecl.Runtime(typedecl.LanguageTypeScript)
	parses(t, ts)
}

// TestFileNames: modules have names that can be imported, also where case does not
// count.
func TestFileNames(t *testing.T) {
	taken := map[string]bool{"tenon_runtime.ts": true}
	for _, c := range [][2]string{{"shop", "shop.ts"}, {"Shop", "Shop_.ts"}, {"tenon_runtime", "tenon_runtime_.ts"}, {"../x", "___x.ts"}, {"1", "_1.ts"}, {"import", "import_.ts"}, {"", "_.ts"}} {
		got := typedecl.FileName(c[0], typedecl.LanguageTypeScript, func(name string) bool { return taken[strings.ToLower(name)] })
		taken[strings.ToLower(got)] = true
		if got != c[1] {
			t.Errorf("%q is in %s, not %s", c[0], got, c[1])
		}
	}
}

// FuzzDeclarations: whatever a schema and texts are, the module is TypeScript, and
// twice the same.
func FuzzDeclarations(f *testing.F) {
	for _, doc := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/A"}}]}}}`,
		`{"allOf":[{"$ref":"#/$defs/A"},{"required":["x"]}],"$defs":{"A":{"type":"object","additionalProperties":{"enum":["*/",null,[1],{"a":2}]}}}}`,
		`{"type":"array","prefixItems":[{"const":"\u2028"},{"type":["string","null"]}],"minItems":1,"items":false}`,
	} {
		f.Add("get", "*/ text", []byte(doc))
	}
	f.Fuzz(func(t *testing.T, name, text string, doc []byte) {
		if len(doc) > 4096 {
			return
		}
		declare := func() *typedecl.Set {
			s := typedecl.NewSet(len(name)%2 == 0)
			s.Add(typedecl.Tool{Name: name, Description: text, Input: bytes.Clone(doc), Data: bytes.Clone(doc), Within: text})
			s.Add(typedecl.Tool{Name: text, Title: name, Data: bytes.Clone(doc)})
			return s
		}
		ts := declare().TypeScript(text)
		parses(t, ts)
		if !bytes.Equal(ts, declare().TypeScript(text)) || !bytes.Equal(declare().Python(name), declare().Python(name)) {
			t.Error("the same input gives other bytes")
		}
	})
}

// large is a tool with more types than a budget has space for.
func large() *typedecl.Set {
	var defs, props strings.Builder
	for i := range 200 {
		fmt.Fprintf(&defs, `,"type%03d":{"type":"object","description":"Text of the type.","properties":{"next":{"$ref":"#/$defs/type%03d"},"other":{"$ref":"#/$defs/type%03d"},"name":{"type":"string"}}}`, i, (i*2+1)%200, (i*2+2)%200)
	}
	for i := range 5000 {
		fmt.Fprintf(&props, `,"member_%d":{"type":"string","description":"What it is."}`, i)
	}
	s := typedecl.NewSet(false)
	s.Add(typedecl.Tool{
		Name: "get-it", Description: "Gets it. And more.", Enforced: true,
		Input: []byte(`{"type":"object","properties":{"id":{"type":"integer","description":"Which one. Not another."},"filter":{"$ref":"#/$defs/type150"}},"required":["id"],"$defs":{` + defs.String()[1:] + `}}`),
		Data:  []byte(`{"type":"array","items":{"$ref":"#/$defs/type000"},"$defs":{` + defs.String()[1:] + `}}`),
	})
	s.Add(typedecl.Tool{Name: "wide", Input: []byte(`{"type":"object","properties":{` + props.String()[1:] + `},"required":["member_4999"]}`), Data: []byte(`{"type":"object","properties":{` + props.String()[1:] + `}}`)})
	return s
}

// TestBrief: what is asked for comes first, then what it mentions, breadth first; what
// is left out is named and can be asked for; the budget holds.
func TestBrief(t *testing.T) {
	s := large()
	for _, budget := range []int{200, 1000, 3000} {
		b := s.Brief(budget, "get-it")
		parses(t, []byte(b.Text))
		if len(b.Text) > budget*4+100 {
			t.Errorf("%d bytes in a budget of %d tokens", len(b.Text), budget)
		}
		if !strings.HasPrefix(b.Text, "/** Gets it. */\ndeclare function get_it(args: {\n  id: number; // Which one.\n  filter?: Type150;\n}): Promise<Type000[]>;\ntype Type000 = {") {
			t.Errorf("it begins with\n%s", b.Text[:min(len(b.Text), 300)])
		}
		if len(b.Left) == 0 || !strings.Contains(b.Text, "// Not shown, ask for them by name: "+b.Left[0]) {
			t.Errorf("nothing is said of what is left out: %q", b.Left)
		}
		for _, name := range b.Left {
			next := s.Brief(budget, name)
			parses(t, []byte(next.Text))
			if len(next.Unknown) > 0 || !strings.HasPrefix(next.Text, "type "+name+" = {\n  next?: ") {
				t.Errorf("%s cannot be asked for: %s", name, next.Text)
			}
		}
		for _, name := range regexp.MustCompile(`\bType\d+`).FindAllString(b.Text, -1) { // all are there or named
			if !strings.Contains(b.Text, "type "+name+" = ") && !slices.Contains(b.Left, name) {
				t.Errorf("%s is neither there nor named", name)
			}
		}
	}
	if b := s.Brief(3000, "nothing", "get-it.x"); b.Text != "" || len(b.Unknown) != 2 {
		t.Errorf("unknown names give %+v", b)
	}
}

// TestBriefOfManyMembers: those that are required come first, the others are named and
// can be asked for.
func TestBriefOfManyMembers(t *testing.T) {
	s := large()
	b := s.Brief(1000, "wide")
	parses(t, []byte(b.Text))
	if len(b.Text) > 4100 || !strings.Contains(b.Text, "declare function wide(args: {\n  member_4999: string;\n") {
		t.Errorf("%d bytes:\n%s", len(b.Text), b.Text)
	}
	args, data := 0, 0
	for _, name := range b.Left {
		if strings.HasPrefix(name, "WideArgs.") {
			args++
		}
		if strings.HasPrefix(name, "WideData.") {
			data++
		}
	}
	if args < 4900 || data < 4900 {
		t.Errorf("%d arguments and %d members are left out", args, data)
	}
	if one := s.Brief(1000, "WideArgs.member_77"); one.Text != "type WideArgsMember77 = string;\n" {
		t.Errorf("a member is %q", one.Text)
	}
}
