package format_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// TestHosts has the ways in which files write where they talk to.
func TestHosts(t *testing.T) {
	for text, want := range map[string][]string{
		`export const main = { root: 'https://API.shop.example/v1', tools: { a: {} } }`: {"api.shop.example"},
		"fetch( `https://${ sub }.shop.example/${ x }` )":                               {"*.shop.example"},
		`'https://--net-work--.shop.example/v3/{{KEY}}'`:                                {"*.shop.example"},
		`"https://{{KEY}}.eu.shop.example" + "http://b.example:8080?x"`:                 {"*.eu.shop.example", "b.example"},
		`'https://:zone.shop.example'`:                                                  {"*.shop.example"},
		"`https://${ host }/x`":                                                         nil,
		"`https://${ host }.example/x`":                                                 nil,
		`'https://user@shop.example/'`:                                                  {"shop.example"},
		`'https://192.168.0.1/' 'https://localhost/'`:                                   {"192.168.0.1"},
	} {
		if diff := cmp.Diff(want, format.HostsIn(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
