package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

const tool = `{"bindings":[{"name":"c","type":"mcpToolTrigger","toolName":"NAME","description":"","toolProperties":"[]"KEYS}]}`

func toolFile(name, keys string) string {
	return strings.NewReplacer("NAME", name, "KEYS", keys).Replace(tool)
}

// TestFunctionsThatAreDisabled: by a setting of their name, by their own file,
// and by a setting that it names.
func TestFunctionsThatAreDisabled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "host.json", hostFile("plain", 0))
	write(t, dir, "local.settings.json", `{ // for this machine
		"Values":{"AzureWebJobs.ByPoint.Disabled":"true","azurewebjobs.Bycase.disabled":"1","AzureWebJobs_ByLine_Disabled":"TRUE","AzureWebJobs.On.Disabled":"false","IS_OFF":"1","IS_ON":"0",},}`)
	for name, disabled := range map[string]string{
		"ByPoint": "", "ByCase": "", "ByLine": "", "ByFile": `true`, "ByText": `"true"`, "BySetting": `"IS_OFF"`, "ByReference": `"%IS_OFF%"`,
		"On": "", "OnByFile": `false`, "OnBySetting": `"IS_ON"`, "OnByNothing": `"NOWHERE"`,
	} {
		text := toolFile(name, "")
		if disabled != "" {
			text = strings.TrimSuffix(strings.TrimSpace(text), "}") + `,"disabled":` + disabled + "}"
		}
		write(t, dir, name+"/function.json", text)
	}
	app, err := host.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range app.Functions {
		f := &app.Functions[i]
		if off := f.Why == "is disabled"; off == strings.HasPrefix(f.Name, "On") {
			t.Errorf("%s: %q, %q", f.Name, f.Serves(), f.Why)
		}
	}
}

// TestArgumentsOfBindings: where the trigger names no arguments, those of the
// bindings beside it do, and values of an enum are of the argument's type.
func TestArgumentsOfBindings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "host.json", hostFile("plain", 0))
	const bindings = `{"name":"n","type":"mcpToolProperty","propertyName":"n","propertyType":"integer","description":"N","isRequired":true,"enumValues":["1",2]},
		{"name":"s","type":"mcpToolProperty","propertyName":"s","propertyType":"string","description":"","enumValues":["1","x"]}`
	write(t, dir, "Bare/function.json", `{"bindings":[{"name":"c","type":"mcpToolTrigger","toolName":"bare","description":""},`+bindings+`]}`)
	write(t, dir, "Full/function.json", `{"bindings":[{"name":"c","type":"mcpToolTrigger","toolName":"full","description":"","toolProperties":"[]"},`+bindings+`]}`)
	app, err := host.Read(dir, nil)
	if err != nil || len(app.Functions) != 2 || len(app.Diagnostics) != 0 {
		t.Fatal(err, app.Diagnostics)
	}
	for i, want := range []string{
		`{"type":"object","properties":{"n":{"type":"integer","enum":[1,2],"description":"N"},"s":{"type":"string","enum":["1","x"],"description":""}},"required":["n"]}`,
		`{"type":"object","properties":{},"required":[]}`,
	} {
		if got := string(app.Functions[i].Tool.InputSchema()); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// TestProblemsCostTheirFunction: whatever is wrong with one function, the others
// are read, and the problem names file, line and key.
func TestProblemsCostTheirFunction(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"host.json":                    hostFile("plain", 0),
		"local.settings.json":          `{"Values":{"AzureWebJobs.Off.Disabled":"true"}}`,
		"A_good/function.json":         toolFile("good", ""),
		"Cut/function.json":            `{"bindings":[`,
		"Empty/function.json":          `{"bindings":[]}`,
		"Off/function.json":            toolFile("off", ""),
		"Twin/function.json":           toolFile("GOOD", ""),
		"Two/function.json":            `{"bindings":[{"name":"a","type":"mcpToolTrigger","toolName":"a"},{"name":"b","type":"httpTrigger"}]}`,
		"Timer/function.json":          `{"bindings":[{"name":"a","type":"timerTrigger"}]}`,
		"Schema/function.json":         strings.ReplaceAll(toolFile("schema", `,"outputSchema":"{\"type\":\"string\"}"`), ",", ",\n"),
		"Types/function.json":          toolFile("types", `,"toolProperties":"[{\"propertyName\":\"f\",\"propertyType\":\"float\"},{\"propertyName\":\"x\",\"propertyType\":\"mystery\"}]"`),
		"Storage/function.json":        strings.Replace(toolFile("storage", ""), `]}`, `,{"name":"b","type":"blob","direction":"out"}]}`, 1),
		"9lives/function.json":         toolFile("nine", ""),
		"node_modules/x/function.json": `this is no function of the app`,
		"README.md":                    `nor is this`,
	}
	files["Storage/function.json"] = `{"bindings":[{"name":"c","type":"mcpToolTrigger","toolName":"storage","description":""},{"name":"b","type":"blob","direction":"out"}]}`
	for name, text := range files {
		write(t, dir, name, text)
	}
	app, err := host.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range app.Functions {
		f := &app.Functions[i]
		if got[f.Name] = f.Serves(); f.Why != "" {
			got[f.Name] = f.Why
		}
	}
	want := map[string]string{
		"A_good": "tool good", "Cut": "is wrong", "Empty": "is wrong", "Off": "is disabled", "Twin": "is wrong", "Two": "is wrong",
		"Timer": "has a timerTrigger", "Schema": "is wrong", "Types": "tool types", "Storage": "tool storage", "9lives": "is wrong",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var diagnostics []string
	for _, f := range app.Diagnostics {
		diagnostics = append(diagnostics, strings.TrimPrefix(f.String(), dir+string(filepath.Separator)))
	}
	for _, want := range []string{
		"Cut/function.json:1: function Cut is not served: function.json is not JSON",
		"Empty/function.json: function Empty is not served: bindings: there is none",
		"Schema/function.json:6: function Schema is not served: outputSchema: The specified document is not a valid MCP tool output JSON schema.",
		"Twin/function.json: function Twin is not served: the tool GOOD is already registered by function A_good",
		"Two/function.json:1: function Two is not served: type: a second trigger",
		"Types/function.json:1: function Types: toolProperties: f: propertyType \"float\" is no type of JSON Schema; published as number",
		"Types/function.json:1: function Types: toolProperties: x: propertyType \"mystery\" is no type of JSON Schema; published as any value",
		"Storage/function.json:1: function Storage: the binding \"b\" of type blob is not provided",
		"9lives/function.json: function 9lives is not served: the name must be a letter",
	} {
		found := false
		for _, f := range diagnostics {
			found = found || strings.HasPrefix(filepath.ToSlash(f), want)
		}
		if !found {
			t.Errorf("no problem %q in\n%s", want, strings.Join(diagnostics, "\n"))
		}
	}
}

func TestFoldersThatAreNoApp(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"nothing there", "", "is no function app"},
		{"no JSON", "{", "host.json is not JSON"},
		{"an app that is a server itself", `{"configurationProfile":"mcp-custom-handler"}`, "is an MCP server itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "" {
				write(t, dir, "host.json", tt.file)
			}
			_, err := host.New(dir, host.Options{}).Load(context.Background())
			if tenon.CodeOf(err) != tenon.CodeBadSource || !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
		})
	}
}

// TestSchemasAreListedAsTheyAre: to the letter, or where clients would fall
// over them, not at all; they are checked anyway.
func TestSchemasAreListedAsTheyAre(t *testing.T) {
	tests := []struct {
		name, schema string
		listed       bool
	}{
		{"plain", temperature, true},
		{"with a label, definitions and strange keywords", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"$ref":"#/$defs/n"}},"required":["t"],"$defs":{"n":{"type":"number"},"unused":{}},"x-mine":1}`, true},
		{"a property that is no schema", `{"type":"object","properties":{"t":7},"required":["t"]}`, false},
		{"required that are no names", `{"type":"object","required":[1]}`, false},
		{"a dead reference", `{"type":"object","properties":{"t":{"$ref":"#/nowhere"}}}`, false},
		{"a reference to the web", `{"type":"object","properties":{"t":{"$ref":"https://example.com/s.json"}}}`, false},
		{"an old label", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, anyway := range []bool{false, true} {
				dir := newApp(t, "plain", functionapp.Tool{Name: "Say", Output: schemaOf(t, tt.schema)}, functionapp.Tool{Name: "Echo"})
				g, _ := serve(t, dir, host.Options{OnDemand: true, PublishIncompatibleSchemas: anyway})
				e := g.Catalog().Find("say")
				_, output := e.Schemas()
				switch {
				case tt.listed || anyway:
					if string(output) != tt.schema {
						t.Errorf("listed: %s", output)
					}
				case output != nil:
					t.Errorf("listed: %s", output)
				}
				if told := strings.Contains(reports(e.Diagnostics()), "some clients drop all tools"); told == tt.listed {
					t.Errorf("reported: %t", told)
				}
				if len(g.Catalog().Tools()) != 2 {
					t.Error("the other tool is gone")
				}
			}
		})
	}
}

func reports(diagnostics []tenon.Diagnostic) string {
	var b strings.Builder
	for _, f := range diagnostics {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// TestResourcesAndPrompts come from a worker, too.
func TestResourcesAndPrompts(t *testing.T) {
	dir := newApp(t, "plain")
	resource := functionapp.Resource{URI: "shop://list", Name: "list", Media: "text/plain"}
	template := functionapp.Resource{URI: "shop://book/{id}/{part}", Name: "book", Media: "text/plain"}
	prompt := functionapp.Prompt{Name: "greet", Arguments: []tenon.PromptArgument{{Name: "return", Required: true}}}
	for name, trigger := range map[string]functionapp.Object{"Payload": resource.Object(), "Book": template.Object(), "Greet": prompt.Object()} {
		write(t, dir, name+"/function.json", string(functionapp.Function{Bindings: []functionapp.Object{trigger}}.Append(nil)))
	}
	g, _ := serve(t, dir, host.Options{})
	ctx := context.Background()
	c := g.Catalog()
	blocks, err := c.Resources()[0].Read(ctx, "shop://list", &tenon.Call{})
	if err != nil || len(blocks) != 1 || !strings.Contains(string(blocks[0].Text), `"mcpresourceuri"`) || blocks[0].MediaType != "text/plain" {
		t.Errorf("%v %v", blocks, err)
	}
	if blocks, err = c.Templates()[0].Read(ctx, "shop://book/7/cover", &tenon.Call{}); err != nil || len(blocks) != 0 {
		t.Errorf("%v %v", blocks, err)
	}
	if _, err = c.Templates()[0].Read(ctx, "shop://shelf/7", &tenon.Call{}); tenon.CodeOf(err) != tenon.CodeNotFound {
		t.Error(err)
	}
	messages, err := c.Prompts()[0].Get(ctx, map[string]string{"return": "hello"}, &tenon.Call{})
	if err != nil || len(messages) != 1 || string(messages[0].Content.Text) != "hello" || messages[0].Role != "user" {
		t.Errorf("%v %v", messages, err)
	}
	if _, err = c.Prompts()[0].Get(ctx, nil, &tenon.Call{}); tenon.CodeOf(err) != tenon.CodeValidation {
		t.Error(err)
	}
}

// FuzzRead: no bytes in an app's files stop the functions beside them.
func FuzzRead(f *testing.F) {
	f.Add([]byte(toolFile("x", "")), []byte(`{"Values":{"A":"b"}}`))
	f.Add([]byte(`{"bindings":[{}]}`), []byte(`{`))
	f.Fuzz(func(t *testing.T, function, settings []byte) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{
			"host.json": []byte(hostFile("plain", 0)), "local.settings.json": settings,
			"Good/function.json": []byte(toolFile("good", "")), "Other/function.json": function,
		} {
			file := filepath.Join(dir, filepath.FromSlash(name))
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			_ = os.WriteFile(file, text, 0o600)
		}
		app, err := host.Read(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if app.Functions[0].Serves() != "tool good" && app.Functions[0].Why != "is disabled" {
			t.Fatalf("%+v", app.Functions[0])
		}
		if o := &app.Functions[1]; o.Serves() == "" && o.Why == "" {
			t.Fatal("not served, and nobody says why")
		}
	})
}

// TestDescriptionsWithoutEnd: what is said of one function is bounded, and so are
// the files of an app together.
func TestDescriptionsWithoutEnd(t *testing.T) {
	dir := newApp(t, "plain")
	var properties strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&properties, `,{"propertyName":"p%d","propertyType":"odd","isRequired":true},{"propertyName":"twin","description":"%d"}`, i, i)
	}
	trigger := `{"bindings":[{"name":"context","type":"mcpToolTrigger","toolName":"%s","description":"","toolProperties":[%s]}]}`
	write(t, dir, "Many/function.json", fmt.Sprintf(trigger, "many", properties.String()[1:]))
	write(t, dir, "Twin/function.json", fmt.Sprintf(trigger, "MANY", ""))
	long := strings.Repeat("x", 3<<20)
	write(t, dir, "Name/function.json", fmt.Sprintf(trigger, long, ""))
	write(t, dir, "Other/function.json", fmt.Sprintf(trigger, long, ""))
	for i := range 12 {
		write(t, dir, fmt.Sprintf("Z%d/function.json", i), fmt.Sprintf(trigger, fmt.Sprint("z", i), "")+strings.Repeat(" ", 3<<20))
	}
	app, err := host.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, f := range app.Diagnostics {
		said[filepath.Base(filepath.Dir(f.File))]++
		if len(f.Message) > 1100 {
			t.Errorf("a message of %d bytes", len(f.Message))
		}
	}
	if said["Many"] > 21 {
		t.Errorf("%v", said)
	}
	for _, f := range app.Functions {
		if wrong, known := map[string]bool{"Many": false, "Name": false, "Other": true, "Twin": true, "Z0": false, "Z9": true}[f.Name]; known && f.Wrong != wrong {
			t.Errorf("%s is wrong: %t", f.Name, f.Wrong)
		}
		if f.Name != "Many" {
			continue
		}
		if input := string(f.Tool.InputSchema()); strings.Count(input, `"twin"`) != 1 || !strings.Contains(input, `"twin":{"description":"29999"}`) {
			t.Errorf("of two arguments with one name: %.200s", input)
		}
	}
}
