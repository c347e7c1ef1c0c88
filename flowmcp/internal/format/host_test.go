package format_test

import (
	"net/url"
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

func TestPatternsOfHosts(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"shop.example", "shop.example", true},
		{"shop.example", "SHOP.example", true},
		{"shop.example", "a.shop.example", false},
		{"shop.example", "shop.example.evil.example", false},
		{"*.shop.example", "a.shop.example", true},
		{"*.shop.example", "a.b.shop.example", false},
		{"*.shop.example", ".shop.example", false},
		{"*.shop.example", "shop.example", false},
		{"n-*.shop.example", "n-1.shop.example", true},
		{"n-*.shop.example", "m-1.shop.example", false},
	} {
		if got := format.MatchesHost(tt.pattern, tt.host); got != tt.want {
			t.Errorf("%s matches %s: %t", tt.pattern, tt.host, got)
		}
	}
}

// TestTheOriginOfRoot: a server parameter may be sent there and nowhere else.
func TestTheOriginOfRoot(t *testing.T) {
	for _, tt := range []struct {
		root, base, address string
		want                bool
	}{
		{"https://shop.example", "", "https://shop.example/a", true},
		{"https://shop.example", "", "https://shop.example:443/a", true},
		{"https://shop.example", "", "https://shop.example:8443/a", false},
		{"https://shop.example:8443", "", "https://shop.example:8443/a", true},
		{"https://shop.example:8443", "", "https://shop.example/a", false},
		{"https://shop.example", "", "http://shop.example/a", false},
		{"https://shop.example", "", "https://a.shop.example/", false},
		{"https://{{SERVER_PARAM:KEY}}.shop.example", "", "https://zk1x.shop.example/", true},
		{"https://a.shop.example", "", "https://zk1x.shop.example/", false},
		{"https://shop.example", "https://mine.example", "https://shop.example/", false},
		{"https://shop.example", "https://mine.example", "https://mine.example/", true},
	} {
		text := `export const main = { namespace: 'shop', name: 'Test', description: 'x', version: '4.0.0', requiredServerParams: [ 'KEY' ], root: '` + tt.root + `', tools: {} }`
		f := format.ReadSchema("Test.mjs", []byte(text), format.Rules{Lists: format.NewListFolder("", false)})
		u, err := url.Parse(tt.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.IsRootOrigin(u, tt.base, "zk"); got != tt.want {
			t.Errorf("%s is the origin of %s (%s): %t", tt.address, tt.root, tt.base, got)
		}
	}
}
