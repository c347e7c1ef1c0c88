package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/clients"
)

// The bounds of what is printed of a server that may be a stranger's.
const (
	maxHeavyShown   = 3   // the heaviest tools
	maxNameShown    = 80  // characters
	maxPointerShown = 160 // characters
)

// examination is what doctor found.
type examination struct {
	*examined

	rep  *clients.Report
	each bool // name every tool
}

// cause is a finding that several clients share.
type cause struct {
	clients.Finding

	names []string // of clients
}

// causes are the findings of all clients, the worst first, and of these those of
// most tools. What several clients say in the same words is one cause.
func (x *examination) causes() (all []*cause) {
	for _, v := range x.rep.Verdicts {
		for _, f := range v.Findings {
			same := func(c *cause) bool {
				return c.Rule.Severity == f.Rule.Severity && c.Rule.Effect == f.Rule.Effect && c.Rule.Versions == f.Rule.Versions && len(c.Places) == len(f.Places) && c.Places[0] == f.Places[0]
			}
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].names = append(all[i].names, v.Client.Name)
				continue
			}
			all = append(all, &cause{f, []string{v.Client.Name}})
		}
	}
	slices.SortStableFunc(all, func(a, b *cause) int {
		return cmp.Or(cmp.Compare(a.Rule.Severity.Rank(), b.Rule.Severity.Rank()), cmp.Compare(len(b.Places), len(a.Places)))
	})
	return all
}

func (x *examination) print(w io.Writer) error {
	if x.gains != nil {
		if err := x.gains(x); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %s, about %s tokens\n", x.what, count(x.rep.Tools, "tool"), roughly(x.rep.Weight.List))
	all := x.causes()
	section := ""
	for _, c := range all {
		if title := sectionOf(c.Rule.Severity); title != section {
			section = title
			fmt.Fprintf(w, "\n%s\n", title)
		}
		x.printCause(w, c)
	}
	x.printCosts(w, section)
	var fine []string
	for _, v := range x.rep.Verdicts {
		if v.Findings == nil {
			fine = append(fine, v.Client.Name)
		}
	}
	fmt.Fprintln(w)
	if fine != nil {
		fmt.Fprintf(w, "Nothing found for %s.\n", strings.Join(fine, ", "))
	}
	if n := len(x.rep.Stale); n > 0 {
		fmt.Fprintf(w, "Not verified for 90 days: %s, the oldest on %s; clients may do otherwise by now.\n", count(n, "rule"), oldest(x.rep.Stale))
	}
	return nil
}

func oldest(rules []*clients.Rule) string {
	return slices.MinFunc(rules, func(a, b *clients.Rule) int { return cmp.Compare(a.Verified, b.Verified) }).Verified
}

const sectionCosts = "COSTS"

func sectionOf(s clients.Severity) string {
	switch s {
	case clients.ServerDies, clients.ToolDies:
		return "WILL NOT LOAD"
	case clients.Hidden, clients.Cut:
		return "THE MODEL WILL NOT SEE"
	case clients.Costs:
	}
	return sectionCosts
}

func (x *examination) printCause(w io.Writer, c *cause) {
	fmt.Fprintf(w, "  %s: %s", strings.Join(c.names, ", "), x.effect(c.Rule))
	if c.Rule.Versions != "" {
		fmt.Fprintf(w, " (%s)", c.Rule.Versions)
	}
	fmt.Fprintln(w)
	first := c.Places[0]
	switch {
	case first.Tool == "" && first.Pointer == "/tools":
		fmt.Fprintf(w, "    %s are listed\n", count(x.rep.Tools, "tool"))
	case first.Tool == "" && first.Pointer == "/nextCursor":
		fmt.Fprintf(w, "    the list has %s\n", count(x.rep.Pages, "page"))
	case first.Tool == "":
		fmt.Fprintf(w, "    at %s of the server\n", onlyPrinting(clip(first.Pointer, maxPointerShown)))
	case x.each:
		for _, p := range c.Places {
			fmt.Fprintf(w, "    %s\n", shownPlace(p))
		}
	default:
		of := "of " + count(x.rep.Tools, "tool")
		if len(c.Places) == x.rep.Tools && x.rep.Tools > 1 {
			of = "all " + count(x.rep.Tools, "tool")
		} else {
			of = fmt.Sprint(len(c.Places)) + " " + of
		}
		fmt.Fprintf(w, "    %s, e.g. %s\n", of, shownPlace(first))
	}
	switch {
	case c.Fix == nil:
		return
	case c.Fix.Done && x.ours:
		fmt.Fprintf(w, "    tenon does what helps: %s\n", c.Fix.Text)
		return
	}
	fmt.Fprintf(w, "    fix: %s", c.Fix.Text)
	if c.Fix.Flag != "" && x.ours {
		fmt.Fprintf(w, ": %s", strings.ReplaceAll(c.Fix.Flag, "--for CLIENT", "--for "+c.Rule.Client))
	}
	fmt.Fprintln(w)
}

// effect is what a rule says, with the name of the server where it matters.
func (x *examination) effect(r *clients.Rule) string {
	return strings.ReplaceAll(r.Effect, "SERVER", onlyPrinting(clip(x.list.Server, maxNameShown)))
}

func shownPlace(p clients.Place) string {
	text := onlyPrinting(clip(p.Tool, maxNameShown)) + " at " + onlyPrinting(clip(p.Pointer, maxPointerShown))
	if p.More > 0 {
		text += fmt.Sprintf(" and %d more", p.More)
	}
	return text
}

// printCosts says what the parts weigh, and what of them each client shows.
func (x *examination) printCosts(w io.Writer, section string) {
	if section != sectionCosts {
		fmt.Fprintf(w, "\n%s\n", sectionCosts)
	}
	weight := x.rep.Weight
	fmt.Fprintf(w, "  Tokens (%s): names %s, descriptions %s, input schemas %s, output schemas %s\n",
		clients.Tokenizer, roughly(weight.Names), roughly(weight.Descriptions), roughly(weight.Inputs), roughly(weight.Outputs))
	shown := map[string][]string{}
	var order []string
	for _, v := range x.rep.Verdicts {
		key := strings.Join(v.Client.Shows, " ")
		if shown[key] == nil {
			order = append(order, key)
		}
		shown[key] = append(shown[key], v.Client.Name)
	}
	for _, key := range order {
		for _, v := range x.rep.Verdicts {
			if strings.Join(v.Client.Shows, " ") == key {
				fmt.Fprintf(w, "  about %s in %s\n", roughly(v.Tokens), strings.Join(shown[key], ", "))
				break
			}
		}
	}
	var heavy []string
	for _, h := range x.rep.Heaviest[:min(len(x.rep.Heaviest), maxHeavyShown)] {
		heavy = append(heavy, fmt.Sprintf("%s %s", onlyPrinting(clip(h.Tool, maxNameShown)), roughly(h.Tokens)))
	}
	if heavy != nil {
		fmt.Fprintf(w, "  heaviest: %s\n", strings.Join(heavy, ", "))
	}
}

// roughly is an estimate: two digits, more would be a lie.
func roughly(n int) string { return thousands(rounded(n)) }

// availabilityOf prints why tools of schema files are not served.
func availabilityOf(e env, all []flowmcp.Availability, prompts int, diagnostics []tenon.Diagnostic) func(*examination) error {
	return func(x *examination) error {
		fmt.Fprintf(e.out, "%d of %s are served, %s\n", served(all), count(len(all), "tool"), count(prompts, "prompt"))
		printGains(e.out, all, x.each)
		if x.each {
			printEach(e.out, diagnostics)
			return nil
		}
		summarize(e.out, slices.DeleteFunc(slices.Clone(diagnostics), func(f tenon.Diagnostic) bool {
			return f.Kind == "key" || strings.HasPrefix(f.Kind, "library ") // it is told
		}))
		return nil
	}
}

// doctorReport is the report of doctor.
type doctorReport struct {
	File         string         `json:"file"`
	Tools        int            `json:"tool_count"`
	Tokenizer    string         `json:"tokenizer"`
	Tokens       int            `json:"token_count"`
	Names        int            `json:"name_token_count"`
	Descriptions int            `json:"description_token_count"`
	Inputs       int            `json:"input_token_count"`
	Outputs      int            `json:"output_token_count"`
	Clients      []clientReport `json:"clients"`
	Stale        []string       `json:"stale_rules"`
	Schema       *diagnosis     `json:"availability,omitempty"`
}

// clientReport is what doctor says of one client.
type clientReport struct {
	Client string        `json:"client"`
	Title  string        `json:"title"`
	Loads  bool          `json:"loads"`
	Tokens int           `json:"token_count"`
	Issues []clientIssue `json:"issues"`
}

type clientIssue struct {
	Message  string      `json:"message"`
	Type     string      `json:"type"`
	Kind     string      `json:"kind"`
	Rule     string      `json:"rule"`
	Versions string      `json:"versions,omitempty"`
	Do       string      `json:"suggestion,omitempty"`
	Exact    bool        `json:"exact"`
	Flag     string      `json:"flag,omitempty"`
	Links    []string    `json:"links"`
	Verified string      `json:"verified"`
	Places   []placeJSON `json:"places"`
	Count    int         `json:"place_count"`
}

type placeJSON struct {
	Name    string `json:"name,omitempty"`
	Pointer string `json:"pointer"`
	More    int    `json:"more_count,omitempty"`
}

func (x *examination) json() doctorReport {
	weight := x.rep.Weight
	r := doctorReport{
		File: x.what, Tools: x.rep.Tools, Tokenizer: clients.Tokenizer, Tokens: weight.List, Names: weight.Names, Descriptions: weight.Descriptions,
		Inputs: weight.Inputs, Outputs: weight.Outputs, Clients: []clientReport{}, Stale: []string{}, Schema: x.schema,
	}
	for _, rule := range x.rep.Stale {
		r.Stale = append(r.Stale, rule.ID)
	}
	for _, v := range x.rep.Verdicts {
		c := clientReport{Client: v.Client.ID, Title: v.Client.Name, Loads: !v.Fails(), Tokens: v.Tokens, Issues: []clientIssue{}}
		for _, f := range v.Findings {
			c.Issues = append(c.Issues, x.issue(&f))
		}
		r.Clients = append(r.Clients, c)
	}
	return r
}

func (x *examination) issue(f *clients.Finding) clientIssue {
	one := clientIssue{
		Message: x.effect(f.Rule), Type: "warning", Kind: string(f.Rule.Severity), Rule: f.Rule.ID, Versions: f.Rule.Versions,
		Links: []string{}, Verified: f.Rule.Verified, Count: len(f.Places),
	}
	switch {
	case f.Rule.Severity.Fatal():
		one.Type = "error"
	case f.Rule.Severity == clients.Costs:
		one.Type = "info"
	}
	for _, s := range f.Rule.Sources {
		if strings.HasPrefix(s, "https://") {
			one.Links = append(one.Links, s)
		}
	}
	if f.Fix != nil && (!f.Fix.Done || !x.ours) {
		if one.Do, one.Exact = f.Fix.Text, f.Fix.Exact; x.ours {
			one.Flag = f.Fix.Flag
		}
	}
	for _, p := range f.Places {
		one.Places = append(one.Places, placeJSON{p.Tool, p.Pointer, p.More})
	}
	return one
}
