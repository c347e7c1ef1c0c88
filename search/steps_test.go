package search

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
)

func TestStems(t *testing.T) {
	for _, same := range [][]string{
		{"create", "creates", "created", "creating"}, {"stop", "stopped", "stopping"}, {"query", "queries"}, {"status"}, {"organization", "organisation"},
	} {
		for _, w := range same {
			if got := stem(w); got != stem(same[0]) {
				t.Errorf("the stem of %s is %s, that of %s is %s", w, got, same[0], stem(same[0]))
			}
		}
	}
	for _, kin := range [][2]string{{"contributor", "contribute"}, {"reviewer", "review"}, {"invitation", "invite"}, {"deletion", "delete"}, {"cancellation", "cancel"}} {
		if a, b := root(stem(kin[0])), root(stem(kin[1])); a != b {
			t.Errorf("the root of %s is %s, that of %s is %s", kin[0], a, kin[1], b)
		}
	}
	if a, b := root(stem("status")), root(stem("state")); a == b {
		t.Errorf("status and state have the root %s", a)
	}
}

func TestPlainTexts(t *testing.T) {
	for _, tt := range []struct{ in, plain, lead string }{
		{`<p>Creates a <a href="/docs/card.html">card</a>.</p>`, " Creates a  card . ", " Creates a  card "},
		{"See [the guide](https://example.com/a_b). Then call.", "See [the guide] . Then call.", "See [the guide] "},
		{"One line\nand another. More.", "One line\nand another. More.", "One line"},
		{"a < b and no end", "a < b and no end", "a < b and no end"},
		{"v1.2 is out", "v1.2 is out", "v1.2 is out"},
	} {
		if got := plain(tt.in); got != tt.plain {
			t.Errorf("plain(%q) = %q, want %q", tt.in, got, tt.plain)
		}
		if got := lead(plain(tt.in)); got != tt.lead {
			t.Errorf("the first sentence of %q is %q, want %q", tt.in, got, tt.lead)
		}
	}
}

func TestIntents(t *testing.T) {
	for query, want := range map[string]intent{
		"who is in this channel":        reads,
		"How many are left?":            reads,
		"give me the numbers":           reads,
		"log two hours":                 adds,
		"get rid of a label":            reads, // the first verb counts; the words do the rest
		"remove the card":               removes,
		"turn it off":                   changes,
		"rate limit":                    unknown,
		"Retrieves a list of customers": reads,
	} {
		if got := intentOf(query); got != want {
			t.Errorf("%q: intent %d, want %d", query, got, want)
		}
	}
	for query, want := range map[string]bool{"which servers": true, "list it": true, "my status": false, "get a server": false} {
		if got := wantsList(query); got != want {
			t.Errorf("%q wants a list: %t, want %t", query, got, want)
		}
	}
}

func TestIntentOfATool(t *testing.T) {
	yes := true
	for _, tt := range []struct {
		tool tenon.Tool
		want intent
	}{
		{tenon.Tool{Name: "share", Title: "Share a file", Annotations: tenon.Annotations{ReadOnly: &yes}}, reads},
		{tenon.Tool{Name: "find", Title: "Search for issues", Confirmation: tenon.ConfirmRule{Action: tenon.CreateResource}}, reads},
		{tenon.Tool{Name: "x", Description: "Deprecated. <p>Deletes a card.</p>"}, removes},
		{tenon.Tool{Name: "x", Title: "Volume", Confirmation: tenon.ConfirmRule{Action: tenon.UpdateResource}}, changes},
		{tenon.Tool{Name: "x", Title: "Volume"}, unknown},
	} {
		if got := textOf(&tt.tool).intent; got != tt.want {
			t.Errorf("%s %q: intent %d, want %d", tt.tool.Title, tt.tool.Description, got, tt.want)
		}
	}
}

func TestValuesAreNamed(t *testing.T) {
	for in, want := range map[string]string{
		"look up anna@example.com":     "look up email",
		"what is in docs/index.md?":    "what is in file",
		"publish v1.2.0":               "publish version",
		"who has 10.0.0.5":             "who has ip",
		"close #42":                    "close ",
		"open https://example.com/a.b": "open url",
		"a record for example.com":     "a record for domain",
		"e.g. one":                     "e.g one",
		"listPullRequests":             "listPullRequests",
	} {
		if got := nameValues(in); got != want {
			t.Errorf("nameValues(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSynonyms(t *testing.T) {
	s := readSynonyms("disk volume # the same\ncar > vehicle\nturn+off > disable\nturn+off+sound > mute & set\nunsubscribe > subscription & cancel\n")
	for asked, want := range map[string]meaning{
		"disk":       {stems: []string{"volum"}},
		"volum":      {stems: []string{"disk"}},
		"car":        {stems: []string{"vehicl"}},
		"vehicl":     {},
		"unsubscrib": {stems: []string{"subscript"}, also: []string{"cancel"}},
	} {
		want.stems = slices.Clone(want.stems)
		if want.stems != nil && asked == "unsubscrib" {
			want.stems[0] = stem("subscription")
		}
		if diff := cmp.Diff(want, s.words[asked], cmp.AllowUnexported(meaning{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", asked, diff)
		}
	}
	for query, want := range map[string]string{"turn it off": "disabl", "turn off the sound": "mut", "turn the page over": ""} {
		stems := []string{}
		for w := range words(query) {
			stems = append(stems, stem(w))
		}
		m, at := s.phraseAt(stems, 0)
		if got := strings.Join(m.stems, " "); got != want || (at == nil) != (want == "") {
			t.Errorf("%q: the phrase means %q at %v, want %q", query, got, at, want)
		}
	}
}

// TestSynonymTable: each line has two sides or two words, and phrases are as
// long as they may be.
func TestSynonymTable(t *testing.T) {
	for line := range strings.Lines(synonymTable) {
		text, _, _ := strings.Cut(line, "#")
		left, right, directed := strings.Cut(text, ">")
		switch n := len(strings.Fields(left)); {
		case strings.TrimSpace(text) == "":
		case directed && (n == 0 || strings.TrimSpace(right) == ""), !directed && n < 2:
			t.Errorf("%q says nothing", line)
		case strings.Contains(right, "+"):
			t.Errorf("%q: a phrase can only be asked for", line)
		}
		for name := range strings.FieldsSeq(left) {
			if strings.Count(name, "+") > 2 {
				t.Errorf("%q: the phrase %s has more than three words", line, name)
			}
		}
	}
}

func TestTerms(t *testing.T) {
	x := newIndex([]text{{name: "pins_remove", body: "Removes a pin."}, {name: "reviewers"}}, readSynonyms("kick > remove\nlog+time > worklog & add"))
	for query, want := range map[string][]map[string]float64{
		"unpin":               {{"unpin": 1, "pin": sameRootWeight}, {"delet": 1, "remov": 1}},
		"the review":          {{"review": 1, "reviewer": sameRootWeight}},
		"kick, kick":          {{"kick": 1, "remov": synonymWeight}},
		"log the time please": {{"worklog": 1}, {"add": 1}},
		"of the":              nil,
	} {
		var got []map[string]float64
		for _, term := range x.read(query) {
			got = append(got, maps.Clone(term.stems))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

// TestRank holds what the order is to be, whatever the constants are.
func TestRank(t *testing.T) {
	texts := []text{
		{name: "a", title: "Delete a branch protection rule", traits: traits{intent: removes}},
		{name: "b", title: "Delete a branch", traits: traits{intent: removes}},
		{name: "c", title: "Get a branch", traits: traits{intent: reads}},
		{name: "d", title: "List branches", traits: traits{intent: reads, list: true}},
		{name: "e", title: "List branches", traits: traits{intent: reads, list: true, deprecated: true}},
		{name: "f", title: "Get a rule", body: "A rule is about a branch."},
	}
	x := newIndex(texts, readSynonyms("twig branch\nerase > delete"))
	for query, want := range map[string]string{
		"delete a branch": "b", "which branches are there": "d", "get branch": "c", "erase twig": "b", "list branches": "d",
	} {
		hits := x.find(query)
		if len(hits) == 0 || texts[hits[0].tool].name != want {
			t.Errorf("%q: first is %v, want %s", query, hits, want)
		}
	}
	if hits := x.find("unrelated"); hits != nil {
		t.Errorf("something was found: %v", hits)
	}
}
