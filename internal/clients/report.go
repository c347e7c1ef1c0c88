package clients

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// List is what a client gets of a server.
type List struct {
	Server       string // as its user names it; rules about names with a prefix need it
	Instructions string
	Pages        int // requests for the whole list
	Tools        []Tool
}

// Tool is a tool as it is listed.
type Tool struct {
	Name, Title, Description string
	Input, Output            json.RawMessage
	Size                     int // bytes in the list
}

// shown is what a tool without a name is called: its place in the list.
func (t *Tool) shown(i int) string {
	if t.Name == "" {
		return "#" + strconv.Itoa(i+1)
	}
	return t.Name
}

// Place is where a rule is broken.
type Place struct {
	Tool    string // empty: it is the list
	Pointer string // into the tool, or into the list
	More    int    // further places in the same tool
}

// Finding is a rule that is broken.
type Finding struct {
	Rule   *Rule
	Fix    *Fix // nil: nothing is known that helps
	Places []Place
}

// Weight is about how many tokens the parts of a list take.
type Weight struct {
	List, Names, Descriptions, Inputs, Outputs int
}

// Verdict is what is said of one client.
type Verdict struct {
	Client   *Client
	Tokens   int // of the parts that it shows to a model
	Findings []Finding
}

// Fails reports whether the client cannot use a tool, or none at all.
func (v *Verdict) Fails() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Rule.Severity.Fatal() })
}

// Report is what the rules say of a list.
type Report struct {
	Tools    int
	Weight   Weight
	Heaviest []Heavy // tools, the heaviest first
	Verdicts []Verdict
	Stale    []*Rule // of those that were asked: not verified for 90 days
	Pages    int
}

// Heavy is a tool and about how many tokens it takes.
type Heavy struct {
	Tool   string
	Tokens int
}

// Examine holds a list against the rules of some clients. Findings are sorted: the
// worst first, then those of most tools.
func (d *Data) Examine(l *List, clients []*Client, now time.Time) *Report {
	rep := &Report{Tools: len(l.Tools), Pages: l.Pages}
	var rules []*Rule
	for _, c := range clients {
		rules = append(rules, d.RulesOf(c.ID)...)
	}
	for _, r := range rules {
		if r.Stale(now) {
			rep.Stale = append(rep.Stale, r)
		}
	}
	places := rep.look(l, rules)
	slices.SortStableFunc(rep.Heaviest, func(a, b Heavy) int { return cmp.Compare(b.Tokens, a.Tokens) })
	i := 0
	for _, c := range clients {
		v := Verdict{Client: c, Tokens: rep.Weight.of(c)}
		for range d.RulesOf(c.ID) {
			if places[i] != nil {
				v.Findings = append(v.Findings, Finding{rules[i], d.Fix(rules[i].Fix), places[i]})
			}
			i++
		}
		slices.SortStableFunc(v.Findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Rule.Severity.Rank(), b.Rule.Severity.Rank()), cmp.Compare(len(b.Places), len(a.Places)))
		})
		rep.Verdicts = append(rep.Verdicts, v)
	}
	return rep
}

// look holds the list and each tool against rules, and returns what breaks each.
func (rep *Report) look(l *List, rules []*Rule) [][]Place {
	places := make([][]Place, len(rules))
	for i, r := range rules {
		for _, pointer := range r.BrokenByList(l) {
			places[i] = append(places[i], Place{Pointer: pointer})
		}
	}
	for n := range l.Tools {
		one := &l.Tools[n]
		rep.weigh(one, n)
		// Schemas are read once for all rules, and not kept: lists can be large.
		t := prepare(l.Server, one)
		for i, r := range rules {
			if hits := r.broken(t); hits != nil {
				places[i] = append(places[i], Place{one.shown(n), hits[0], len(hits) - 1})
			}
		}
	}
	return places
}

// broken are the places of one tool that break a rule.
func (r *Rule) broken(t *prepared) (hits []string) {
	if r.check.tool != nil {
		r.check.tool(r, t, func(pointer string) { hits = append(hits, pointer) })
	}
	return hits
}

// Broken are the places of a tool that break a rule, as JSON Pointers into the
// tool; nil: it keeps the rule.
func (r *Rule) Broken(server string, t *Tool) []string { return r.broken(prepare(server, t)) }

// BrokenByList reports where a list as a whole breaks a rule.
func (r *Rule) BrokenByList(l *List) (hits []string) {
	if r.check.list != nil {
		r.check.list(r, l, func(pointer string) { hits = append(hits, pointer) })
	}
	return hits
}

func (rep *Report) weigh(t *Tool, i int) {
	name, description, input, output := Tokens(t.Name), Tokens(t.Description), Tokens(t.Input), Tokens(t.Output)
	w := &rep.Weight
	w.Names += name
	w.Descriptions += description
	w.Inputs += input
	w.Outputs += output
	all := name + description + input + output
	// What else there is: titles, annotations, names of members.
	rest := t.Size - len(t.Name) - len(t.Description) - len(t.Input) - len(t.Output)
	all += max(rest, 0) / bytesPerToken
	w.List += all
	rep.Heaviest = append(rep.Heaviest, Heavy{t.shown(i), all})
}

// bytesPerToken is the rule of thumb for JSON in English.
const bytesPerToken = 4

// of is the weight of what a client shows to a model.
func (w *Weight) of(c *Client) (n int) {
	for _, part := range c.Shows {
		n += map[string]int{"name": w.Names, "description": w.Descriptions, partInput: w.Inputs, partOutput: w.Outputs}[part]
	}
	return n
}

// ServerName is a name as clients make it part of names of tools: what is no
// letter, digit, hyphen or underscore becomes an underscore.
func ServerName(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, text)
}
