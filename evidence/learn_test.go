package evidence

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

const bookSchema = `{"type":"object","properties":{"id":{},"author":{"allOf":[{"properties":{"name":{}}},{"properties":{"born":{}}}]},"prices":{"type":"object","additionalProperties":{"type":"number"}},"any":{"type":"object"}}}`

// learnedFrom is what a ledger keeps of responses, each from a subject: "ann: {…}".
func learnedFrom(t interface{ Fatal(...any) }, dir string, learn bool, responses []string) (names []string, ledger string) {
	d := Described{Operation: Operation{Name: "get", Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(bookSchema)}}}, Tool: "get"}
	against, err := schema.Compile([]byte(bookSchema), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger")
	r, err := Open(Options{Path: path, Learn: learn, Describe: func(any) Operation { return d.Operation }})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range responses {
		subject, body, _ := strings.Cut(one, ": ")
		r.Observe(&Observation{Tool: "get", Declared: true, Status: "200", MediaType: "application/json", Verdict: tenon.Fits, Against: against, Subject: tenon.Subject(subject), Body: []byte(body)})
		if err := r.Flush(); err != nil { // so that each is looked into
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := Compare(l.Sum(), []Described{d})
	if len(x.Drifts) > 0 {
		t.Fatal("what is allowed is no drift: ", x.Drifts)
	}
	for _, n := range x.Learned {
		names = append(names, fmt.Sprintf("%s %s %d", n.Pointer, n.Kind, n.Count))
	}
	var b strings.Builder
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	return names, b.String()
}

func TestLearn(t *testing.T) {
	many := []string{
		`ann: {"id":1,"shelf":"A"}`, `bob: {"id":1,"shelf":"B","author":{"name":"x","born":1,"died":2}}`, `ann: {"shelf":"C","author":{"died":1}}`, `ann: {"shelf":"D"}`, `bob: {"author":{"died":1}}`,
	}
	for _, c := range []struct {
		name      string
		off       bool
		responses []string
		want      string
	}{
		{name: "names that two callers met", responses: many, want: "/properties/shelf string 4|/properties/author/properties/died number 3"},
		{name: "nobody asked", off: true, responses: many},
		{name: "one caller", responses: []string{`ann: {"shelf":1}`, `ann: {"shelf":1}`, `ann: {"shelf":1}`, `ann: {"shelf":1}`}},
		{name: "two responses", responses: []string{`ann: {"shelf":1}`, `bob: {"shelf":1}`}},
		{name: "maps", responses: []string{`ann: {"prices":{"euro":1},"any":{"anything":1}}`, `bob: {"prices":{"euro":1},"any":{"anything":1}}`, `cyd: {"prices":{"euro":1},"any":{"anything":1}}`}},
		{name: "values", responses: []string{`ann: {"a@b.example":1,"x2024":1,"a.b":1}`, `bob: {"a@b.example":1,"x2024":1,"a.b":1}`, `cyd: {"a@b.example":1,"x2024":1,"a.b":1}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := learnedFrom(t, t.TempDir(), !c.off, c.responses); strings.Join(got, "|") != c.want {
				t.Errorf("got %q, want %s", got, c.want)
			}
		})
	}
}

// TestManyNames: names that are learnt are no drift, however many there are, and a
// violation that comes after them keeps its place.
func TestManyNames(t *testing.T) {
	f, err := OpenFile(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	key := Key{Schema: strings.Repeat("0", 24), Operation: "get", Status: "200"}
	counts := map[Key]*Counts{}
	for i := range 300 {
		k := key
		k.Pointer, k.Keyword, k.Kind = fmt.Sprintf("/properties/name%03d", i), Undeclared, "string"
		counts[k] = &Counts{Calls: 3}
	}
	wrong := key
	wrong.Pointer, wrong.Keyword, wrong.Kind = "/properties/price", "type", "string"
	for _, added := range []map[Key]*Counts{counts, counts, {wrong: {Calls: 1}}} {
		if err := f.Add(added, 0); err != nil {
			t.Fatal(err)
		}
	}
	l, err := ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for k, c := range l.Sum() {
		switch {
		case k == wrong && c.Calls == 1:
		case k.Keyword == Undeclared && c.Calls == 6:
			names++
		default:
			t.Errorf("%+v: %d", k, c.Calls)
		}
	}
	if names != 64 {
		t.Errorf("%d names", names)
	}
}

// TestNoNameOfOneCaller: whatever comes, a name that one caller alone met, or fewer than
// three responses had, is not in the ledger.
func TestNoNameOfOneCaller(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"canary_a", "canary_b", "canary_c"}
		count, subjects := map[string]int{}, map[string]map[string]bool{}
		var responses []string
		for range rapid.IntRange(1, 12).Draw(t, "responses") {
			subject := rapid.SampledFrom([]string{"", "ann", "bob", "cyd"}).Draw(t, "subject")
			name := rapid.SampledFrom(names).Draw(t, "name")
			if subject != "" {
				if count[name]++; subjects[name] == nil {
					subjects[name] = map[string]bool{}
				}
				subjects[name][subject] = true
			}
			responses = append(responses, subject+`: {"id":1,"`+name+`":1}`)
		}
		n++
		learn := rapid.Bool().Draw(t, "learn")
		_, ledger := learnedFrom(t, filepath.Join(dir, fmt.Sprint(n)), learn, responses)
		for _, name := range names {
			if want := learn && count[name] >= 3 && len(subjects[name]) >= 2; strings.Contains(ledger, name) != want {
				t.Fatalf("%s is there: %t, after %q", name, !want, responses)
			}
		}
	})
}
