package reserve_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/reserve"
)

const all = reserve.Confirmed | reserve.Token | reserve.Fields

func TestTake(t *testing.T) {
	tests := map[string]struct {
		args string
		set  reserve.Set
		rest string
		own  reserve.Own
	}{
		"nothing of ours":                       {`{"id":1}`, all, `{"id":1}`, reserve.Own{}},
		"the first of several":                  {`{"__confirmed":true,"id":1.0}`, all, `{"id":1.0}`, reserve.Own{Asserts: true, Confirmed: true}},
		"the last of several":                   {`{"id": 1 , "__confirmed": true}`, all, `{"id":1}`, reserve.Own{Asserts: true, Confirmed: true}},
		"all of them":                           {`{"_fields":["a"],"resume_token":"t","__confirmed":true}`, all, `{}`, reserve.Own{Asserts: true, Confirmed: true, Token: "t", Fields: []byte(`["a"]`)}},
		"a name that is written with escapes":   {`{"_\u005fconfirmed":true}`, all, `{}`, reserve.Own{Asserts: true, Confirmed: true}},
		"what is not true is not confirmed":     {`{"__confirmed":"true"}`, all, `{}`, reserve.Own{Asserts: true}},
		"a name that the tool does not reserve": {`{"_fields":["a"],"__confirmed":true}`, reserve.Confirmed, `{"_fields":["a"]}`, reserve.Own{Asserts: true, Confirmed: true}},
		"a token that is none is not known":     {`{"resume_token":7}`, all, `{}`, reserve.Own{Token: "7"}},
		"an empty token is not known":           {`{"resume_token":""}`, all, `{}`, reserve.Own{Token: `""`}},
		"a name inside a value stays":           {`{"body":{"__confirmed":true}}`, all, `{"body":{"__confirmed":true}}`, reserve.Own{}},
		"a name twice is for wall one":          {`{"__confirmed":false,"__confirmed":true}`, all, `{"__confirmed":false,"__confirmed":true}`, reserve.Own{}},
		"what is no object is for wall one":     {`["__confirmed"]`, all, `["__confirmed"]`, reserve.Own{}},
		"what is no JSON is for wall one":       {`{"__confirmed":true`, all, `{"__confirmed":true`, reserve.Own{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rest, own := reserve.Take([]byte(tt.args), tt.set)
			if string(rest) != tt.rest {
				t.Errorf("rest: %s, want %s", rest, tt.rest)
			}
			if d := cmp.Diff(tt.own, own); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzTake states: where something was taken, what is left is the same object
// without it.
func FuzzTake(f *testing.F) {
	f.Add([]byte(`{"__confirmed":true,"a":{"b":[1,2]},"resume_token":"x"}`))
	f.Add([]byte(`{"_\u005fconfirmed":true,"_fields":null}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		rest, _ := reserve.Take(args, all)
		if string(rest) == string(args) {
			return
		}
		var want, got map[string]json.RawMessage
		if json.Unmarshal(args, &want) != nil {
			t.Fatalf("%q was taken apart", args)
		}
		delete(want, "__confirmed")
		delete(want, "resume_token")
		delete(want, "_fields")
		if err := json.Unmarshal(rest, &got); err != nil {
			t.Fatalf("%q: %v", rest, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%q became %q", args, rest)
		}
	})
}

func TestPublish(t *testing.T) {
	const confirmed = `"__confirmed":{"type":"boolean","description":"true: the user agreed to this call"}`
	tests := map[string]struct {
		input string
		set   reserve.Set
		want  string
	}{
		"beside others":          {`{"type":"object","properties":{"a":{}},"required":["a"]}`, reserve.Confirmed, `{"type":"object","properties":{"a":{},` + confirmed + `},"required":["a"]}`},
		"alone":                  {`{"type":"object","properties":{ },"additionalProperties":false}`, reserve.Confirmed, `{"type":"object","properties":{ ` + confirmed + `},"additionalProperties":false}`},
		"where nothing declared": {`{"type":"object"}`, reserve.Confirmed, `{"type":"object","properties":{` + confirmed + `}}`},
		"nothing":                {`{"type":"object"}`, 0, `{"type":"object"}`},
		"where nothing is":       {`{}`, reserve.Confirmed, `{"properties":{` + confirmed + `}}`},
		"what is declared":       {`{"properties":{"__confirmed":{"title":"}"}}}`, reserve.Confirmed, `{"properties":{"__confirmed":{"title":"}"}}}`},
		"declared with escapes":  {`{"p\u0072operties":{"_\u005fconfirmed":{}}}`, reserve.Confirmed, `{"p\u0072operties":{"_\u005fconfirmed":{}}}`},
		"named farther down":     {`{"properties":{"a":{"properties":{"__confirmed":{}}}}}`, reserve.Confirmed, `{"properties":{"a":{"properties":{"__confirmed":{}}},` + confirmed + `}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := reserve.Publish([]byte(tt.input), tt.set)
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if reserve.Declared(got) != tt.set {
				t.Errorf("declared: %b, want %b", reserve.Declared(got), tt.set)
			}
		})
	}
}

// What is no schema comes back as it is, or longer.
func TestPublishOfWhatIsNoSchema(t *testing.T) {
	for _, input := range []string{``, `}`, `{`, `{"properties"`, `{"properties":`, `{"properties":{`, `{"properties":{"\`, `{"\x":{}}`, `[{}]`, `{"properties":{}`} {
		if got := reserve.Publish([]byte(input), reserve.Confirmed); len(got) < len(input) {
			t.Errorf("%s became %s", input, got)
		}
	}
}
