package flowmcp_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/flowmcp"
)

func TestSelectionsChoose(t *testing.T) {
	const head = `export const selection = { namespace: 'guided', name: 'reading', version: 'flowmcp/4.0.0', description: 'Reading', whenToUse: 'to read', `
	for name, tt := range map[string]struct{ body, tools, prompts, err string }{
		"a tool":              {`tools: [ 'guided/tool/findBooks' ] }`, "find_books_guided", "", ""},
		"a name without kind": {`tools: [ 'guided/buyBook' ] }`, "buy_book_guided", "", ""},
		"a prompt":            {`prompts: [ 'guided/prompt/about' ] }`, "", "guided/prompt/about", ""},
		"skills":              {`skills: [ 'guided/skill/choose-book' ], tools: [ 'guided/tool/buyBook' ] }`, "buy_book_guided", "guided/skill/choose-book", ""},
		"a skill of its own":  {`skills: { 'read-aloud': { file: './skills/read-aloud.mjs' } } }`, "", "reading/skill/read-aloud", ""},
		"what is not there":   {`tools: [ 'guided/tool/sellBooks' ] }`, "", "", "names guided/tool/sellBooks"},
		"nothing":             {`tools: [] }`, "", "", "SEL002"},
		"a way out":           {`skills: { a: { file: '../a.mjs' } } }`, "", "", "SKL017"},
		"code":                {`tools: [ process.env.X ] }`, "", "", "SEC"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAt(t, filepath.Join(dir, "reading.mjs"), head+tt.body)
			writeAt(t, filepath.Join(dir, "skills", "read-aloud.mjs"), `export const skill = { name: 'read-aloud', version: 'flowmcp/4.0.0', description: 'Reads', content: 'Read {{tool:guided/findBooks:call}}' }`)
			o := flowmcp.Options{Selection: filepath.Join(dir, "reading.mjs")}
			features, err := flowmcp.New(filepath.Join("testdata", "guided"), o).Load(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var tools, prompts []string
			for _, x := range features.Tools {
				tools = append(tools, x.Name)
			}
			for _, x := range features.Prompts {
				prompts = append(prompts, x.Name)
			}
			if diff := cmp.Diff([]string{tt.tools, tt.prompts}, []string{strings.Join(tools, " "), strings.Join(prompts, " ")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAgentsChoose serves what an agent's manifest names, with its texts.
func TestAgentsChoose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents", "reader")
	writeAt(t, filepath.Join(dir, "agent.mjs"), `export const agent = { name: 'reader', description: 'Reads', version: 'flowmcp/4.0.0', model: 'acme/large',
		systemPrompt: 'You read {{input:x}}.', tools: { 'guided/tool/findBooks': null, own: { method: 'GET', path: '/x', description: 'x' } },
		prompts: { 'guided/prompt/about': null, guide: { file: './prompts/guide.mjs' } }, skills: { 'read-aloud': { file: './skills/read-aloud.mjs' } },
		selections: [ 'guided/selection/buying' ], tests: [] }`)
	writeAt(t, filepath.Join(dir, "prompts", "guide.mjs"), "export const content = 'Begin with {{tool:guided/findBooks:description}}'")
	writeAt(t, filepath.Join(dir, "skills", "read-aloud.mjs"), `export const skill = { name: 'read-aloud', version: 'flowmcp/4.0.0', description: 'Reads', content: 'Read' }`)
	writeAt(t, filepath.Join(dir, "..", "..", "selections", "buying.mjs"),
		`export const selection = { namespace: 'guided', name: 'buying', version: 'flowmcp/4.0.0', description: 'x', whenToUse: 'x', tools: [ 'guided/tool/buyBook' ] }`)
	source := flowmcp.New(filepath.Join("testdata", "guided"), flowmcp.Options{Selection: filepath.Join(dir, "agent.mjs")})
	features, err := source.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range features.Tools {
		names = append(names, x.Name)
	}
	for _, x := range features.Prompts {
		names = append(names, x.Name)
	}
	slices.Sort(names)
	want := []string{"buy_book_guided", "find_books_guided", "guided/prompt/about", "reader/prompt/guide", "reader/prompt/system", "reader/skill/read-aloud"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"reader/prompt/system": "You read {{input:x}}.", "reader/prompt/guide": "Begin with Finds books of a genre"} {
		if got, err := get(t, features.Prompts, name, nil); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
