package openapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

const chosenFrom = `{"openapi":"3.0.0","servers":[{"url":"https://example.com"}],"paths":{
	"/repos":{"get":{"operationId":"repos_list","tags":["Repos"]},"post":{"operationId":"repos_create","tags":["Repos"]}},
	"/repos/{id}":{"get":{"operationId":"repos_get"},"delete":{"operationId":"repos_delete"}},
	"/repos/{id}/search":{"post":{"operationId":"search","x-mcp-safe":true}},
	"/carts":{"get":{"operationId":"carts/get","tags":["carts"]}},
	"/users":{"get":{"operationId":"users_list","tags":["users","Repos"]}}}}`

func TestChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.txt")
	if err := os.WriteFile(file, []byte("# two of them\nusers_*\n\nGET /repos/{id}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	only := func(rules ...string) openapi.Selection { return openapi.Selection{Include: rules} }
	for name, c := range map[string]struct {
		choice openapi.Selection
		want   string
	}{
		"everything":           {openapi.Selection{}, "repos_list repos_create repos_get repos_delete search carts_get users_list"},
		"a tag":                {only("tag:repos"), "repos_list repos_create users_list"},
		"a method":             {only("method:delete"), "repos_delete"},
		"a segment":            {only("path:/repos/*"), "repos_get repos_delete"},
		"any number of them":   {only("path:/repos**"), "repos_list repos_create repos_get repos_delete search"},
		"an operationId":       {only("id:*_list"), "repos_list users_list"},
		"without a word":       {only("search"), "search"},
		"a tool's name":        {only("id:carts_*"), "carts_get"},
		"method and path":      {only("GET /repos/{id}"), "repos_get"},
		"a regular expression": {only(`/^(GET|DELETE) .*repos_[gd]/`), "repos_get repos_delete"},
		"several rules":        {only("search", "method:DELETE"), "repos_delete search"},
		"a file":               {only("@" + file), "repos_get users_list"},
		"exceptions":           {openapi.Selection{Include: []string{"tag:repos"}, Exclude: []string{"users_*"}}, "repos_list repos_create"},
		"what changes nothing": {openapi.Selection{ReadOnly: true}, "repos_list repos_get search carts_get users_list"},
	} {
		offer := load(t, chosenFrom, openapi.Options{Selection: c.choice, TrustMarks: true})
		var names []string
		for _, tool := range offer.Tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff(c.want, strings.Join(names, " ")); diff != "" || len(offer.Diagnostics) > 0 {
			t.Errorf("%s: diagnostics %v, %s", name, offer.Diagnostics, diff)
		}
	}
}

func TestRulesThatMatchNothingAreTold(t *testing.T) {
	offer := load(t, chosenFrom, openapi.Options{TrustMarks: true, Selection: openapi.Selection{Include: []string{"search", "tag:none"}, Exclude: []string{"id:nobody"}}})
	if len(offer.Diagnostics) != 2 || !strings.Contains(offer.Diagnostics[0].Message, `"tag:none" matches no`) || !strings.Contains(offer.Diagnostics[1].Message, `"id:nobody" matches no`) {
		t.Errorf("diagnostics %v", offer.Diagnostics)
	}
}

func TestTheLineOfARuleInAFileIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.txt")
	for text, want := range map[string]string{
		"# books\n\ntag:books\n  path:\n":      file + `:4: selector "path:": the pattern is empty`,
		"/a[/":                                 file + `:1: selector "/a[/": not a regular expression (RE2): missing closing ] in [`,
		"a\n" + strings.Repeat("long", 20_000): "read selectors of " + file + ": a line has more than 65536 bytes",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openapi.Parse("doc.json", []byte(chosenFrom), openapi.Options{Selection: openapi.Selection{Exclude: []string{"@" + file}}})
		if tenon.CodeOf(err) != tenon.CodeUsage || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if err := openapi.ParseSelector("@" + file); err != nil {
			t.Errorf("the file was opened: %v", err)
		}
	}
}

func TestRulesThatAreNone(t *testing.T) {
	for _, rule := range []string{"", "path:", "/(/", "@" + filepath.Join(t.TempDir(), "none")} {
		_, err := openapi.Parse("doc.json", []byte(chosenFrom), openapi.Options{Selection: openapi.Selection{Include: []string{rule}}})
		if tenon.CodeOf(err) != tenon.CodeUsage {
			t.Errorf("%q: error %v, want one of usage", rule, err)
		}
	}
}
