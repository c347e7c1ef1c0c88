package flowmcp_test

import (
	"path/filepath"
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
		"a way out":           {`skills: { a: { file: '../a.mjs' } } }`, "", "", "SEL003"},
		"code":                {`tools: [ process.env.X ] }`, "", "", "SEC"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAt(t, filepath.Join(dir, "reading.mjs"), head+tt.body)
			writeAt(t, filepath.Join(dir, "skills", "read-aloud.mjs"), `export const skill = { name: 'read-aloud', version: 'flowmcp/4.0.0', description: 'Reads', content: 'Read {{tool:guided/findBooks:call}}' }`)
			o := flowmcp.Options{Selection: filepath.Join(dir, "reading.mjs")}
			offer, err := flowmcp.New(filepath.Join("testdata", "guided"), o).Load(t.Context())
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
			for _, x := range offer.Tools {
				tools = append(tools, x.Name)
			}
			for _, x := range offer.Prompts {
				prompts = append(prompts, x.Name)
			}
			if diff := cmp.Diff([]string{tt.tools, tt.prompts}, []string{strings.Join(tools, " "), strings.Join(prompts, " ")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
