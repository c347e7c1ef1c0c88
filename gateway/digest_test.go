package gateway_test

import (
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// Whatever clients see of a list changes its digest, and nothing else does.
func TestDigest(t *testing.T) {
	features := func() tenon.Features {
		return tenon.Features{
			Tools:             []tenon.Tool{{Name: "a", Title: "b", Description: "c", Contract: tenon.Contract{Input: []byte(`{"type":"object"}`)}, Handler: answer(tenon.Response{})}},
			Resources:         []tenon.Resource{{URI: "file:///a", Name: "b", Title: "c", Description: "d", MediaType: "e/f", Size: 1}},
			ResourceTemplates: []tenon.ResourceTemplate{{URI: "file:///{a}", Name: "b", Title: "c", Description: "d", MediaType: "e/f"}},
			Prompts:           []tenon.Prompt{{Name: "a", Title: "b", Description: "c", Arguments: []tenon.PromptArgument{{Name: "a", Title: "b", Description: "c"}}}},
		}
	}
	digests := func(change func(*tenon.Features)) (digest, outline string) {
		f := features()
		change(&f)
		c := gateway.Build([]gateway.Mount{{Name: "s", Features: f}}, gateway.BuildOptions{})
		return c.Digest(), c.Outline()
	}
	same, sameOutline := digests(func(*tenon.Features) {})
	for name, change := range map[string]func(*tenon.Features){
		"nothing":               func(*tenon.Features) {},
		"the handler of a tool": func(f *tenon.Features) { f.Tools[0].Handler = answer(tenon.Response{Status: 201}) },
		"where it is described": func(f *tenon.Features) { f.Tools[0].Origin.Line = 7 },
		"the input of a tool": func(f *tenon.Features) {
			f.Tools[0].Contract = tenon.Contract{Input: []byte(`{"type":"object","required":["a"]}`)}
		},
		"the name of a tool":      func(f *tenon.Features) { f.Tools[0].Name = "ab"; f.Tools[0].Title = "" },
		"the title of a tool":     func(f *tenon.Features) { f.Tools[0].Title = "x" },
		"no tool":                 func(f *tenon.Features) { f.Tools = nil },
		"the size of a resource":  func(f *tenon.Features) { f.Resources[0].Size = 2 },
		"the words of a resource": func(f *tenon.Features) { f.Resources[0].Description = "x" },
		"the URI of a template":   func(f *tenon.Features) { f.ResourceTemplates[0].URI = "file:///{b}" },
		"the title of a prompt":   func(f *tenon.Features) { f.Prompts[0].Title = "x" },
		"an argument of a prompt": func(f *tenon.Features) { f.Prompts[0].Arguments[0].Required = true },
	} {
		digest, outline := digests(change)
		listed := name != "nothing" && name != "the handler of a tool" && name != "where it is described"
		if (digest != same) != listed {
			t.Errorf("%s: the digest is the same: %v", name, digest == same)
		}
		if listed = listed && name != "the input of a tool"; (outline != sameOutline) != listed {
			t.Errorf("%s: the outline is the same: %v", name, outline == sameOutline)
		}
	}
}
