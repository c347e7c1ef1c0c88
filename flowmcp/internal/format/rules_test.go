package format_test

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// ruled is a file without findings, with marks for the changes of a case.
//
//go:embed testdata/Ruled.mjs
var ruled string

// TestKeepsEveryRule has no finding in strict mode but the hash, which is
// derived.
func TestKeepsEveryRule(t *testing.T) {
	report := check(t, ruled, format.Options{Strict: true})
	for _, f := range report.Findings {
		if f.Code != "VAL081" {
			t.Errorf("%s", f)
		}
	}
	hashed := strings.Replace(ruled, "root:", "schemaHash: '"+report.Hash+"',\n  root:", 1)
	if report := check(t, hashed, format.Options{Strict: true}); len(report.Findings) > 0 || !report.Loads {
		t.Errorf("with its hash: %v", report.Findings)
	}
}

// ruleCase is one change of the file without findings, and the findings in
// either mode.
type ruleCase struct {
	from, to, code string
	strict, compat format.Severity
}

func ruleCases() []ruleCase {
	const e, w, i = format.Fatal, format.Warning, format.Info
	return []ruleCase{
		{"namespace: 'shop',", "", "VAL010", e, e},
		{"'shop'", "'Shop'", "VAL011", e, e},
		{"name: 'Test'", "name: 5", "VAL012", e, e},
		{"'A shop'", "''", "VAL013", e, e},
		{"'4.1.0'", "'3.2.1'", "VAL014", w, w},
		{"'4.1.0'", "'5.0.0'", "VAL014", e, e},
		{"'Test'", "'test case'", "NAM001", e, i},
		{"schemaVersion: '1.0.0',", "", "VAL080", e, i},
		{"'1.0.0'", "'one'", "VAL080", e, w},
		{"schemaVersion", "schemaHash: '00000000', schemaVersion", "VAL081", e, w},
		{"schemaVersion", "schemaHash: 'x', schemaVersion", "VAL081", e, w},
		{"root: 'https://shop.example',", "", "VAL015", e, e},
		{"'https://shop.example'", "'http://shop.example'", "VAL082", e, e},
		{"'https://shop.example'", "'https://shop.example/'", "VAL082", e, w},
		{"'https://shop.example'", "''", "VAL015", e, w},
		{"'https://shop.example'", "'https://{{id}}.shop.example'", "SEC106", w, w},
		{"tags:", "routes: {}, tags:", "VAL017", e, e},
		{"tools:", "routes:", "VAL018", w, w},
		{"tags:", "skills: {}, tags:", "VAL016", e, w},
		{"tags:", "color: 1, tags:", "VAL003", w, w},
		{"[ 'books' ]", "'books'", "VAL021", e, w},
		{"[ 'books' ]", "[ 'cacheTtlDaily' ]", "NAM003", e, i},
		{"[ 'https://shop.example/docs' ]", "[]", "VAL027", i, i},
		{"'https://shop.example/terms'", "'x'", "VAL028", i, i},
		{"[ 'KEY' ]", "'KEY'", "VAL022", e, e},
		{"'application/json' }", "5 }", "VAL023", e, e},
		{"sharedLists: []", "sharedLists: {}", "VAL024", e, e},
		{"[ 'ethers' ]", "5", "VAL025", e, e},
		{"'ethers'", "'left-pad'", "SEC020", e, e},
		{"sharedLists: []", "sharedLists: [ { version: '1.0.0' } ]", "VAL070", e, e},
		{"sharedLists: []", "sharedLists: [ { ref: 'a', version: '1.0.0' } ]", "VAL075", w, w},
		{"sharedLists: []", "sharedLists: [ { ref: 'a', version: '1' } ]", "VAL071", e, w},
		{"sharedLists: []", "sharedLists: [ { ref: 'a', version: '1.0.0' } ]", "VAL072", e, w},
		{"sharedLists: []", "sharedLists: [ { ref: 'a', version: '1.0.0', filter: {} } ]", "VAL074", e, e},
		{"tools:", "resources: { a: {}, b: {}, c: {} }, tools:", "RES005", e, w},
		{"    find: {", "    'a b': {", "VAL030", e, w},
		{"'GET'", "'PATCH'", "VAL032", e, e},
		{"'/books/{{id}}'", "7", "VAL033", e, e},
		{"'/books/{{id}}'", "'books/{{id}}'", "VAL033", e, w},
		{"'Finds a book'", "''", "VAL034", e, e},
		{"path:", "async: true, path:", "VAL037", i, i},
		{"path:", "colour: 1, path:", "VAL076", w, w},
		{"/{{id}}", "/{{id}}/{{other}}", "VAL084", e, e},
		{"/{{id}}", "/:id", "VAL089", e, i},
		{"/{{id}}", "", "VAL050", e, w},
		{"location: 'query'", "location: 'body'", "VAL083", e, w},
		{"location: 'query'", "location: 'header'", "VAL043", e, e},
		{"z: { primitive: 'string()', options: [ 'min(1)' ] }", "y: 1", "VAL040", e, e},
		{"key: 'key'", "key: ''", "VAL041", e, e},
		{"key: 'key'", "key: 'API_KEY'", "NAM004", e, i},
		{"'{{SERVER_PARAM:KEY}}'", "5", "VAL042", e, e},
		{"SERVER_PARAM:KEY", "SERVER_PARAM:OTHER", "VAL085", e, e},
		{"SERVER_PARAM:KEY", "KEY", "VAL086", e, i},
		{"SERVER_PARAM:KEY", "OTHER", "VAL087", e, w},
		{"'application/json' }", "'{{SERVER_PARAM:OTHER}}' }", "VAL085", e, e},
		{"'application/json' }", "'{{OTHER}}' }", "VAL087", e, w},
		{"'application/json' }", "'{{KEY}}' }", "VAL086", e, i},
		{"'{{SERVER_PARAM:KEY}}', location: 'query' }, z: { primitive: 'string()'", "'x', location: 'query' }, z: { primitive: 'number()'", "VAL088", e, w},
		{"options: [ 'min(1)' ] }", "options: [ 'min(1)' ] }, description: 'x'", "VAL077", e, i},
		{"options: [ 'min(1)' ] }", "options: [ 'min(1)' ] }, other: 'x'", "VAL077", w, w},
		{"'string()', options: [ 'min(1)' ]", "'text()', options: [ 'min(1)' ]", "VAL044", e, w},
		{"'string()', options: [ 'min(1)' ]", "5, options: [ 'min(1)' ]", "VAL044", e, e},
		{"'min(1)'", "'min(x)'", "VAL045", e, w},
		{"'min(1)'", "'int()'", "VAL045", e, w},
		{"[ 'min(1)' ]", "'min(1)'", "VAL045", e, w},
		{"'string()', options: [ 'min(1)' ]", "'enum()', options: []", "VAL046", e, w},
		{"'string()', options: [ 'min(1)' ]", "'string({{a:b}})', options: []", "VAL047", e, w},
		{"'string()', options: [ 'min(1)' ]", "'enum({{a:b}})', options: []", "VAL048", e, w},
		{"'min(1)'", "'regex(^x)'", "VAL090", e, i},
		{"output: { mimeType: 'application/json', schema: { type: 'object', properties: { a: { type: 'string' } } } },", "", "VAL036", w, i},
		{"mimeType: 'application/json'", "mimeType: 'text/html'", "VAL060", e, w},
		{"schema: { type: 'object', properties: { a: { type: 'string' } } }", "schema: 5", "VAL061", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'integer' } }", "VAL061", e, w},
		{"{ a: { type: 'string' } }", "{ a: {} }", "VAL061", e, w},
		{"'application/json', schema", "'text/plain', schema", "VAL062", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', properties: {} } }", "VAL064", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', items: { type: 'string' } } }", "VAL065", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', pattern: 'x' } }", "OUT001", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', title: 'x' } }", "OUT003", w, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'object', properties: { b: { type: 'object', properties: { c: { type: 'object', properties: { d: { type: 'object' } } } } } } } }", "VAL063", w, w},
		{"{ enabled: true, ttl: 60, description: 'one answer for each id' }", "5", "PRL001", e, w},
		{"enabled: true", "enabled: 1", "PRL002", e, w},
		{"ttl: 60", "ttl: 0.5", "PRL003", e, w},
		{"meta: { isReadOnly: true", "meta: { isReadOnly: 1", "VAL101", e, w},
		{"searchHint: 'books'", "searchHint: ''", "VAL104", e, w},
		{"aliases: []", "aliases: [ 1 ]", "VAL105", e, w},
		{"docs: [ 'https://shop.example/docs' ]", "docs: 'https://shop.example/docs'", "VAL020", e, w},
		{"tags:", "resources: [], tags:", "RES001", e, e},
		{"tags:", "resources: { 'A b': {} }, tags:", "RES017", e, i},
		{"parameters: [", "parameters: 5, other: [", "VAL035", e, e},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', nullable: 1 } }", "OUT002", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', enum: [] } }", "OUT002", e, w},
		{"{ a: { type: 'string' } }", "{ a: { type: 'string', format: 'ipv4' } }", "OUT002", w, w},
		{"'one answer for each id'", "5", "PRL004", w, w},
		{"'{{USER_PARAM}}'", "'x'", "PRL005", i, i},
		{"ttl: 60, description: 'one answer for each id'", "ttl: 60", "PRL006", w, i},
		{"meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'books', aliases: [], alwaysLoad: false }", "", "VAL100", e, i},
		{"meta: {", "meta: 5, others: {", "VAL100", e, w},
		{"isConcurrencySafe: true", "isConcurrencySafe: 1", "VAL102", e, w},
		{"isDestructive: false", "isDestructive: 'no'", "VAL103", e, w},
		{"alwaysLoad: false", "alwaysLoad: null", "VAL106", e, w},
		{"tools: {", "tools: {}, others: {", "VAL016", e, e},
		{"tests: [ { _description: 'one', id: '1' }, { _description: 'two', id: '2' }, { _description: 'three', id: '3' } ],", "tests: [],", "TST001", e, w},
		{", { _description: 'three', id: '3' }", "", "TST001", i, i},
		{"_description: 'one', ", "", "TST002", w, w},
		{"{ _description: 'three', id: '3' }", "'three'", "TST005", e, w},
		{"_description: 'one', id: '1'", "_description: 'one'", "TST003", w, w},
		{"_description: 'one', id: '1'", "_description: 'one', id: ''", "TST004", w, w},
		{"_description: 'one', id: '1'", "_description: 'one', id: '1', key: 'x'", "TST006", w, w},
	}
}

// TestRules changes one thing in the file that keeps every rule: from, to, and
// what is found in either mode. The line is that of the change.
func TestRules(t *testing.T) {
	for _, c := range ruleCases() {
		if !strings.Contains(ruled, c.from) {
			t.Fatalf("%q is not in the file", c.from)
		}
		text := strings.Replace(ruled, c.from, c.to, 1)
		for strict, want := range map[bool]format.Severity{true: c.strict, false: c.compat} {
			report := check(t, text, format.Options{Strict: strict})
			if !slices.ContainsFunc(report.Findings, func(f format.Finding) bool { return f.Code == c.code && f.Severity == want && f.Line > 0 }) {
				t.Errorf("strict %v, %q for %q: want %s %s among %v", strict, c.to, c.from, want, c.code, report.Findings)
			}
		}
	}
}

// TestLines reports findings at their lines, not at the beginning of the file.
func TestLines(t *testing.T) {
	for from, want := range map[string]struct {
		to, code string
		line     int
	}{
		"'GET'":                   {"'PATCH'", "VAL032", 17},
		"SERVER_PARAM:KEY":        {"SERVER_PARAM:OTHER", "VAL085", 22},
		"{ a: { type: 'string' }": {"{ a: { type: 'string', oneOf: [] }", "OUT001", 24},
		"id: '2'":                 {"id: ''", "TST004", 26},
	} {
		report := check(t, strings.Replace(ruled, from, want.to, 1), format.Options{})
		if !slices.ContainsFunc(report.Findings, func(f format.Finding) bool { return f.Code == want.code && f.Line == want.line }) {
			t.Errorf("%s: want line %d among %v", want.code, want.line, report.Findings)
		}
	}
}

// TestFileNames covers rules on the file's path.
func TestFileNames(t *testing.T) {
	dir := filepath.Dir(write(t, "x", ""))
	place := filepath.Join(dir, "providers", "store", "my-file.mjs")
	writeAt(t, place, ruled)
	reports, err := format.Check(t.Context(), dir, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"NAM002", "VAL019"} {
		if !slices.ContainsFunc(reports[0].Findings, func(f format.Finding) bool { return f.Code == code }) {
			t.Errorf("%s is missing in %v", code, reports[0].Findings)
		}
	}
	if got := reports[0].Tools[0].ID; got != "shop/my-file::find" {
		t.Errorf("id %s", got)
	}
}

// TestTooMany covers the limits of a file, and values that are not objects.
func TestTooMany(t *testing.T) {
	var tools strings.Builder
	for i := range 9 {
		tools.WriteString(strings.Replace(oneTool, "a:", "a"+string(rune('a'+i))+":", 1) + ", ")
	}
	if report := check(t, file(tools.String()), format.Options{}); !has(report, "VAL031", format.Warning) {
		t.Errorf("%v", report.Findings)
	}
	for text, code := range map[string]string{
		"export const main = 5": "VAL002", "const main = {}": "VAL001", "": "VAL001",
		"export const main = { tools: [] }": "VAL016", "export const main = {}": "VAL016",
	} {
		report := check(t, text, format.Options{})
		if report.Loads || !slices.ContainsFunc(report.Findings, func(f format.Finding) bool { return f.Code == code }) {
			t.Errorf("%q: want %s among %v", text, code, report.Findings)
		}
	}
}
