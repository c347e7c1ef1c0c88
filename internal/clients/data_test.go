package clients

import (
	"strings"
	"testing"
	"time"
)

// TestEmbeddedRules reads the file that comes with the program.
func TestEmbeddedRules(t *testing.T) {
	d, err := Read(embedded)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range d.Rules {
		used[r.Check], used["fix "+r.Fix] = true, true
	}
	for name := range checks() {
		if !used[name] {
			t.Errorf("no rule uses the check %s", name)
		}
	}
	for _, f := range d.Fixes {
		if !used["fix "+f.ID] {
			t.Errorf("no rule has the fix %s", f.ID)
		}
	}
	for _, c := range d.Clients {
		if d.RulesOf(c.ID) == nil {
			t.Errorf("%s has no rules", c.ID)
		}
	}
}

const goodRules = `{"clients":[{"id":"a","name":"A","kind":"api","shows":["name"],"results":"all"}],
	"rules":[{"id":"r","client":"a","kind":"cut","check":"tools-at-most","params":{"max":1},"effect":"cut","fix":"f","sources":["measured"],"verified":"2026-01-01"}],
	"fixes":[{"id":"f","text":"fewer","exact":false}]}`

func TestBrokenRulesAreRefused(t *testing.T) {
	if _, err := Read([]byte(goodRules)); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ from, to, says string }{
		{`"id":"r"`, `"id":"r","weight":1`, "weight"},
		{`"client":"a"`, `"client":"b"`, "no client"},
		{`"fix":"f"`, `"fix":"g"`, "no fix"},
		{`"tools-at-most"`, `"tools-below"`, "no check"},
		{`{"max":1}`, `{"max":1,"in":"input"}`, "takes the parameters"},
		{`"kind":"cut"`, `"kind":"bad"`, "no kind"},
		{`["measured"]`, `[]`, "sources"},
		{`["measured"]`, `["somebody"]`, "a source is"},
		{`2026-01-01`, `soon`, "no date"},
		{`"text":"fewer"`, `"text":""`, "no text"},
		{`"shows":["name"]`, `"shows":["title"]`, "unknown part"},
		{`"kind":"api"`, `"kind":"thing"`, "kind or results"},
		{`"fixes":[`, `"fixes":[{"id":"f","text":"t","exact":true},`, "twice"},
	} {
		text := strings.Replace(goodRules, one.from, one.to, 1)
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v", one.to, err)
		}
	}
	if _, err := Read([]byte(goodRules + "{}")); err == nil {
		t.Error("more text after the rules is read")
	}
}

func TestRulesGrowStale(t *testing.T) {
	r := Rule{Verified: "2026-11-22"}
	day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	if r.Stale(day.AddDate(0, 0, 90)) {
		t.Error("stale on day 90")
	}
	if !r.Stale(day.AddDate(0, 0, 91)) {
		t.Error("not stale on day 91")
	}
}

// TestTokens compares with o200k_base, on texts as lists have them.
func TestTokens(t *testing.T) {
	for _, one := range []struct {
		text string
		real int
	}{
		{"Get a repository by its owner and its name.", 10},
		{`{"type":"object","properties":{"owner":{"type":"string","description":"The account owner of the repository."}},"required":["owner"]}`, 29},
		{"issues_list_for_repo", 4},
	} {
		if got := Tokens(one.text); float64(got) < 0.8*float64(one.real) || float64(got) > 1.2*float64(one.real) {
			t.Errorf("%q: %d tokens, really %d", one.text, got, one.real)
		}
	}
	if Tokens("") != 0 {
		t.Error("an empty text has tokens")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(embedded)
	f.Add([]byte(goodRules))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(text)
		if err != nil {
			return
		}
		for i := range d.Rules {
			r := &d.Rules[i]
			l := out(object(`"a":true,"b":{"type":["array"],"enum":[1]}`))
			r.BrokenByList(&l)
			r.Broken("s", &l.Tools[0])
		}
	})
}

// FuzzExamine holds any schema against all rules.
func FuzzExamine(f *testing.F) {
	f.Add(object(`"a":{"$ref":"#"}`))
	f.Add(`{"type":["array"],"enum":3,"anyOf":{},"properties":[],"required":{"a":1},"items":[[]]}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, schema string) {
		d := Known()
		l := with("a", schema, schema)
		var all []*Client
		for i := range d.Clients {
			all = append(all, &d.Clients[i])
		}
		rep := d.Examine(&l, all, time.Time{})
		for _, v := range rep.Verdicts {
			for _, found := range v.Findings {
				if len(found.Places) != 1 {
					t.Errorf("%s has %d places in one tool", found.Rule.ID, len(found.Places))
				}
			}
		}
	})
}
