package gateway_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

func offering(names ...string) tenon.Features {
	var o tenon.Features
	for _, name := range names {
		o.Tools = append(o.Tools, tenon.Tool{Name: name, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, nil }})
	}
	return o
}

// TestNamings builds the same tools under both namings: names are legal and
// unique, and each tool knows the name of its description.
func TestNamings(t *testing.T) {
	long := strings.Repeat("a.b-", 31) // 124
	offers := []gateway.Mount{
		{Name: "shop", Features: offering("shop.addBook", "shop_addBook", long, long+"more of it", "größe", "same.name")},
		{Name: "other", Features: offering("same.name", "look")},
	}
	for naming, legal := range map[tenon.Naming]string{"": `^[a-zA-Z0-9_-]{1,64}$`, tenon.NamesModels: `^[a-zA-Z0-9_-]{1,64}$`, tenon.NamesMCP: `^[a-zA-Z0-9_.-]{1,128}$`} {
		c := gateway.Build(offers, gateway.BuildOptions{Names: naming})
		seen := map[string]bool{}
		for _, e := range c.Tools() {
			if !regexp.MustCompile(legal).MatchString(e.Name()) || seen[e.Name()] {
				t.Errorf("%q: the name %q", naming, e.Name())
			}
			seen[e.Name()] = true
			if e.Tool().Original == "" {
				t.Errorf("%q: %s has lost the name of its description", naming, e.Name())
			}
		}
		if naming == tenon.NamesMCP && (!seen["shop.addBook"] || !seen["shop_addBook"] || !seen[long] || !seen["shop_same.name"]) {
			t.Errorf("names: %v", seen)
		}
		if naming != tenon.NamesMCP && (!seen["shop_addBook"] || !seen["shop_addBook_2"]) {
			t.Errorf("names: %v", seen)
		}
	}
	if _, err := tenon.ParseNaming("dots"); err == nil {
		t.Error("dots is no naming")
	}
}
