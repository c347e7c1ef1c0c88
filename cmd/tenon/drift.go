package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/evidence"
)

func driftCommand(e env) *cobra.Command {
	d := drift{sources: unasked(onDemand(newSources(slog.LevelError))), now: time.Now}
	d.dry = true // nothing is called
	var asJSON, asSARIF bool
	cmd := &cobra.Command{
		Use:   "drift SPEC...",
		Short: "Show where responses differ from their descriptions",
		Long: `Hold descriptions against evidence: what 'tenon serve' counted of the responses of
their operations. Each cause is one line, however many operations share the
definition, with what is declared and what came instead; then what never came:
operations, responses, and members and elements of those responses that did.

Evidence counts for the schemas and the origin that it was counted for; --base-url
names another one. --baseline FILE names what is known, in YAML:

    known:
      - id: 3f2a9c01de
        reason: prices are texts until v2
        until: 2027-01-31

Exit 1: there is drift that is not known, or not any more. Exit 3: a description or
the evidence cannot be read.`,
		Example: `  tenon drift petstore.yaml
  tenon drift --evidence monday.ndjson --evidence tuesday.ndjson petstore.yaml
  tenon drift --baseline known.yaml --sarif petstore.yaml > drift.sarif`,
		Args: atLeast(1, "drift needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := d.compare(cmd, e, args)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				err = printJSON(e.out, out.json())
			case asSARIF:
				err = printJSON(e.out, out.sarif())
			default:
				err = out.print(e.out)
			}
			if err != nil {
				return err
			}
			return failedIf(out.fails())
		},
	}
	d.register(cmd)
	cmd.Flags().StringArrayVar(&d.ledgers, "evidence", nil, "read this ledger (repeatable: they are merged; default: the one that serve keeps in the user's cache folder)")
	cmd.Flags().StringVar(&d.baseline, "baseline", "", "what is known: a YAML file with id, reason and until of each")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all of it as JSON")
	cmd.Flags().BoolVar(&asSARIF, "sarif", false, "print SARIF 2.1.0, which code hosts show beside the description")
	cmd.MarkFlagsMutuallyExclusive("json", "sarif")
	return cmd
}

// drift is what is compared.
type drift struct {
	sources

	ledgers  []string
	baseline string
	now      func() time.Time
}

// driftReport is the result of a comparison.
type driftReport struct {
	*evidence.Comparison

	files   []string
	known   map[string]*knownDrift // by id
	dropped int64
	future  bool // a clock was ahead
	verbose bool
	tools   int
}

func (d *drift) compare(cmd *cobra.Command, e env, args []string) (*driftReport, error) {
	known, err := readBaseline(d.baseline, d.now())
	if err != nil {
		return nil, err
	}
	l, files, err := readLedgers(e, d.ledgers)
	if err != nil {
		return nil, err
	}
	verbose := d.config.Verbose
	d.config.ToolsMode = "list"
	w, err := d.connect(cmd.Context(), e, args)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	all := describedOf(w)
	counts := l.Sum()
	out := &driftReport{Comparison: evidence.Compare(counts, all), files: files, known: known, dropped: l.Dropped(), verbose: verbose, tools: len(all)}
	for _, c := range counts {
		out.future = out.future || c.Last.After(d.now().Add(time.Hour))
	}
	return out, nil
}

// describedOf are the operations of an app.
func describedOf(w *app.App) (all []evidence.Described) {
	for _, t := range w.Gateway.Catalog().Tools() {
		if t.BuiltIn() || t.Source() == "" {
			continue
		}
		origin := t.Tool().Origin
		all = append(all, evidence.Described{Operation: app.EvidenceOf(t), Source: t.Source(), Tool: t.Name(), File: origin.File, Line: origin.Line, DefinitionAt: t.Tool().DefinitionAt})
	}
	return all
}

// readLedgers merges ledgers; without any it reads the one of the cache folder.
func readLedgers(e env, files []string) (*evidence.Ledger, []string, error) {
	if files == nil {
		dir := e.cacheDir()
		if dir == "" {
			return nil, nil, usagef("there is no cache folder where serve could have kept evidence; --evidence FILE names a ledger")
		}
		files = []string{app.EvidenceFile(dir)}
	}
	all := evidence.New()
	for _, name := range files {
		l, err := evidence.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "there is no evidence at " + name + "; 'tenon serve' counts it, and --evidence FILE names another place", Err: err}
		}
		if err != nil {
			return nil, nil, &tenon.Error{Code: tenon.CodeBadSource, Message: err.Error()}
		}
		all.Merge(l)
	}
	return all, files, nil
}

// fails reports whether there is drift that is not known.
func (x *driftReport) fails() bool {
	return slices.ContainsFunc(x.Drifts, func(f evidence.Drift) bool { return !x.isKnown(&f) })
}

func (x *driftReport) isKnown(f *evidence.Drift) bool {
	k := x.known[f.ID]
	return k != nil && !k.expired
}

const (
	maxDriftShown  = 60 // runes of a column
	maxUnseenShown = 10
)

// print prints a table for people.
func (x *driftReport) print(out io.Writer) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(x.Drifts) > 0 {
		fmt.Fprint(tw, "ID\tOPERATION\tWHERE\tDECLARED\tSEEN\tRESPONSES\tSINCE\n")
	}
	for i := range x.Drifts {
		f := &x.Drifts[i]
		of := int64(0)
		for _, p := range f.Places {
			of += p.Of
		}
		mark := ""
		switch k := x.known[f.ID]; {
		case k != nil && k.expired:
			mark = "  (known until " + k.Until + ")"
		case k != nil:
			mark = "  (known: " + k.Reason + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d of %d\t%s%s\n", f.ID, shortly(operationsOf(f)), shortly(whereOf(f)), shortly(f.Declared), shortly(f.Seen), f.Count, of, day(f.First), onlyPrinting(mark))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return x.printSummary(out)
}

func (x *driftReport) printSummary(out io.Writer) error {
	called := 0
	var never []string
	for _, s := range x.Tools {
		if s.Calls > 0 {
			called++
		}
	}
	for _, u := range x.Unseen {
		if u.Status == "" && u.MediaType == "" {
			never = append(never, u.Described.Tool)
		} else {
			never = append(never, fmt.Sprintf("%s %s", u.Described.Tool, strings.TrimSpace(u.Status+" "+u.MediaType)))
		}
	}
	if len(x.Drifts) > 0 {
		fmt.Fprintln(out)
	}
	known := 0
	for i := range x.Drifts {
		if x.isKnown(&x.Drifts[i]) {
			known++
		}
	}
	fmt.Fprintf(out, "%s differ, %d of them known; %s\n", count(len(x.Drifts), "place"), known, count(int(x.Calls), "response"))
	fmt.Fprintf(out, "called: %d of %s; came: %d of %s\n", called, count(x.tools, "operation"), x.Came, count(x.Responses, "declared response"))
	x.printNames(out, "never came", never)
	if x.Places > 0 {
		fmt.Fprintf(out, "members and elements of the responses that came: %d of %s\n", x.Places-len(x.Missing), count(x.Places, "place"))
	}
	var missing []string
	for _, m := range x.Missing {
		missing = append(missing, missingName(&m))
	}
	x.printNames(out, "never in one", missing)
	var learned []string
	for _, l := range x.Learned {
		m := evidence.Missing{Described: l.Described, Status: l.Status, MediaType: l.MediaType, Pointer: l.Pointer}
		learned = append(learned, fmt.Sprintf("%s (%s, in %d)", missingName(&m), l.Kind, l.Count))
	}
	x.printNames(out, "not declared", learned)
	if x.Earlier > 0 {
		fmt.Fprintf(out, "%s known by other schemas or another origin alone, which does not count\n", count(x.Earlier, "operation"))
	}
	if x.dropped > 0 {
		fmt.Fprintf(out, "%s came faster than they could be counted\n", count(int(x.dropped), "response"))
	}
	if x.future {
		fmt.Fprintln(out, "some times are in the future: a clock was ahead, or this one is behind")
	}
	return nil
}

// printNames prints the first of many names, and all with --verbose.
func (x *driftReport) printNames(out io.Writer, what string, names []string) {
	if len(names) == 0 {
		return
	}
	shown := names
	if !x.verbose {
		shown = names[:min(len(names), maxUnseenShown)]
	}
	text := what + ": " + onlyPrinting(strings.Join(shown, ", "))
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more (--verbose lists them)", more)
	}
	fmt.Fprintln(out, text)
}

// missingName is a place that never came: of a definition, or of one response.
func missingName(m *evidence.Missing) string {
	if of, ok := strings.CutPrefix(m.Pointer, "/$defs/"); ok {
		return of
	}
	return strings.TrimSpace(m.Described.Tool + " " + m.Status + " " + m.Pointer)
}

// operationsOf names the first operation, and how many others there are.
func operationsOf(f *evidence.Drift) string {
	first := f.Places[0].Described.Tool
	others := map[string]bool{}
	for _, p := range f.Places {
		others[p.Described.Tool] = true
	}
	if n := len(others) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", first, n)
	}
	return first
}

// whereOf is the place of drift: a definition, or a place in one response.
func whereOf(f *evidence.Drift) string {
	if of, ok := strings.CutPrefix(f.Pointer, "/$defs/"); ok {
		return of
	}
	p := f.Places[0]
	return strings.TrimSpace(cmp.Or(p.Status, "-") + " " + p.MediaType + " " + f.Pointer)
}

func shortly(text string) string {
	text = onlyPrinting(text)
	if r := []rune(text); len(r) > maxDriftShown {
		return "…" + string(r[len(r)-maxDriftShown+1:])
	}
	return text
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.DateOnly)
}
