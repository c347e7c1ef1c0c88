package gateway_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// TestArgumentsOfOurOwnGiveWay calls tools that have arguments of the names of
// ours: what is theirs reaches the handler, what is ours does not, and what is
// published and asked for has the name that works.
func TestArgumentsOfOurOwnGiveWay(t *testing.T) {
	tests := map[string]struct {
		input     string
		onPage    bool
		published string // beside what the tool has
		says      string
	}{
		"no argument of that name":     {`{"type":"object","properties":{"id":{}}}`, false, "confirmed fields", "confirmed"},
		"the same on the page":         {`{"type":"object","properties":{"id":{}}}`, true, "confirmed fields", "__confirmed"},
		"each of its own":              {`{"type":"object","properties":{"confirmed":{},"fields":{},"resume_token":{}}}`, false, "tenon_confirmed tenon_fields", "tenon_confirmed"},
		"the same beside the page":     {`{"type":"object","properties":{"confirmed":{},"fields":{},"resume_token":{}}}`, true, "tenon_confirmed tenon_fields", "__confirmed"},
		"the names of the page":        {`{"type":"object","properties":{"__confirmed":{},"_fields":{}}}`, true, "confirmed fields", "confirmed"},
		"ours with the prefix as well": {`{"type":"object","properties":{"confirmed":{},"tenon_confirmed":{},"fields":{}}}`, false, "tenon_confirmed_2 tenon_fields", "tenon_confirmed_2"},
	}
	publishedAs := map[string]string{"__confirmed": "confirmed__", "_fields": "fields_"}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var sent string
			c := gateway.Build([]gateway.Mount{{Name: "s", Features: tenon.Features{Tools: []tenon.Tool{{
				Name: "do", Envelope: tenon.OpenAPIMCP, Fields: true, Confirmation: tenon.ConfirmRule{Mode: tenon.ConfirmArg, Action: tenon.RunTool},
				Contract: tenon.Contract{Input: []byte(tt.input)},
				Handler: func(_ context.Context, call *tenon.Call) (tenon.Response, error) {
					sent = string(call.Args)
					return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`{"a":1,"b":2}`)}, nil
				},
			}}}}}, gateway.BuildOptions{Describe: gateway.ToggleOff})
			input, _ := c.Find("do").Schemas()
			var before, after struct{ Properties map[string]json.RawMessage }
			for text, to := range map[string]any{tt.input: &before, string(input): &after} {
				if err := json.Unmarshal([]byte(text), to); err != nil {
					t.Fatal(err)
				}
			}
			own := map[string]any{}
			for name := range before.Properties {
				own[name] = "theirs"
				delete(after.Properties, name)
				delete(after.Properties, publishedAs[name])
			}
			want := map[string]bool{}
			for name := range after.Properties {
				want[name] = true
			}
			ours := strings.Fields(tt.published)
			if diff := cmp.Diff(map[string]bool{ours[0]: true, ours[1]: true}, want); diff != "" {
				t.Error(diff)
			}

			g := gateway.New(c, gateway.Options{})
			call := func(with map[string]any) *tenon.Result {
				args := map[string]any{}
				for _, m := range []map[string]any{own, with} {
					maps.Copy(args, m)
				}
				text, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				res, err := g.Call(context.Background(), &tenon.Call{Tool: "do", Args: text, OnPage: tt.onPage})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			asked := call(map[string]any{ours[1]: []string{"a"}})
			if !strings.Contains(string(asked.Content[1].Text), " "+tt.says+": true") || strings.Contains(string(asked.Confirmation), "Call again") {
				t.Fatalf("asked: %s %s", asked.Confirmation, asked.Content[1].Text)
			}
			res := call(map[string]any{tt.says: true, ours[1]: []string{"a"}})
			if string(res.Value) != `{"a":1}` {
				t.Errorf("came %s %s", res.Value, res.Content[0].Text)
			}
			text, err := json.Marshal(own)
			if err != nil {
				t.Fatal(err)
			}
			if sent != string(text) {
				t.Errorf("the handler got %s, want %s", sent, text)
			}
		})
	}
}

// TestEmptyArgumentsOfOurOwn: who must fill in every argument says nothing by
// null, an empty token or an empty list; a wrong value is refused and not asked
// about for ever.
func TestEmptyArgumentsOfOurOwn(t *testing.T) {
	tests := map[string]struct{ args, says, coerced string }{
		"null":              {`{"confirmed":null,"fields":null,"resume_token":null}`, "confirmation_request", `"drop-null"`},
		"empty":             {`{"confirmed":false,"fields":[],"resume_token":""}`, "confirmation_request", `"drop-empty"`},
		"a yes as text":     {`{"confirmed":"true"}`, "confirmation_request", `"parse-json"`},
		"a wrong yes":       {`{"confirmed":"sure"}`, `confirmed is true or false`, ""},
		"a wrong page's":    {`{"__confirmed":1}`, `__confirmed is true or false`, ""},
		"a wrong token":     {`{"resume_token":{}}`, `resume_token is a string`, ""},
		"two that disagree": {`{"confirmed":true,"__confirmed":false}`, `differ`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := gateway.Build([]gateway.Mount{{Name: "s", Features: tenon.Features{Tools: []tenon.Tool{{
				Name: "do", Envelope: tenon.OpenAPIMCP, Fields: true, Confirmation: tenon.ConfirmRule{Mode: tenon.ConfirmArg, Action: tenon.RunTool},
				Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
					return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`1`)}, nil
				},
			}}}}}, gateway.BuildOptions{})
			res := get(t, gateway.New(c, gateway.Options{}), "do", "", tt.args)
			if !strings.Contains(string(res.Content[0].Text), tt.says) || !strings.Contains(string(res.Meta), tt.coerced) {
				t.Errorf("%s %s", res.Content[0].Text, res.Meta)
			}
		})
	}
}
