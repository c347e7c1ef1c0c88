package library_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

// TestDocs has every column of both tables, and what could break them.
func TestDocs(t *testing.T) {
	text := strings.Replace(file(`find: { method: 'GET', path: '/find/{{id}}', description: 'Finds\na | b', parameters: [
		{ position: { key: 'id', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'min(2)', 'max(9)' ] }, description: 'Which | one' },
		{ position: { key: 'sort', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum(up,down)', options: [ 'default(up)' ] } },
		{ position: { key: 'fixed', value: 'secret', location: 'query' }, z: { primitive: 'string()', options: [] } } ],
		output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object', properties: {
			when: { type: 'string', format: 'date-time', nullable: true, description: 'Its day' }, kind: { type: 'string', enum: [ 'a|b', 'c' ] } } } } },
		tests: [ { _description: 'It\'s one', id: "o'ne" } ] }, none: { method: 'GET', path: '/', description: 'x', parameters: [] }`),
		"docs:", "tags: [ 'books', 'sea' ], termsOfService: 'https://shop.example/terms', dataLicenseName: 'CC0', requiredServerParams: [ 'SHOP_KEY' ], docs:", 1)
	var got bytes.Buffer
	if err := library.Docs(t.Context(), &got, write(t, "Test.mjs", text), library.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Test\n\nx\n",
		"| Terms of service | https://shop.example/terms |\n| Licence of the data | CC0 |\n| Tags | books, sea |\n| Needs in the environment | SHOP_KEY |\n",
		"## find\n\nFinds a \\| b\n\n`shop/Test::find` · for clients `find_shop` · `GET /find/{{id}}`\n",
		"| `id` | string | yes |  | `2 to 9 characters` | Which \\| one | `\"o'ne\"` |\n",
		"| `sort` | enum |  | `\"up\"` | `up, down` |  |  |\n",
		"| `data` | array |  |  |  |  |  |\n| `data[]` | object |  |  |  |  |  |\n",
		"| `data[].when` | string | yes |  | date-time | Its day | `\"2026-01-31T12:00:00Z\"` |\n",
		"| `data[].kind` | string |  | `\"a\\|b\", \"c\"` |  |  | `\"a\\|b\"` |\n",
		"It's one:\n\n    tenon call Test.mjs shop/Test::find '{\"id\":\"o'\\''ne\"}'\n",
		"### Parameters\n\nNone.\n\n### Response\n\nThe data is not described.\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is not in\n%s", want, got.String())
		}
	}
	if strings.Contains(got.String(), "`fixed`") {
		t.Error("a fixed value is reported")
	}
	if err := library.Docs(t.Context(), &got, "nothere.mjs", library.Options{}); err == nil {
		t.Error("a file that is not there has docs")
	}
}
