package clients

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed clients.json
var embedded []byte

// Data are the clients, their rules, and fixes, in the order of the file.
type Data struct {
	Clients []Client `json:"clients"`
	Rules   []Rule   `json:"rules"`
	Fixes   []Fix    `json:"fixes"`
}

// Client is a program, a library or a model API.
type Client struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // product, api or library

	// Shows are the parts of a list that a model gets: name, description, input,
	// output. Results says what it gets of a result.
	Shows   []string `json:"shows"`
	Results string   `json:"results"`

	TextOnly bool   `json:"text_only,omitempty"` // what it shows of results stands in their text
	Through  string `json:"through,omitempty"`   // the client whose rules it has as well: an API that it sends tools to
}

// Severity is what becomes of what breaks a rule.
type Severity string

// The severities, the worst first.
const (
	ServerDies Severity = "server-dies" // nothing of the list can be used
	ToolDies   Severity = "tool-dies"   // the tool cannot be used
	Hidden     Severity = "hidden"      // the model does not see it
	Cut        Severity = "cut"         // the model sees the beginning
	Costs      Severity = "costs"       // it works, and makes something worse
)

func severities() []Severity { return []Severity{ServerDies, ToolDies, Hidden, Cut, Costs} }

// Rank orders severities, the worst first.
func (s Severity) Rank() int { return slices.Index(severities(), s) }

// Fatal reports whether a tool or the whole list cannot be used.
func (s Severity) Fatal() bool { return s == ServerDies || s == ToolDies }

// Rule is what one client demands or does.
type Rule struct {
	ID       string   `json:"id"`
	Client   string   `json:"client"`
	Versions string   `json:"versions,omitempty"` // empty: of all that are known
	Severity Severity `json:"kind"`
	Check    string   `json:"check"` // a name of [Checks]
	Params   Params   `json:"params,omitzero"`
	Effect   string   `json:"effect"` // what happens, as a sentence without its subject
	Fix      string   `json:"fix,omitempty"`
	Sources  []string `json:"sources"`
	Verified string   `json:"verified"` // as 2006-01-02

	check   check
	pattern *regexp.Regexp
}

// Params are the parameters of a check. Which it takes is said in [Checks].
type Params struct {
	Pattern  string   `json:"pattern,omitempty"`
	Prefix   string   `json:"prefix,omitempty"`
	Max      int      `json:"max,omitempty"`
	In       string   `json:"in,omitempty"` // input or output
	Keywords []string `json:"keywords,omitempty"`
	URIs     []string `json:"uris,omitempty"`
}

// Fix is a change that makes tools keep a rule.
type Fix struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Exact bool   `json:"exact"` // every result and every argument that was good is good afterwards, and means the same
	Flag  string `json:"flag,omitempty"`
	Done  bool   `json:"done,omitempty"` // this program publishes its tools so anyway
}

// staleAfter is how long a rule is believed without a word.
const staleAfter = 90 * 24 * time.Hour

// Stale reports whether a rule was not verified within 90 days before now.
func (r *Rule) Stale(now time.Time) bool {
	day, err := time.Parse(time.DateOnly, r.Verified)
	return err != nil || now.Sub(day) > staleAfter
}

// Known are the rules that come with the program. They must not be changed.
func Known() *Data { return known() }

var known = sync.OnceValue(func() *Data { //nolint:gochecknoglobals // read once, and never changed
	d, err := Read(embedded)
	if err != nil {
		panic(err) // a test reads the file
	}
	return d
})

// Read reads rules. Unknown members, names that nothing has and rules without a
// source are errors.
func Read(text []byte) (*Data, error) {
	var d Data
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("rules of clients: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("rules of clients: more follows the object")
	}
	var all []error
	bad := func(what, id, format string, args ...any) {
		all = append(all, fmt.Errorf("%s %q: %s", what, id, fmt.Sprintf(format, args...)))
	}
	seen := map[string]bool{}
	once := func(what, id string) {
		if id == "" || seen[what+id] {
			bad(what, id, "the id is empty or there twice")
		}
		seen[what+id] = true
	}
	for _, c := range d.Clients {
		once("client", c.ID)
		c.problems(&d, func(text string) { bad("client", c.ID, "%s", text) })
	}
	for _, f := range d.Fixes {
		if once("fix", f.ID); f.Text == "" {
			bad("fix", f.ID, "it has no text")
		}
	}
	for i := range d.Rules {
		r := &d.Rules[i]
		once("rule", r.ID)
		if !seen["client"+r.Client] || r.Fix != "" && !seen["fix"+r.Fix] {
			bad("rule", r.ID, "there is no client %q or no fix %q", r.Client, r.Fix)
		}
		r.prepare(func(text string) { bad("rule", r.ID, "%s", text) })
	}
	if all != nil {
		return nil, fmt.Errorf("rules of clients: %w", errors.Join(all...))
	}
	return &d, nil
}

func (c *Client) problems(d *Data, bad func(string)) {
	if c.Through != "" && d.Client(c.Through) == nil {
		bad("there is no client " + c.Through)
	}
	if c.Name == "" || c.Results == "" || !slices.Contains([]string{"product", "api", "library"}, c.Kind) {
		bad("name, kind or results is missing")
	}
	for _, part := range c.Shows {
		if !slices.Contains([]string{"name", "description", "input", "output"}, part) {
			bad("shows has an unknown part " + part)
		}
	}
}

// prepare checks a rule and makes it ready for use.
func (r *Rule) prepare(bad func(string)) {
	c, ok := checks()[r.Check]
	if r.check = c; !ok {
		bad("there is no check " + r.Check)
	}
	if r.Severity.Rank() < 0 {
		bad("there is no kind " + string(r.Severity))
	}
	if r.Effect == "" || len(r.Sources) == 0 {
		bad("effect or sources is missing")
	}
	for _, s := range r.Sources {
		if !strings.HasPrefix(s, "https://") && s != "measured" {
			bad("a source is an https URL or the word measured, not " + s)
		}
	}
	if _, err := time.Parse(time.DateOnly, r.Verified); err != nil {
		bad("verified is no date: " + r.Verified)
	}
	if given := r.Params.given(); ok && !slices.Equal(given, c.takes) {
		bad(fmt.Sprintf("%s takes the parameters %q, not %q", r.Check, c.takes, given))
	}
	if in := r.Params.In; in != "" && in != partInput && in != partOutput {
		bad("in is input or output, not " + in)
	}
	var err error
	if r.pattern, err = regexp.Compile(r.Params.Pattern); err != nil {
		bad("pattern: " + err.Error())
	}
}

// given are the names of the parameters that are set.
func (p *Params) given() (names []string) {
	for _, one := range []struct {
		name string
		set  bool
	}{
		{"in", p.In != ""},
		{"keywords", p.Keywords != nil},
		{"max", p.Max != 0},
		{"pattern", p.Pattern != ""},
		{"prefix", p.Prefix != ""},
		{"uris", p.URIs != nil},
	} {
		if one.set {
			names = append(names, one.name)
		}
	}
	return names
}

// Client is the client with an id; nil: there is none.
func (d *Data) Client(id string) *Client {
	if i := slices.IndexFunc(d.Clients, func(c Client) bool { return c.ID == id }); i >= 0 {
		return &d.Clients[i]
	}
	return nil
}

// Fix is the fix with an id; nil: there is none.
func (d *Data) Fix(id string) *Fix {
	if i := slices.IndexFunc(d.Fixes, func(f Fix) bool { return f.ID == id }); i >= 0 {
		return &d.Fixes[i]
	}
	return nil
}

// Named is the client of that name: its id, or that without -api; nil: there is none.
func (d *Data) Named(name string) *Client {
	if c := d.Client(name); c != nil {
		return c
	}
	return d.Client(name + "-api")
}

// RulesOf are the rules of a client, without those of the API behind it.
func (d *Data) RulesOf(client string) (all []*Rule) {
	for i := range d.Rules {
		if d.Rules[i].Client == client {
			all = append(all, &d.Rules[i])
		}
	}
	return all
}
