package flowmcp_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestFilesByThemselves has each file of a catalog that keeps every rule find
// what it names, when only that file is checked.
func TestFilesByThemselves(t *testing.T) {
	dir := folderCase{}.put(t)
	for name := range keptCatalog() {
		if filepath.Ext(name) == ".md" || name == "selections/skills/slowly.mjs" {
			continue // no schema file, and one with findings of its own
		}
		for _, strict := range []bool{true, false} {
			for _, f := range checkOne(t, filepath.Join(dir, filepath.FromSlash(name)), strict) {
				if f.Code != "VAL081" { // the hash is derived
					t.Errorf("%s, strict %v: %s", name, strict, f)
				}
			}
		}
	}
}

// TestMissingByThemselves has what one file names and what is not in the
// others, when only that file is checked: the same is found as in the folder.
func TestMissingByThemselves(t *testing.T) {
	codes := []string{"SKL005", "SKL006", "SKL022", "PH002", "PRM006", "PRM007", "PRM008", "PRM009", "SEL003", "AGT022", "AGT030"}
	cases := slices.DeleteFunc(folderCases(), func(c folderCase) bool { return !slices.Contains(codes, c.code) })
	cases = append(cases,
		folderCase{"SKL023", skillFile, "'Use ", "'{{skill:choose}} Use ", flowmcp.Fatal, flowmcp.Warning},
		folderCase{"PRM009", promptFile, "{{tool:shop/find}}", "{{skill:none}}", flowmcp.Fatal, flowmcp.Warning},
		folderCase{"SKL022", "agents/reader/skills/aloud.mjs", "'Read aloud'", "'{{skill:none}}'", flowmcp.Fatal, flowmcp.Warning},
		folderCase{"PH002", "agents/reader/skills/aloud.mjs", "'Read aloud'", "'{{tool:find}}'", flowmcp.Fatal, flowmcp.Warning})
	for _, c := range cases {
		t.Run(c.code+" "+c.to[:min(len(c.to), 40)], func(t *testing.T) {
			dir := c.put(t)
			for strict, want := range map[bool]flowmcp.Severity{true: c.strict, false: c.compat} {
				findings := checkOne(t, filepath.Join(dir, filepath.FromSlash(c.file)), strict)
				if !slices.ContainsFunc(findings, func(f flowmcp.Finding) bool { return f.Code == c.code && f.Severity == want }) {
					t.Errorf("strict %v: want %s among %v", strict, want, findings)
				}
			}
		})
	}
}

// TestTextsOfChoices has what the texts name that a selection or an agent
// brings: a finding of the one that brings them.
func TestTextsOfChoices(t *testing.T) {
	c := folderCase{"PH002", "agents/reader/skills/aloud.mjs", "'Read aloud'", "'{{tool:shop/none}}'", flowmcp.Fatal, flowmcp.Warning}
	for strict, want := range map[bool]flowmcp.Severity{true: c.strict, false: c.compat} {
		findings := checkOne(t, filepath.Join(c.put(t), filepath.FromSlash(agentManifest)), strict)
		if !slices.ContainsFunc(findings, func(f flowmcp.Finding) bool {
			return f.Code == "PH002" && f.Severity == want && f.Path == "agent.skills.aloud" && f.Line == 5 && strings.Contains(f.Message, "aloud.mjs")
		}) {
			t.Errorf("strict %v: %v", strict, findings)
		}
	}
}

// TestOtherNamespaces has a skill that names a tool of another namespace: of a
// library, of one that has no such namespace, and where there is no library.
func TestOtherNamespaces(t *testing.T) {
	skill := strings.Replace(keptCatalog()[nextSkillFile], "'Wrap it'", "'Wrap it with {{tool:store/wrap}}', requires: { tools: [ 'store/wrap' ] }", 1)
	store := strings.Replace(file("wrap: { method: 'GET', path: '/a', description: 'x', parameters: [] }"), "'shop'", "'store'", 1)
	for _, c := range []struct {
		name, at, other, code string
		severity              flowmcp.Severity
	}{
		{"it is there", "providers/shop", "providers/store/Store.mjs", "", ""},
		{"it is not there", "providers/shop", "providers/other/Store.mjs", "PH002", flowmcp.Warning},
		{"no library", "shop", "store/Store.mjs", "CHK002", flowmcp.Info},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeAt(t, filepath.Join(dir, c.at, "Shop.mjs"), file(oneTool))
			writeAt(t, filepath.Join(dir, c.at, "skills", "wrap.mjs"), skill)
			writeAt(t, filepath.Join(dir, c.other), store)
			findings := checkOne(t, filepath.Join(dir, c.at, "skills", "wrap.mjs"), false)
			got := slices.ContainsFunc(findings, func(f flowmcp.Finding) bool { return f.Code == c.code && f.Severity == c.severity && f.Line == 1 })
			if c.code != "" && !got || c.code == "" && len(findings) > 0 {
				t.Errorf("want %s among %v", c.code, findings)
			}
		})
	}
}

// TestOutsideOfLibraries has a selection that stands alone: what it names may be
// anywhere.
func TestOutsideOfLibraries(t *testing.T) {
	findings := checkOne(t, write(t, "reading.mjs", keptCatalog()[choiceFile]), true)
	if len(findings) != 1 || findings[0].Code != "CHK002" || findings[0].Severity != flowmcp.Info || findings[0].Line != 1 {
		t.Errorf("%v", findings)
	}
}

// TestManyNames has texts that name more than anybody reads: the findings are
// bounded, and the time with them.
func TestManyNames(t *testing.T) {
	var names strings.Builder
	for i := range 1_500 {
		fmt.Fprintf(&names, "{{tool:t%d}}{{input:i%d}}", i, i)
	}
	skill := strings.Replace(keptCatalog()[nextSkillFile], "Wrap it", names.String(), 1)
	path := filepath.Join(t.TempDir(), "providers", "shop", "skills", "wrap.mjs")
	writeAt(t, path, skill)
	if n := len(checkOne(t, path, false)); n != 1001 {
		t.Errorf("%d findings", n)
	}
}

// TestListsOfOneName has two lists of a catalog that are ambiguous.
func TestListsOfOneName(t *testing.T) {
	dir := folderCase{}.put(t)
	writeAt(t, filepath.Join(dir, "_lists", "other-genres.mjs"), keptCatalog()[listFile])
	for strict, want := range map[bool]flowmcp.Severity{true: flowmcp.Fatal, false: flowmcp.Warning} {
		findings := checkOne(t, dir, strict)
		if !slices.ContainsFunc(findings, func(f flowmcp.Finding) bool { return f.Code == "LST002" && f.Severity == want }) {
			t.Errorf("strict %v: %v", strict, findings)
		}
	}
}

// TestFrozen has the ways in which handlers would change a shared list, and
// what only looks like one.
func TestFrozen(t *testing.T) {
	for js, want := range map[string]bool{
		"sharedLists.books.push({})":                                   true,
		"sharedLists['books'][0].title = 'x'":                          true,
		"sharedLists.books[0].n += 1":                                  true,
		"sharedLists.books[0].n++":                                     true,
		"delete sharedLists.books":                                     true,
		"const b = sharedLists.books; b.sort()":                        true,
		"const { books } = sharedLists; books.reverse()":               true,
		"const one = sharedLists.books.find((b) => b.n); one.n = 2":    true,
		"Object.assign(sharedLists.books[0], {})":                      true,
		"const b = [ ...sharedLists.books ]; b.sort()":                 false,
		"sharedLists.books.filter((b) => b.n).sort()":                  false,
		"let b = sharedLists.books; b = []":                            false,
		"const all = {}; all.books = sharedLists.books":                false,
		"const n = sharedLists.books.map((b) => ({ ...b })); n[0].n=2": false,
		"payload.sharedLists = 1":                                      false,
	} {
		text := file(oneTool) + "\nexport const handlers = ({ sharedLists }) => ({ a: { preRequest: async ({ struct, payload }) => {\n" + js + "\nreturn { struct, payload } } } })"
		report := check(t, text, flowmcp.Options{})
		got := slices.ContainsFunc(report.Findings, func(f flowmcp.Finding) bool {
			return f.Code == "SEC102" && f.Severity == flowmcp.Warning && f.Line == 4
		})
		if got != want {
			t.Errorf("%s: %v, want %v among %v", js, got, want, report.Findings)
		}
	}
}

func checkOne(t *testing.T, spec string, strict bool) []flowmcp.Finding {
	t.Helper()
	reports, err := flowmcp.Check(t.Context(), spec, flowmcp.Options{Strict: strict, ImplicitParameters: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []flowmcp.Finding
	for _, r := range reports {
		all = append(all, r.Findings...)
	}
	return all
}
