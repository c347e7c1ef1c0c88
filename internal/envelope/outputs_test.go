package envelope_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/envelope"
)

// TestOutputsAreSharedByNameOnly counts how often a schema is made: once for
// those that are declared alike under one name.
func TestOutputsAreSharedByNameOnly(t *testing.T) {
	one := func(change func(*envelope.Contract)) envelope.Contract {
		p := envelope.Contract{Successes: []envelope.Response{{Media: "application/json", Schema: []byte(`{"type":"object","nullable":true}`), Name: "User"}}}
		if change != nil {
			change(&p)
		}
		return p
	}
	tests := map[string]struct {
		second envelope.Contract
		form   string
		made   int32
	}{
		"the same":           {one(nil), "native", 1},
		"another form":       {one(nil), "flowmcp", 2},
		"advice":             {one(func(p *envelope.Contract) { p.Advice = true }), "native", 2},
		"consent":            {one(func(p *envelope.Contract) { p.Consent = true }), "native", 2},
		"another wrapper":    {one(func(p *envelope.Contract) { p.Wrapper = "Answer" }), "native", 2},
		"another name":       {one(func(p *envelope.Contract) { p.Successes[0].Name = "Pet" }), "native", 2},
		"no name":            {one(func(p *envelope.Contract) { p.Successes[0].Name = "" }), "native", 2},
		"another media type": {one(func(p *envelope.Contract) { p.Successes[0].Media = "text/plain" }), "native", 2},
		"one success more":   {one(func(p *envelope.Contract) { p.Successes = append(p.Successes, envelope.Response{}) }), "native", 2},
		"no success":         {envelope.Contract{}, "native", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int32
			publish := func(p envelope.Contract) ([]byte, bool) {
				made.Add(1)
				return envelope.PublishNative(p)
			}
			var u envelope.Published
			first := u.Output(one(nil), "native", publish)
			second := u.Output(tt.second, tt.form, publish)
			if made.Load() != tt.made {
				t.Errorf("made %d times", made.Load())
			}
			if len(first.Changes) != 1 || string(first.Schema) != `{"type":"object"}` {
				t.Errorf("%s, %v", first.Schema, first.Changes)
			}
			if tt.made == 1 {
				if diff := cmp.Diff(first, second); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestInputsAreSafe(t *testing.T) {
	tests := map[string]struct {
		doc, want string
		told      string // the last change; empty: none
	}{
		"none":                  {"", `{"type":"object"}`, ""},
		"one that is safe":      {`{"type":"object"}`, `{"type":"object"}`, ""},
		"one that is no object": {`{"type":"string"}`, `{"type":"object"}`, "cannot be made safe for clients and is not published"},
		"no JSON":               {`{`, `{"type":"object"}`, "cannot be made safe for clients and is not published"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var doc []byte
			if tt.doc != "" {
				doc = []byte(tt.doc)
			}
			var u envelope.Published
			safe, changes := u.Input(doc)
			told := ""
			if len(changes) > 0 {
				told = changes[len(changes)-1].Message
			}
			if string(safe) != tt.want || told != tt.told {
				t.Errorf("%s, %v", safe, changes)
			}
		})
	}
}
