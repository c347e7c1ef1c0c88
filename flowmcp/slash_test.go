package flowmcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestSlashesInInserts has files that show that a value is a part of a path, and
// files that do not. No value leaves its place by dots, or the host.
func TestSlashesInInserts(t *testing.T) {
	for _, tt := range []struct{ name, z, tests, value, want string }{
		{"nothing shows it", `primitive: 'string()'`, ``, "a/b", "/v1/a%2Fb/z"},
		{"a case", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "a/b", "/v1/a/b/z"},
		{"a case of another argument", `primitive: 'string()'`, `{ _description: 'x/y', x: 'c', other: 'c/d' }`, "a/b", "/v1/a%2Fb/z"},
		{"a pattern", `primitive: 'string()', options: [ 'regex(^[a-z]+/[a-z]+$)' ]`, ``, "a/b", "/v1/a/b/z"},
		{"a class", `primitive: 'string()', options: [ 'regex(^[a-z/]+$)' ]`, ``, "a/b", "/v1/a/b/z"},
		{"a pattern without", `primitive: 'string()', options: [ 'regex(^[^?]+$)' ]`, ``, "a/b", "/v1/a%2Fb/z"},
		{"a pattern against", `primitive: 'string()', options: [ 'regex(^[^/]+$)' ]`, ``, "a/b", "/v1/a%2Fb/z"},
		{"a pattern between slashes", `primitive: 'string()', options: [ 'regex(/^[a-z]+$/)' ]`, ``, "a/b", "/v1/a%2Fb/z"},
		{"an enum", `primitive: 'enum(a/b,c)'`, ``, "a/b", "/v1/a/b/z"},
		{"a default", `primitive: 'string()', options: [ 'optional()', 'default(c/d)' ]`, ``, "a/b", "/v1/a/b/z"},
		{"what else is escaped", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "a/b?c#d\\e%2f", "/v1/a/b%3Fc%23d%5Ce%252f/z"},
		{"a host", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "//evil.example/a", "/v1///evil.example/a/z"},
		{"up", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "a/../../admin", ""},
		{"up at the end", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "a/..", ""},
		{"up with a parameter", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "a/..;v=1/b", ""},
		{"here", `primitive: 'string()'`, `{ _description: 'x', x: 'c/d' }`, "./a", ""},
	} {
		for _, handlers := range []string{"", "\nexport const handlers = () => ({ a: { preRequest: async ({ struct, payload }) => ({ struct, payload }) } })"} {
			out := &seen{}
			tool := load(t, file(`a: { method: 'GET', path: '/v1/:x/z', description: 'x', parameters: [ { position: { key: 'x', value: '{{USER_PARAM}}', location: 'insert' }, z: { `+tt.z+` } } ], tests: [ `+tt.tests+` ] }`)+handlers,
				flowmcp.Options{Client: &http.Client{Transport: out}})
			_, err := tool.Handler(t.Context(), &tenon.Call{Args: fmt.Appendf(nil, `{"x":%q}`, tt.value)})
			sent := ""
			if len(out.all) == 1 {
				sent, _, _ = strings.Cut(out.all[0], "\n")
				sent = strings.TrimPrefix(sent, "https://shop.example")
			}
			if sent != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("%s: %q was sent, want %q (%v)", tt.name, sent, tt.want, err)
			}
		}
	}
}
