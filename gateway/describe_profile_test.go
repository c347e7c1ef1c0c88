package gateway_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/search"
)

// TestDescribedForAProfile: arguments are described as the client sends them and are
// taken so, and data is what the contract says.
func TestDescribedForAProfile(t *testing.T) {
	input := `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"},"filter[x]":{"type":"string"},"free":{"type":"object"},` +
		`"by":{"$ref":"#/$defs/Person"}},"required":["id"],"$defs":{"Person":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	const data = "): Promise<{ id?: number | null; tags?: string[]; }>;"
	for _, tt := range []struct {
		name, args, sent string
		profile          *gateway.Profile
	}{
		{
			"every client", "id: number; note?: string; \"filter[x]\"?: string; free?: Record<string, unknown>; by?: Person;",
			`{"id":1,"by":{"name":"Emma"}}`, &gateway.Profile{Name: "plain", Returns: true},
		},
		{
			"names", "id: number; note?: string; filter_x?: string; free?: Record<string, unknown>; by?: Person;",
			`{"id":1,"filter_x":"y","by":{"name":"Emma"}}`, &gateway.Profile{Name: "names", PropertyNames: regexp.MustCompile(`^[a-z_]+$`)},
		},
		{
			"strict", "id: number; note: string | null; filter_x: string | null; free: string | null; by: { name: string | null; } | null;",
			`{"id":1,"note":null,"filter_x":null,"free":"{\"a\":1}","by":{"name":null}}`,
			&gateway.Profile{Name: "strict", PropertyNames: regexp.MustCompile(`^[a-z_]+$`), Input: gateway.SchemaRules{Inline: true, Closed: true, AllRequired: true, NoOneOf: true}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := search.Wrap(gateway.Build(
				[]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{echo("echo", input)}}}}, gateway.BuildOptions{Describe: gateway.ToggleOn},
			).Adapted(tt.profile))
			var said string
			if err := json.Unmarshal(called(t, c, "describe_tool", `{"tool":"echo"}`).Value, &said); err != nil {
				t.Fatal(err)
			}
			_, said, _ = strings.Cut(said, "echo(args: {")
			args, said, _ := strings.Cut(said, "\n}")
			args = strings.Join(strings.Fields(regexp.MustCompile(`//.*`).ReplaceAllString(args, "")), " ")
			if diff := cmp.Diff(tt.args, args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if got, _, _ := strings.Cut(said, "\n"); got != data {
				t.Errorf("data: got %s, want %s", got, data)
			}
			if res := called(t, c, "call_tool", `{"tool":"echo","arguments":`+tt.sent+`}`); res.IsError {
				t.Errorf("%s is refused: %s", tt.sent, res.Message)
			}
		})
	}
}
