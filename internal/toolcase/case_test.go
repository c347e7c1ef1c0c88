package toolcase_test

import (
	"encoding/xml"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/toolcase"
)

func TestJudge(t *testing.T) {
	fits := tenon.Outcome{Verdict: tenon.Fits, Status: 200}
	book := &tenon.Result{Value: []byte(`{"title":"Emma","tags":["a","b"],"year":1815.0}`), Outcome: fits}
	violated := &tenon.Result{
		Value: []byte(`{"count":"12"}`), Outcome: tenon.Outcome{Verdict: tenon.Violated, Status: 200},
		Meta: []byte(`{"tenon/contract":{"violations":[{"path":"/count","expected":"integer","got":"\"12\""}]}}`),
	}
	refused := &tenon.Result{IsError: true, Code: tenon.CodeContract, Message: "no", Meta: violated.Meta, Outcome: violated.Outcome}
	missing := &tenon.Result{IsError: true, Code: tenon.CodeNotFound, Message: "none", Details: []byte(`{"detail":"none"}`), Outcome: tenon.Outcome{Status: 404}}
	for _, one := range []struct {
		expect string
		res    *tenon.Result
		failed error
		want   toolcase.Outcome
		why    string
	}{
		{`{}`, book, nil, toolcase.Pass, ""},
		{`{status: 200, verdict: fits, values: {$.title: Emma, "$.tags[*]": [a, b], "$.tags[:1]": [a], $.year: 1815, "$.none[*]": []}}`, book, nil, toolcase.Pass, ""},
		{`{values: {$.title: Anna}}`, book, nil, toolcase.Failed, `$.title is "Emma", expected "Anna"`},
		{`{values: {$.titel: Emma}}`, book, nil, toolcase.Failed, `$.titel selects nothing, expected "Emma"`},
		{`{schema: {type: object, required: [isbn]}}`, book, nil, toolcase.Failed, `member "isbn"`},
		{`{status: 201}`, book, nil, toolcase.Failed, "the status is 200, expected 201"},
		{`{verdict: violated}`, book, nil, toolcase.Failed, "the verdict is fits, expected violated"},
		{`{error: not_found}`, book, nil, toolcase.Failed, "it succeeds, expected not_found"},
		{`{}`, violated, nil, toolcase.Violation, `/count: expected integer, got "12"`},
		{`{verdict: violated, values: {$.count: "12"}}`, violated, nil, toolcase.Pass, ""},
		{`{}`, refused, nil, toolcase.Violation, `/count: expected integer, got "12"`},
		{`{error: contract_violation}`, refused, nil, toolcase.Pass, ""},
		{`{error: not_found}`, refused, nil, toolcase.Failed, "the response violates its schema"},
		{`{}`, missing, nil, toolcase.Failed, "not_found: none"},
		{`{error: not_found, status: 404, values: {$.detail: none}}`, missing, nil, toolcase.Pass, ""},
		{`{error: conflict}`, missing, nil, toolcase.Failed, "it fails with not_found (none), expected conflict"},
		{`{}`, nil, errors.New("unknown"), toolcase.Failed, "unknown"},
		{`{error: not_found}`, nil, tenon.Errorf(tenon.CodeNotFound, "unknown"), toolcase.Pass, ""},
	} {
		cases, err := toolcase.Parse([]byte("cases: [ { call: getBook, expect: " + one.expect + " } ]"))
		if err != nil {
			t.Errorf("%s: %v", one.expect, err)
			continue
		}
		got, why, _ := toolcase.Judge(&cases[0], one.res, one.failed)
		if got != one.want || !strings.Contains(why, one.why) || one.why == "" && why != "" {
			t.Errorf("%s: %s, %q", one.expect, got, why)
		}
	}
	recorded := toolcase.Case{Expect: toolcase.Expect{Failure: true, NotNull: true}}
	if got, why, _ := toolcase.Judge(&recorded, missing, nil); got != toolcase.Pass {
		t.Error(got, why)
	}
	if got, _, _ := toolcase.Judge(&recorded, &tenon.Result{Value: []byte("[]"), Outcome: fits}, nil); got != toolcase.Empty {
		t.Error(got)
	}
	notSent := &tenon.Result{IsError: true, Code: tenon.CodeRequest, Message: "not sent"}
	if got, _, _ := toolcase.Judge(&recorded, notSent, nil); got != toolcase.Failed {
		t.Error("a response that the recording does not have passes")
	}
}

func TestParseSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"- call: a":                                                 "line 1: a file of cases is an object with cases",
		"cases:\n  a: 1":                                            "a file of cases has a list cases",
		"cases:\n  - name: a":                                       "line 2: a case has the name of a tool as call",
		"cases:\n  - call: a\n    argumnts: {}":                     `line 3: a case has no member "argumnts"; did you mean arguments?`,
		"cases:\n  - call: a\n    arguments: [1]":                   "line 3: arguments is an object",
		"cases:\n  - call: a\n    expect: { error: no }":            "line 3: error is one of",
		"cases:\n  - call: a\n    expect: { status: x }":            "line 3: status is a number such as 200",
		"cases:\n  - call: a\n    expect: { values: { title: x } }": "line 3: title is not JSONPath",
		"cases:\n  - call: a\n    expect: { schema: { type: 5 } }":  "line 3: schema: ",
		"cases: [": "line 2: did not find expected node content",
	} {
		if _, err := toolcase.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestDocs reads the cases of docs/testing.md.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	if cases, err := toolcase.Parse([]byte(block)); err != nil || len(cases) != 2 {
		t.Errorf("%d cases, %v", len(cases), err)
	}
}

// FuzzParse: what is read is a tool and an object of arguments, and judging ends.
func FuzzParse(f *testing.F) {
	f.Add("cases: [ { name: a, call: b, arguments: {c: 1}, expect: { error: not_found, verdict: fits, status: 200, values: { $.a: 1 }, schema: { type: object } } } ]")
	f.Add("cases:\n- call: a\n- {}")
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := toolcase.Parse([]byte(text))
		if err != nil {
			return
		}
		for i := range cases {
			c := &cases[i]
			doc, err := rawjson.Parse(c.Args)
			if c.Tool == "" || err != nil || doc.Kind(doc.Root()) != rawjson.Object {
				t.Errorf("%q: the tool %q with %q", text, c.Tool, c.Args)
			}
			got, why, _ := toolcase.Judge(c, &tenon.Result{Value: []byte(`{"a":[1,{"b":2}]}`)}, nil)
			if (got == toolcase.Pass) != (why == "") {
				t.Errorf("%q: %s because of %q", text, got, why)
			}
		}
	})
}

// TestJUnit writes what no XML can have.
func TestJUnit(t *testing.T) {
	a, b := toolcase.Case{Tool: "a<b", Name: "it's \x00 \xff & more"}, toolcase.Case{Tool: "c"}
	text, err := toolcase.JUnit("tenon", []toolcase.Result{
		{Case: &a, Outcome: toolcase.Failed, Why: "one\ntwo \x1b]]>", Duration: 1500 * time.Millisecond}, {Case: &b, Outcome: toolcase.Skipped, Why: "why"}, {Case: &b, Outcome: toolcase.Pass},
	})
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Time    string `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &read); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s := read.Suite
	if s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || len(s.Cases) != 3 {
		t.Fatalf("%s", text)
	}
	first := s.Cases[0]
	if first.Class != "a<b" || first.Name != "it's ? ? & more" || first.Time != "1.500" || first.Failure == nil || first.Failure.Message != "one" || first.Failure.Text != "one\ntwo ?]]>" {
		t.Errorf("%s", text)
	}
	if s.Cases[1].Skipped == nil || s.Cases[1].Name != "case 2" || s.Cases[2].Failure != nil {
		t.Errorf("%s", text)
	}
}
