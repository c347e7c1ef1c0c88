package functionapp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// binding reads one binding as it stands in a file.
func binding(t *testing.T, text string) functionapp.Object {
	t.Helper()
	f, err := functionapp.ParseFunction([]byte(`{"bindings":[` + text + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return f.Bindings[0]
}

func schemaOf(t *testing.T, kind functionapp.SchemaKind, text string) functionapp.Schema {
	t.Helper()
	s, err := functionapp.ParseSchema(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var equalSchemas = cmp.Comparer(func(a, b functionapp.Schema) bool { return a.String() == b.String() })

// TestToolsOfAllWorkers are the forms in which workers of different languages
// write one tool.
func TestToolsOfAllWorkers(t *testing.T) {
	snippet := functionapp.Property{Name: "snippetname", Type: "string", Description: "The name."}
	for _, tt := range []struct {
		name, text string
		want       functionapp.Tool
		notes      []string
	}{
		{
			name: "Node: an envelope always, a schema under a key of its own",
			text: `{"toolName":"t","description":"d","useResultSchema":true,"resultSchema":"{\"type\":\"object\"}","toolProperties":"[]","type":"mcpToolTrigger","name":"mcpToolTrigger6bddbc22f9","direction":"in","properties":{"supportsDeferredBinding":"false"}}`,
			want: functionapp.Tool{
				Binding: "mcpToolTrigger6bddbc22f9", Name: "t", Description: "d", Properties: []functionapp.Property{},
				Output: schemaOf(t, functionapp.Output, `{"type":"object"}`), Envelope: true,
			},
			notes: []string{"resultSchema: is read as outputSchema; Azure's host does not know this key"},
		},
		{
			name: "Python: capitals, and a schema that is an object",
			text: `{"direction":"IN","type":"mcpToolTrigger","name":"context","toolName":"t","description":"","toolProperties":"[{\"propertyName\": \"snippetname\", \"propertyType\": \"string\", \"description\": \"The name.\"}]","outputSchema":{"type":"object"},"dataType":"UNDEFINED","dummyField":1}`,
			want: functionapp.Tool{
				Binding: "context", Name: "t", Properties: []functionapp.Property{snippet},
				Output: schemaOf(t, functionapp.Output, `{"type":"object"}`),
			},
			notes: []string{"outputSchema: is JSON itself; Azure's host wants a string that contains it"},
		},
		{
			name: "Python: a type that JSON Schema does not have",
			text: `{"type":"mcpToolTrigger","name":"context","toolName":"t","description":"","toolProperties":"[{\"propertyName\":\"x\",\"propertyType\":\"float\"},{\"propertyName\":\" \"}]"}`,
			want: functionapp.Tool{Binding: "context", Name: "t", Properties: []functionapp.Property{{Name: "x", Type: "float"}}},
			notes: []string{
				`toolProperties: x: propertyType "float" is no type of JSON Schema; published as number`,
				"toolProperties: a property without a name was left out",
			},
		},
		{
			name: ".NET: everything escaped, and both ways to describe the arguments",
			text: `{"name":"context","direction":"In","type":"mcpToolTrigger","toolName":"t","description":"d","useResultSchema":true,"toolProperties":"[{\u0022propertyName\u0022:\u0022snippetname\u0022,\u0022propertyType\u0022:\u0022string\u0022,\u0022description\u0022:\u0022The name.\u0022,\u0022isRequired\u0022:false,\u0022isArray\u0022:false,\u0022enumValues\u0022:[]}]","useWorkerInputSchema":true,"inputSchema":"{\u0022type\u0022:\u0022object\u0022}","outputSchema":"{\u0022type\u0022:\u0022object\u0022}","metadata":"{\u0022owner\u0022:\u0022demo\u0022}"}`,
			want: functionapp.Tool{
				Binding: "context", Name: "t", Description: "d", Properties: []functionapp.Property{snippet}, Envelope: true,
				Input: schemaOf(t, functionapp.Input, `{"type":"object"}`), Output: schemaOf(t, functionapp.Output, `{"type":"object"}`), Meta: []byte(`{"owner":"demo"}`),
			},
		},
		{
			name: "Java: properties with members that belong elsewhere",
			text: `{"type":"mcpToolTrigger","name":"t","toolName":"t","description":"d","toolProperties":"[{\"propertyName\":\"snippetname\",\"type\":\"mcpToolProperty\",\"direction\":\"IN\",\"dataType\":\"\",\"propertyType\":\"string\",\"description\":\"The name.\",\"isRequired\":\"false\"}]"}`,
			want: functionapp.Tool{Binding: "t", Name: "t", Description: "d", Properties: []functionapp.Property{snippet}},
		},
		{
			name: "keys in another case, null for what is not there",
			text: `{"Type":"MCPTOOLTRIGGER","NAME":"context","ToolName":"t","Description":"d","OutputSchema":null,"UseResultSchema":true,"toolProperties":"null"}`,
			want: functionapp.Tool{Binding: "context", Name: "t", Description: "d", Envelope: true},
		},
		{
			name: "a schema although the answer is no envelope, and an input schema that nobody reads",
			text: `{"type":"mcpToolTrigger","name":"context","toolName":"t","outputSchema":"{\"type\":\"object\"}","inputSchema":"{}"}`,
			want: functionapp.Tool{Binding: "context", Name: "t", Output: schemaOf(t, functionapp.Output, `{"type":"object"}`)},
			notes: []string{
				`description: is missing; Azure's host wants it, at least ""`,
				"inputSchema: is not read without useWorkerInputSchema",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := binding(t, tt.text)
			if functionapp.TypeOf(b) != functionapp.ToolTrigger {
				t.Errorf("type %q", functionapp.TypeOf(b))
			}
			got, notes, err := functionapp.ReadTool(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, equalSchemas); diff != "" {
				t.Error(diff)
			}
			var told []string
			for _, n := range notes {
				told = append(told, n.String())
			}
			if diff := cmp.Diff(tt.notes, told); diff != "" {
				t.Error(diff)
			}
			again, _, err := functionapp.ReadTool(binding(t, string(got.Object().Append(nil))))
			if err != nil {
				t.Fatal(err)
			}
			if got.Properties == nil && got.Input.JSON() == nil {
				got.Properties = []functionapp.Property{}
			}
			if diff := cmp.Diff(got, again, equalSchemas); diff != "" {
				t.Error("written and read again:", diff)
			}
		})
	}
}

func TestABadToolNamesTheKey(t *testing.T) {
	for _, tt := range []struct{ name, text, key, want string }{
		{"no tool name", `"toolName":" "`, "toolName", "toolName: is missing or blank"},
		{"a tool name that is a number", `"toolName":5`, "toolName", "toolName: must be a string"},
		{"a flag without an input schema", `"toolName":"t","useWorkerInputSchema":true`, "inputSchema", "inputSchema: InputSchema is null or invalid: useWorkerInputSchema needs one"},
		{"a flag that is none", `"toolName":"t","useResultSchema":"maybe"`, "useResultSchema", "useResultSchema: must be true or false"},
		{"an output schema of another type", `"toolName":"t","outputSchema":"{\"type\":\"string\"}"`, "outputSchema", "outputSchema: The specified document is not a valid MCP tool output JSON schema."},
		{"an output schema that is blank", `"toolName":"t","outputSchema":" "`, "outputSchema", "outputSchema: Failed to parse OutputSchema for tool 't'. Schema must be valid JSON. (offset 1: the input ends, expected a value)"},
		{"an input schema that is a list", `"toolName":"t","useWorkerInputSchema":true,"inputSchema":"[]"`, "inputSchema", "inputSchema: The specified document is not a valid MCP tool input JSON schema."},
		{"metadata that is a list", `"toolName":"t","metadata":"[]"`, "metadata", "metadata: the value is not a JSON object"},
		{"metadata that is too deep", `"toolName":"t","metadata":"{\"x\":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}"`, "metadata", "metadata: must not nest deeper than 32"},
		{"properties that are an object", `"toolName":"t","toolProperties":"{}"`, "toolProperties", "toolProperties: must be a list of properties"},
		{"a property that is a string", `"toolName":"t","toolProperties":"[\"x\"]"`, "toolProperties", "toolProperties: a property must be an object"},
		{"values that are lists", `"toolName":"t","toolProperties":"[{\"propertyName\":\"x\",\"enumValues\":[[1]]}]"`, "toolProperties", "toolProperties: enumValues: must be a list of strings or numbers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := functionapp.ReadTool(binding(t, `{"type":"mcpToolTrigger","name":"context","description":"",`+tt.text+`}`))
			var e *functionapp.Error
			if !errors.As(err, &e) {
				t.Fatalf("no error with a key: %v", err)
			}
			if e.Key != tt.key || e.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", e, tt.want)
			}
			if e.Offset == 0 && !strings.Contains(tt.want, "needs one") {
				t.Error("the error does not say where")
			}
		})
	}
}

func TestInputSchemaOfProperties(t *testing.T) {
	tool := functionapp.Tool{Properties: []functionapp.Property{
		{Name: "city", Type: "string", Description: "A \"city\".", Required: true},
		{Name: "tags", Type: "string", Array: true, Enum: []string{"a", "b"}, Required: true},
		{Name: "when", Type: "moment"},
		{Name: "whens", Type: "moment", Array: true},
		{Name: "city", Type: "integer", Required: true},
	}}
	const want = `{"type":"object","properties":{` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"description":""},` +
		`"when":{"description":""},"whens":{"type":"array","items":{},"description":""},` +
		`"city":{"type":"integer","description":""}},"required":["city","tags"]}`
	if got := string(tool.InputSchema()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(functionapp.Tool{}.InputSchema()); got != `{"type":"object","properties":{},"required":[]}` {
		t.Errorf("without properties: %s", got)
	}
}

// TestRequiredArguments is what a host checks before it calls.
func TestRequiredArguments(t *testing.T) {
	byProperties := functionapp.Tool{Properties: []functionapp.Property{{Name: "a", Required: true}, {Name: "b"}, {Name: "c", Required: true}}}
	bySchema := functionapp.Tool{
		Input:      schemaOf(t, functionapp.Input, `{"type":"object","required":["b",1,"a"]}`),
		Properties: []functionapp.Property{{Name: "never", Required: true}},
	}
	for _, tt := range []struct {
		name string
		tool functionapp.Tool
		args string
		want []string
	}{
		{"all there", byProperties, `{"a":1,"c":2}`, nil},
		{"one missing", byProperties, `{"a":1}`, []string{"c"}},
		{"null is missing", byProperties, `{"a":null,"c":null}`, []string{"a", "c"}},
		{"empty values are there", byProperties, `{"a":"","c":[]}`, nil},
		{"zero and false are there", byProperties, `{"a":0,"c":false}`, nil},
		{"an empty object is there", byProperties, `{"a":{},"c":{}}`, nil},
		{"no arguments at all", byProperties, ``, []string{"a", "c"}},
		{"of a schema only the strings count, and no properties", bySchema, `{"a":1}`, []string{"b"}},
		{"nothing is required", functionapp.Tool{}, ``, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.tool.Missing([]byte(tt.args))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFunctionFile(t *testing.T) {
	const trigger = `{"name":"context","type":"mcpToolTrigger"}`
	for _, tt := range []struct{ name, text, want string }{
		{"one trigger", `{"bindings":[` + trigger + `]}`, ""},
		{"a byte order mark", "\ufeff" + `{"bindings":[` + trigger + `]}`, ""},
		{"a binding before the trigger", `{"Bindings":[{"name":"out","type":"blob"},` + trigger + `],"retry":{}}`, ""},
		{"no JSON", `{"bindings":[}`, "function.json is not JSON: offset 13: expected a value"},
		{"a list", `[]`, "function.json is not a JSON object"},
		{"no bindings", `{}`, "bindings: must be a list of bindings"},
		{"a binding that is none", `{"bindings":[1]}`, "bindings: a binding must be an object"},
		{"an empty list", `{"bindings":[]}`, "bindings: there is none; a function has at least its trigger"},
		{"no trigger", `{"bindings":[{"name":"x","type":"blob"}]}`, "bindings: none is a trigger; a function has exactly one"},
		{"two triggers", `{"bindings":[` + trigger + `,{"name":"b","type":"HTTPTRIGGER"}]}`, "type: a second trigger; a function has exactly one"},
		{"a name twice", `{"bindings":[` + trigger + `,{"name":"CONTEXT","type":"blob"}]}`, `name: "CONTEXT" stands twice; case does not count`},
		{"a name with a sign", `{"bindings":[{"name":"a-b","type":"mcpToolTrigger"}]}`, `name: "a-b" is no name for a binding: take a letter and up to 127 letters and digits`},
		{"no name", `{"bindings":[{"type":"mcpToolTrigger"}]}`, "name: is missing or blank"},
		{"no type", `{"bindings":[{"name":"x"}]}`, "type: is missing or blank"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := functionapp.ParseFunction([]byte(tt.text))
			if err == nil {
				_, err = f.Trigger()
			}
			if got := said(err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]bool{
		"GetWeather": true, "a": true, "a_b-c9": true, "": false, "9a": false, "_a": false, "a.b": false,
		"host": false, "HOST": false, "é": false, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false,
	} {
		if functionapp.IsFunctionName(name) != want {
			t.Errorf("%q: want %t", name, want)
		}
	}
}

func TestNothingOfAFunctionIsLost(t *testing.T) {
	const in = `{"scriptFile":"x.py","bindings":[{"zzz":[1,{"a":1e400}],"name":"context","type":"mcpToolTrigger"}],"retry":{"n":1}}`
	f, err := functionapp.ParseFunction([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "scriptFile": "x.py",
  "retry": {
    "n": 1
  },
  "bindings": [
    {
      "zzz": [
        1,
        {
          "a": 1e400
        }
      ],
      "name": "context",
      "type": "mcpToolTrigger"
    }
  ]
}
`
	if got := string(f.Append(nil)); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestResources(t *testing.T) {
	b := binding(t, `{"name":"context","type":"mcpresourcetrigger","uri":"shop://book/{id}","resourceName":"book","title":"Book","description":"One.","mimeType":"text/plain","size":"12","metadata":"{\"a\":1}"}`)
	got, notes, err := functionapp.ReadResource(b)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	want := functionapp.Resource{Binding: "context", URI: "shop://book/{id}", Name: "book", Title: "Book", Description: "One.", Media: "text/plain", Size: 12, Meta: []byte(`{"a":1}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, _, err := functionapp.ReadResource(binding(t, string(got.Object().Append(nil))))
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		`"uri":"x"`:                    "resourceName: is missing or blank",
		`"uri":"x","resourceName":"n"`: `uri: "x" is no absolute URI`,
		`"uri":"a:b","resourceName":"n","size":"many"`: "size: must be a number of bytes",
	} {
		_, _, err := functionapp.ReadResource(binding(t, `{"name":"context","type":"mcpResourceTrigger",`+text+`}`))
		if got := said(err); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for uri, want := range map[string]string{
		"file://x":              "",
		"user://profile/{id}":   "",
		"a://{x}/b?q={y}&z={z}": "",
		"a://{cat}items{tag}":   "",
		"":                      `"" is no absolute URI`,
		"relative/{x}":          `"relative/{x}" is no absolute URI`,
		"user://profile/{":      `"user://profile/{" has a brace that is empty or not closed`,
		"user://profile/{}":     `"user://profile/{}" has a brace that is empty or not closed`,
		"user://profile/}":      `"user://profile/}" has a brace that was not opened`,
		"a://{x{y}}":            `"a://{x{y}}" has a brace that is empty or not closed`,
		"a://{x}{y}":            "the variables {x} and {y} touch: a character must stand between them",
		"a://{x}/{X}":           "the variables {x} and {X} have one name: case and signs do not count",
		"a://{a-b}/{a_b}":       "the variables {a-b} and {a_b} have one name: case and signs do not count",
		"a://{a b}":             "{a b} is no name for a variable: it must not be blank nor have any of / # ? & and blanks",
		"a://{a/b}":             "{a/b} is no name for a variable: it must not be blank nor have any of / # ? & and blanks",
		"a://{%7b}":             "{%7b} is no name for a variable: it must not be blank nor have any of / # ? & and blanks",
	} {
		if got := said(functionapp.CheckURI(uri)); got != want {
			t.Errorf("%q: %s; want %s", uri, got, want)
		}
	}
}

func TestTemplatesMatch(t *testing.T) {
	for _, tt := range []struct {
		template, uri string
		want          map[string]string
	}{
		{"user://profile/{id}", "user://profile/42", map[string]string{"id": "42"}},
		{"user://profile/{id}", "USER://Profile/aB", map[string]string{"id": "aB"}},
		{"user://profile/{id}", "user://profile/", nil},
		{"user://profile/{id}", "user://profile/a/b", nil},
		{"user://profile/{id}", "user://profile/a?b", nil},
		{"a://x?q={q}&r={r}", "a://x?q=a&r=c", map[string]string{"q": "a", "r": "c"}},
		{"a://x?q={q}&r={r}", "a://x?q=a/b&r=c", nil},
		{"a://x?{q}&{r}", "a://x?a/b&c", map[string]string{"q": "a/b", "r": "c"}},
		{"a://{x}items{y}", "a://1items2items3", map[string]string{"x": "1items2", "y": "3"}},
		{"a://{x}.(b)", "a://1.(b)", map[string]string{"x": "1"}},
		{"a://{x}.(b)", "a://1x(b)", nil},
	} {
		template, err := functionapp.ParseTemplate(tt.template)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := template.Match(tt.uri)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s and %s: %s", tt.template, tt.uri, diff)
		}
	}
}

func TestPrompts(t *testing.T) {
	b := binding(t, `{"name":"context","type":"mcpPromptTrigger","promptName":"p","title":"P","description":"d","promptArguments":"[{\"name\":\"a\",\"description\":\"x\",\"required\":true},{\"Name\":\"b\"}]","icons":"[{\"src\":\"data:\"}]","metadata":"{}","useResultSchema":true}`)
	got, _, err := functionapp.ReadPrompt(b)
	if err != nil {
		t.Fatal(err)
	}
	want := functionapp.Prompt{
		Binding: "context", Name: "p", Title: "P", Description: "d", Envelope: true, Icons: []byte(`[{"src":"data:"}]`), Meta: []byte(`{}`),
		Arguments: []tenon.PromptArgument{{Name: "a", Description: "x", Required: true}, {Name: "b"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, _, err := functionapp.ReadPrompt(binding(t, string(got.Object().Append(nil))))
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		``: "promptName: is missing or blank",
		`"promptName":"p","promptArguments":"{}"`:   "promptArguments: must be a list of arguments",
		`"promptName":"p","promptArguments":"[1]"`:  "promptArguments: an argument must be an object",
		`"promptName":"p","promptArguments":"[{}]"`: "promptArguments: name: is missing or blank",
		`"promptName":"p","icons":"{}"`:             "icons: must be a list of icons",
	} {
		if text != "" {
			text = "," + text
		}
		_, _, err := functionapp.ReadPrompt(binding(t, `{"name":"context","type":"mcpPromptTrigger"`+text+`}`))
		if got := said(err); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}
