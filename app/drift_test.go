package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
)

// lie is an operation whose responses are not what its description says.
type lie struct {
	name   string
	schema string // of 200
	more   string // responses beside it
	status int    // 0: 200
	media  string // empty: application/json
	body   string
	want   string // "pointer keyword: declared, seen"; empty: it is the truth
}

// lies are twenty, beside operations that tell the truth.
func lies() []lie {
	book := `{"$ref":"#/components/schemas/Book"}`
	const whole = `{"id":1,"title":"Emma","price":9.5,"author":{"name":"Jane"},"tags":["a"]}`
	return []lie{
		{name: "truth", schema: book, body: whole},
		{name: "truths", schema: `{"type":"array","items":` + book + `}`, body: "[" + whole + "," + whole + "]"},
		{name: "missing", schema: `{"type":"object","required":["total"],"properties":{"total":{"type":"integer"}}}`, body: `{}`, want: "/properties/total required: required, no member"},
		{name: "textForNumber", schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`, body: `{"n":"1"}`, want: "/properties/n type: integer, string"},
		{name: "null", schema: `{"type":"object","properties":{"n":{"type":"string"}}}`, body: `{"n":null}`, want: "/properties/n type: string, null"},
		{name: "fraction", schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`, body: `{"n":1.5}`, want: "/properties/n type: integer, number"},
		{name: "enum", schema: `{"type":"object","properties":{"s":{"type":"string","enum":["on","off"]}}}`, body: `{"s":"secret"}`, want: `/properties/s enum: enum ["on","off"], string`},
		{name: "further", schema: `{"type":"object","properties":{},"additionalProperties":false}`, body: `{"ada@example.com":1}`, want: " additionalProperties: no other members, a further member: integer"},
		{name: "map", schema: `{"type":"object","additionalProperties":{"type":"integer"}}`, body: `{"ada@example.com":"x","bob@example.com":"y"}`, want: "/additionalProperties type: integer, string"},
		{name: "long", schema: `{"type":"object","properties":{"s":{"type":"string","maxLength":3}}}`, body: `{"s":"long text"}`, want: "/properties/s maxLength: maxLength 3, string"},
		{name: "pattern", schema: `{"type":"object","properties":{"s":{"type":"string","pattern":"^[a-z]+$"}}}`, body: `{"s":"A1"}`, want: `/properties/s pattern: pattern "^[a-z]+$", string`},
		{name: "short", schema: `{"type":"array","minItems":2,"items":{"type":"integer"}}`, body: `[1]`, want: " minItems: minItems 2, array"},
		{name: "twice", schema: `{"type":"array","uniqueItems":true,"items":{"type":"integer"}}`, body: `[1,1]`, want: " uniqueItems: uniqueItems true, array"},
		{name: "object", schema: `{"type":"array","items":{"type":"integer"}}`, body: `{"items":[]}`, want: " type: array, object"},
		{name: "item", schema: `{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}}`, body: `[{"id":"a"},{"id":2},{"id":3}]`, want: "/items/properties/id type: string, integer"},
		{name: "union", schema: `{"type":"object","properties":{"u":{"oneOf":[{"type":"integer"},{"type":"integer","minimum":0}]}}}`, body: `{"u":5}`, want: "/properties/u oneOf: oneOf of 2 schemas, integer"},
		{name: "status", schema: book, status: 418, body: `{}`, want: " status: 200, status 418"},
		{name: "media", schema: book, media: "text/html", body: `<p>`, want: " mediaType: application/json, text/html"},
		{name: "broken", schema: book, body: `{"id":1,`, want: " syntax: JSON, text that is none or cannot be read"},
		{name: "error", schema: book, more: `,"404":{"description":"none","content":{"application/json":{"schema":{"type":"object","required":["code"],"properties":{"code":{"type":"string"}}}}}}`, status: 404, body: `{"code":404}`, want: "/properties/code type: string, integer"},
		{name: "sharedOne", schema: book, body: `{"id":1,"title":"Emma","author":{"name":7}}`, want: "/$defs/Person/properties/name type: string, integer"},
		{name: "sharedTwo", schema: `{"type":"object","properties":{"books":{"type":"array","items":` + book + `}}}`, body: `{"books":[{"id":1,"title":"x","author":{"name":8}}]}`, want: "/$defs/Person/properties/name type: string, integer"},
		{name: "sharedThree", schema: `{"$ref":"#/components/schemas/Person"}`, body: `{"name":9}`, want: "/$defs/Person/properties/name type: string, integer"},
		{name: "empty", schema: book, body: ``, want: " mediaType: application/json, no body"},
		{name: "uncalled", schema: book},
	}
}

// document describes the operations.
func document(all []lie) string {
	var paths []string
	for _, l := range all {
		paths = append(paths, fmt.Sprintf(`"/%s/{n}":{"get":{"operationId":%q,"parameters":[{"name":"n","in":"path","required":true,"schema":{"type":"integer"}}],"responses":{"200":{"description":"ok","content":{"application/json":{"schema":%s}}}%s}}}`, l.name, l.name, l.schema, l.more))
	}
	return `{"openapi":"3.1.0","info":{"title":"lies","version":"1"},"servers":[{"url":"https://lies.example"}],"paths":{` + strings.Join(paths, ",") + `},
"components":{"schemas":{"Book":{"type":"object","required":["id","title"],"properties":{"id":{"type":"integer"},"title":{"type":"string"},"price":{"type":["number","null"]},"author":{"$ref":"#/components/schemas/Person"},"tags":{"type":"array","items":{"type":"string"}}}},
"Person":{"type":"object","properties":{"name":{"type":"string"}}}}}}`
}

// standIn answers for the service.
func standIn(all []lie) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		for _, l := range all {
			if strings.HasPrefix(r.URL.Path, "/"+l.name+"/") {
				w := httptest.NewRecorder()
				if l.body != "" {
					w.Header().Set("Content-Type", "application/json")
				}
				if l.media != "" {
					w.Header().Set("Content-Type", l.media)
				}
				if l.status != 0 {
					w.WriteHeader(l.status)
				}
				_, _ = io.WriteString(w, l.body)
				res := w.Result()
				res.Request = r
				return res, nil
			}
		}
		return nil, fmt.Errorf("no operation at %s", r.URL.Path)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// serveLies is an App that serves a document and counts evidence in a ledger.
func serveLies(t *testing.T, spec, ledger string, answers http.RoundTripper) *App {
	t.Helper()
	c := NewConfig()
	c.Evidence = ledger
	c.AddSpec("lies=" + spec)
	a, err := New(t.Context(), c, Env{})
	if err != nil {
		t.Fatal(err)
	}
	a.Intercept(answers)
	return a
}

// callAll calls operations with three different arguments each.
func callAll(t *testing.T, a *App, all []lie) {
	t.Helper()
	for _, l := range all {
		for n := range 3 {
			if l.name == "uncalled" {
				continue
			}
			if _, err := a.Gateway.Call(context.Background(), &tenon.Call{Tool: l.name, Args: fmt.Appendf(nil, `{"n":%d}`, n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func compareWith(t *testing.T, a *App, ledger string) *evidence.Comparison {
	t.Helper()
	l, err := evidence.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	var all []evidence.Described
	for _, tool := range a.Gateway.Catalog().Tools() {
		if !tool.BuiltIn() {
			all = append(all, evidence.Described{Operation: EvidenceOf(tool), Source: tool.Source(), Tool: tool.Name()})
		}
	}
	return evidence.Compare(l.Sum(), all)
}

// TestLearnedNames: with --learn alone, and of several callers.
func TestLearnedNames(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "lies.json")
	all := []lie{{name: "get", schema: `{"type":"object","properties":{"id":{"type":"integer"}}}`, body: `{"id":1,"shelf":"A"}`}}
	if err := os.WriteFile(spec, []byte(document(all)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, learn := range []bool{false, true} {
		c := NewConfig()
		c.Evidence, c.Learn = filepath.Join(t.TempDir(), "ledger"), learn
		c.AddSpec("lies=" + spec)
		a, err := New(t.Context(), c, Env{})
		if err != nil {
			t.Fatal(err)
		}
		a.Intercept(standIn(all))
		for _, subject := range []tenon.Subject{"ann", "bob", "ann"} {
			if _, err := a.Gateway.Call(context.Background(), &tenon.Call{Tool: "get", Subject: subject, Args: []byte(`{"n":1}`)}); err != nil {
				t.Fatal(err)
			}
		}
		a.Close()
		if got := compareWith(t, a, c.Evidence); len(got.Drifts) > 0 || (len(got.Learned) == 1) != learn || learn && (got.Learned[0].Pointer != "/properties/shelf" || got.Learned[0].Count != 3) {
			t.Errorf("learn %t: %+v, drift %+v", learn, got.Learned, got.Drifts)
		}
	}
}

// A service lies in twenty ways, one of them in three operations that share a
// definition: these are found and no others, whatever the policy.
func TestDriftFindsTwentyLies(t *testing.T) {
	all := lies()
	want := map[string]bool{}
	for _, l := range all {
		if l.want != "" {
			name := l.name
			if strings.HasPrefix(name, "shared") {
				name = "sharedOne"
			}
			want[name+" "+l.want] = true
		}
	}
	if len(want) != 20 {
		t.Fatalf("%d lies", len(want))
	}
	dir := t.TempDir()
	spec := filepath.Join(dir, "lies.json")
	if err := os.WriteFile(spec, []byte(document(all)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []tenon.Policy{tenon.Warn, tenon.Enforce, tenon.Repair} {
		ledger := filepath.Join(dir, string(policy))
		c := NewConfig()
		c.Evidence, c.Defaults.Policy.All = ledger, string(policy)
		c.AddSpec("lies=" + spec)
		a, err := New(t.Context(), c, Env{})
		if err != nil {
			t.Fatal(err)
		}
		a.Intercept(standIn(all))
		callAll(t, a, all)
		a.Close()
		found := compareWith(t, a, ledger)
		got := map[string]bool{}
		for _, f := range found.Drifts {
			got[f.Places[0].Described.Tool+" "+f.Pointer+" "+f.Keyword+": "+f.Declared+", "+f.Seen] = true
			places := 1
			if strings.HasPrefix(f.Pointer, "/$defs/") {
				places = 3
			}
			if len(f.Places) != places || f.Count != int64(3*places) {
				t.Errorf("%s: %s %s: %d places, %d responses", policy, f.Pointer, f.Keyword, len(f.Places), f.Count)
			}
		}
		for lie := range want {
			if !got[lie] {
				t.Errorf("%s: not found: %s", policy, lie)
			}
			delete(got, lie)
		}
		for lie := range got {
			t.Errorf("%s: found, and no lie: %s", policy, lie)
		}
		if !slices.ContainsFunc(found.Unseen, func(u evidence.Unseen) bool { return u.Described.Tool == "uncalled" && u.Status == "" }) {
			t.Error("an operation that was never called is not named")
		}
		if s := found.Tools["truth"]; s.Calls != 3 || s.Fits != 3 || s.Arguments != 3 || s.Violated != 0 {
			t.Errorf("the truth: %+v", s)
		}
	}
}

// A reload of the same description goes on with the same sums, one of a changed
// operation leaves the others theirs, and a description for another origin has none.
func TestEvidenceAfterReload(t *testing.T) {
	all := lies()
	dir := t.TempDir()
	spec, ledger := filepath.Join(dir, "lies.json"), filepath.Join(dir, "ledger")
	put := func(text string) {
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(document(all))
	a := serveLies(t, spec, ledger, standIn(all))
	callAll(t, a, all)
	put(document(all) + "\n")
	a.Reload(t.Context())
	callAll(t, a, all)
	if err := a.evidence.Flush(); err != nil {
		t.Fatal(err)
	}
	if s := compareWith(t, a, ledger).Tools["truth"]; s.Calls != 6 || s.Arguments != 3 {
		t.Errorf("after a reload: %+v", s)
	}
	changed := strings.Replace(document(all), `"maxLength":3`, `"maxLength":4`, 1)
	put(changed)
	a.Reload(t.Context())
	found := compareWith(t, a, ledger)
	if found.Tools["long"].Calls != 0 || found.Tools["truth"].Calls != 6 || found.Earlier != 1 {
		t.Errorf("after a change: %+v, %+v, %d", found.Tools["long"], found.Tools["truth"], found.Earlier)
	}
	put(strings.Replace(changed, "https://lies.example", "https://staging.lies.example", 1))
	a.Reload(t.Context())
	if found := compareWith(t, a, ledger); found.Calls != 0 {
		t.Errorf("staging has %d responses of production", found.Calls)
	}
	a.Close()
	var value json.RawMessage
	text, err := os.ReadFile(ledger)
	if err != nil || strings.Contains(string(text), "ada@example.com") {
		t.Error(string(text), err)
	}
	for line := range strings.Lines(string(text)) {
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			t.Error(err)
		}
	}
}
