package tenon_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

func offering(names ...string) tenon.Offer {
	var o tenon.Offer
	for _, name := range names {
		o.Tools = append(o.Tools, tenon.Tool{Name: name, Handler: func(context.Context, *tenon.Call) (tenon.Reply, error) { return tenon.Reply{}, nil }})
	}
	return o
}

// TestNamings builds the same tools under both namings: names are legal and
// unique, and each tool is found by the name of its description where that means
// one tool alone.
func TestNamings(t *testing.T) {
	long := strings.Repeat("a.b-", 31) // 124
	offers := []tenon.Named{
		{Name: "shop", Offer: offering("shop.addBook", "shop_addBook", long, long+"more of it", "größe", "same.name")},
		{Name: "other", Offer: offering("same.name", "look")},
	}
	for naming, legal := range map[tenon.Naming]string{"": `^[a-zA-Z0-9_-]{1,64}$`, tenon.NamesModels: `^[a-zA-Z0-9_-]{1,64}$`, tenon.NamesMCP: `^[a-zA-Z0-9_.-]{1,128}$`} {
		c := tenon.Build(offers, tenon.BuildOptions{Names: naming})
		seen := map[string]bool{}
		for _, e := range c.Tools() {
			if !regexp.MustCompile(legal).MatchString(e.Name()) || seen[e.Name()] {
				t.Errorf("%q: the name %q", naming, e.Name())
			}
			seen[e.Name()] = true
			if c.Named(e.Name()) != e {
				t.Errorf("%q: %s is not found by its own name", naming, e.Name())
			}
		}
		for original, want := range map[string]string{"größe": "gr____e", "look": "look", "shop.addBook": "shop_addBook", "same.name": "", "nothing": ""} {
			if naming == tenon.NamesMCP && original == "shop.addBook" {
				want = original
			}
			got := ""
			if e := c.Named(original); e != nil {
				got = e.Tool().Original
			}
			if (got == original) != (want != "") {
				t.Errorf("%q: %s means %q", naming, original, got)
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
