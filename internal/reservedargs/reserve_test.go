package reservedargs_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

const all = reservedargs.Confirmed | reservedargs.Token | reservedargs.Fields

func TestTake(t *testing.T) {
	yes := reservedargs.Values{Confirmed: true}
	dropped := func(name, kind, old string) reservedargs.Values {
		return reservedargs.Values{Coerced: []reservedargs.Coercion{{Name: name, Kind: kind, Old: old, New: "nothing"}}}
	}
	read := func(own reservedargs.Values, name, old, now string) reservedargs.Values {
		own.Coerced = []reservedargs.Coercion{{Name: name, Kind: reservedargs.ReadJSON, Old: old, New: now}}
		return own
	}
	refused := func(why string) reservedargs.Values { return reservedargs.Values{Invalid: why} }
	tests := map[string]struct {
		args string
		set  reservedargs.Set
		rest string
		own  reservedargs.Values
	}{
		"nothing of ours":                       {`{"id":1}`, all, `{"id":1}`, reservedargs.Values{}},
		"the first of several":                  {`{"confirmed":true,"id":1.0}`, all, `{"id":1.0}`, yes},
		"the last of several":                   {`{"id": 1 , "confirmed": true}`, all, `{"id":1}`, yes},
		"by the name of the page":               {`{"__confirmed":true,"id":1}`, all, `{"id":1}`, yes},
		"all of them":                           {`{"fields":["a"],"resume_token":"t","confirmed":true}`, all, `{}`, reservedargs.Values{Confirmed: true, Token: "t", Fields: []byte(`["a"]`)}},
		"fields by its older name":              {`{"_fields":["a"]}`, all, `{}`, reservedargs.Values{Fields: []byte(`["a"]`)}},
		"a name that is written with escapes":   {`{"conf\u0069rmed":true}`, all, `{}`, yes},
		"a name that the tool does not reserve": {`{"fields":["a"],"confirmed":true}`, reservedargs.Confirmed, `{"fields":["a"]}`, yes},
		"a name inside a value stays":           {`{"body":{"confirmed":true}}`, all, `{"body":{"confirmed":true}}`, reservedargs.Values{}},
		"a name twice is for the validation":    {`{"confirmed":false,"confirmed":true}`, all, `{"confirmed":false,"confirmed":true}`, reservedargs.Values{}},
		"what is no object is left":             {`["confirmed"]`, all, `["confirmed"]`, reservedargs.Values{}},
		"what is no JSON is left":               {`{"confirmed":true`, all, `{"confirmed":true`, reservedargs.Values{}},

		"text that holds true":     {`{"confirmed":" true "}`, all, `{}`, read(yes, "confirmed", `" true "`, "true")},
		"text that holds false":    {`{"__confirmed":"false"}`, all, `{}`, read(reservedargs.Values{}, "__confirmed", `"false"`, "false")},
		"text that holds a list":   {`{"fields":"[\"a\"]"}`, all, `{}`, read(reservedargs.Values{Fields: []byte(`["a"]`)}, "fields", `"[\"a\"]"`, `["a"]`)},
		"null is no confirmation":  {`{"confirmed":null}`, all, `{}`, dropped("confirmed", reservedargs.DropNull, "null")},
		"null is no token":         {`{"resume_token":null,"id":1}`, all, `{"id":1}`, dropped("resume_token", reservedargs.DropNull, "null")},
		"null are no fields":       {`{"fields":null}`, all, `{}`, dropped("fields", reservedargs.DropNull, "null")},
		"an empty token is none":   {`{"resume_token":""}`, all, `{}`, dropped("resume_token", reservedargs.DropEmpty, `""`)},
		"an empty list is none":    {`{"fields":[ ]}`, all, `{}`, dropped("fields", reservedargs.DropEmpty, `[ ]`)},
		"an empty text is no list": {`{"fields":""}`, all, `{}`, dropped("fields", reservedargs.DropEmpty, `""`)},
		"a token that is a number": {`{"resume_token":7}`, all, `{}`, refused("resume_token is a string, and 7 is none")},
		"a word for a yes":         {`{"confirmed":"yes"}`, all, `{}`, refused(`confirmed is true or false, and "yes" is none`)},
		"an empty yes":             {`{"confirmed":""}`, all, `{}`, refused(`confirmed is true or false, and "" is none`)},
		"a number for a yes":       {`{"__confirmed":1}`, all, `{}`, refused(`__confirmed is true or false, and 1 is none`)},
		"one field without a list": {`{"fields":"a"}`, all, `{}`, refused(`fields is a list of paths such as ["items[].id"], and "a" is none`)},
		"both names that agree":    {`{"confirmed":true,"__confirmed":true}`, all, `{}`, yes},
		"both names that differ": {
			`{"confirmed":false,"__confirmed":true}`, all, `{}`,
			reservedargs.Values{Confirmed: true, Invalid: "confirmed and __confirmed are the same argument and differ"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			names := reservedargs.NamesFor(tt.set, nil)
			rest, own := names.Extract([]byte(tt.args))
			if string(rest) != tt.rest {
				t.Errorf("rest: %s, want %s", rest, tt.rest)
			}
			if d := cmp.Diff(tt.own, own); d != "" {
				t.Error(d)
			}
		})
	}
}

// An argument that a tool declares, wherever its schema says so, stays the
// tool's, by each of our names.
func TestNamesThatAreTaken(t *testing.T) {
	tests := map[string]struct {
		input, published, page string
		tools                  []string // arguments that stay
	}{
		"free":                    {`{"properties":{"a":{}}}`, "confirmed", "__confirmed", nil},
		"taken":                   {`{"properties":{"confirmed":{}}}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"with escapes":            {`{"p\u0072operties":{"c\u006fnfirmed":{}}}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"the page's name":         {`{"properties":{"__confirmed":{}}}`, "confirmed", "confirmed", []string{"__confirmed"}},
		"both":                    {`{"properties":{"__confirmed":{},"confirmed":{}}}`, "tenon_confirmed", "tenon_confirmed", []string{"__confirmed", "confirmed"}},
		"ours as well":            {`{"properties":{"tenon_confirmed":{},"confirmed":{}}}`, "tenon_confirmed_2", "__confirmed", []string{"confirmed", "tenon_confirmed"}},
		"and its number":          {`{"properties":{"tenon_confirmed":{},"tenon_confirmed_2":{},"confirmed":{}}}`, "tenon_confirmed_3", "__confirmed", []string{"confirmed", "tenon_confirmed_2"}},
		"in a branch":             {`{"anyOf":[{"properties":{"a":{}}},{"allOf":[{"properties":{"confirmed":{}}}]}]}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"behind a reference":      {`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"confirmed":{}}}}}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"in a circle":             {`{"$ref":"#","properties":{"confirmed":{}}}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"only required":           {`{"required":["confirmed"]}`, "tenon_confirmed", "__confirmed", []string{"confirmed"}},
		"a definition is no part": {`{"$defs":{"a":{"properties":{"confirmed":{}}}}}`, "confirmed", "__confirmed", nil},
		"nor a nested object":     {`{"properties":{"a":{"properties":{"confirmed":{}}}}}`, "confirmed", "__confirmed", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			names := reservedargs.NamesFor(all, []byte(tt.input))
			if got := names.Of(reservedargs.Confirmed); got != tt.published {
				t.Errorf("published as %s, want %s", got, tt.published)
			}
			if got := names.Told(reservedargs.Confirmed, true); got != tt.page {
				t.Errorf("on the page %s, want %s", got, tt.page)
			}
			for _, arg := range tt.tools {
				sent := `{"` + arg + `":true}`
				if rest, own := names.Extract([]byte(sent)); string(rest) != sent || own.Confirmed {
					t.Errorf("%s was taken away: %s is left", sent, rest)
				}
			}
			for _, arg := range []string{tt.published, tt.page} {
				if rest, own := names.Extract([]byte(`{"` + arg + `":true}`)); string(rest) != `{}` || !own.Confirmed {
					t.Errorf("%s is not read: %s is left", arg, rest)
				}
			}
		})
	}
}

// The same holds of every reserved argument.
func TestEveryReservedArgumentGivesWay(t *testing.T) {
	for set, name := range map[reservedargs.Set]string{reservedargs.Confirmed: "confirmed", reservedargs.Token: "resume_token", reservedargs.Fields: "fields"} {
		names := reservedargs.NamesFor(all, []byte(`{"properties":{"`+name+`":{}}}`))
		if got := names.Of(set); got != "tenon_"+name {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzTake states: where something was taken, what is left is the same object
// without it, and nothing that the tool declares was taken.
func FuzzTake(f *testing.F) {
	f.Add([]byte(`{"__confirmed":true,"a":{"b":[1,2]},"resume_token":"x"}`), []byte(`{}`))
	f.Add([]byte(`{"c\u006fnfirmed":"true","_fields":null}`), []byte(`{"properties":{"_fields":{}}}`))
	f.Fuzz(func(t *testing.T, args, input []byte) {
		names := reservedargs.NamesFor(all, input)
		rest, _ := names.Extract(args)
		if string(rest) == string(args) {
			return
		}
		var want, got map[string]json.RawMessage
		if json.Unmarshal(args, &want) != nil {
			t.Fatalf("%q was taken apart", args)
		}
		if err := json.Unmarshal(rest, &got); err != nil {
			t.Fatalf("%q: %v", rest, err)
		}
		for _, name := range []string{"__confirmed", "_fields", names.Of(reservedargs.Confirmed), names.Of(reservedargs.Token), names.Of(reservedargs.Fields)} {
			if _, left := got[name]; !left {
				delete(want, name)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q became %q", args, rest)
		}
		var declared struct{ Properties map[string]json.RawMessage }
		if json.Unmarshal(input, &declared) != nil {
			return
		}
		var sent map[string]json.RawMessage
		if err := json.Unmarshal(args, &sent); err != nil {
			t.Fatal(err)
		}
		for name := range declared.Properties {
			_, came := sent[name]
			if _, left := got[name]; came != left {
				t.Fatalf("%q lost %q, which %q declares", args, name, input)
			}
		}
	})
}

func TestPublish(t *testing.T) {
	const confirmed = `"confirmed":{"type":"boolean","description":"true: the user agreed to this call"}`
	tests := map[string]struct {
		input string
		set   reservedargs.Set
		want  string
	}{
		"beside others":          {`{"type":"object","properties":{"a":{}},"required":["a"]}`, reservedargs.Confirmed, `{"type":"object","properties":{"a":{},` + confirmed + `},"required":["a"]}`},
		"alone":                  {`{"type":"object","properties":{ },"additionalProperties":false}`, reservedargs.Confirmed, `{"type":"object","properties":{ ` + confirmed + `},"additionalProperties":false}`},
		"where nothing declared": {`{"type":"object"}`, reservedargs.Confirmed, `{"type":"object","properties":{` + confirmed + `}}`},
		"nothing":                {`{"type":"object"}`, 0, `{"type":"object"}`},
		"where nothing is":       {`{}`, reservedargs.Confirmed, `{"properties":{` + confirmed + `}}`},
		"what is declared":       {`{"properties":{"confirmed":{"title":"}"}}}`, reservedargs.Confirmed, `{"properties":{"confirmed":{"title":"}"},"tenon_` + confirmed[1:] + `}}`},
		"declared with escapes":  {`{"p\u0072operties":{"c\u006fnfirmed":{}}}`, reservedargs.Confirmed, `{"p\u0072operties":{"c\u006fnfirmed":{},"tenon_` + confirmed[1:] + `}}`},
		"named farther down":     {`{"properties":{"a":{"properties":{"confirmed":{}}}}}`, reservedargs.Confirmed, `{"properties":{"a":{"properties":{"confirmed":{}}},` + confirmed + `}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			names := reservedargs.NamesFor(all, []byte(tt.input))
			if got := names.Publish([]byte(tt.input), tt.set); string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What is no schema comes back as it is, or longer.
func TestPublishOfWhatIsNoSchema(t *testing.T) {
	for _, input := range []string{``, `}`, `{`, `{"properties"`, `{"properties":`, `{"properties":{`, `{"properties":{"\`, `{"\x":{}}`, `[{}]`, `{"properties":{}`} {
		names := reservedargs.NamesFor(all, []byte(input))
		if got := names.Publish([]byte(input), reservedargs.Confirmed); len(got) < len(input) {
			t.Errorf("%s became %s", input, got)
		}
	}
}
