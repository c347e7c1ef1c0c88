package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/toolcase"
	"github.com/tenon-mcp/tenon/recording"
)

// testRun runs test cases of tools.
type testRun struct {
	sources

	cassette string
	files    []string // of cases
	only     []string
	policy   string
	unsafe   bool
	junit    string
	asJSON   bool
	delay    time.Duration
	all      bool
}

// testCase is a case with what its run needs.
type testCase struct {
	toolcase.Case

	names     []string             // under which --case finds it
	exchanges []recording.Exchange // its own; nil: it has none
	recorded  bool
	why       string // it cannot run; empty: it can
}

func testCommand(e env) *cobra.Command {
	r := testRun{sources: typedCall(newSources(slog.LevelError))}
	cmd := &cobra.Command{
		Use:   "test SPEC...",
		Short: "Run test cases of tools, live or from a recording",
		Long: `Run test cases through everything that a client's call passes: validation of
arguments, the request, validation of the response. A case fails if its call fails
or its response violates the schema of its tool, unless the case expects that.

Cases are, in this order, the calls of a recording (--cassette) and those of files
(--cases); else what the description has itself: the tests of schema files, the
examples of OpenAPI documents. With --cassette requests are answered from the
recording, and nothing is sent. --as-policy asks how many responses would fail under
another policy, and where.

Without a recording cases are called live, those of tools that can change something
only with --unsafe. Exit 1: a case failed or could not run, or there was none.
docs/testing.md shows files of cases.`,
		Example: `  tenon test petstore.yaml
  tenon test --record calls.ndjson --cases cases.yaml petstore.yaml
  tenon test --cassette calls.ndjson --as-policy enforce petstore.yaml
  tenon test --cassette calls.ndjson --cases cases.yaml --junit report.xml petstore.yaml`,
		Args: atLeast(1, "test needs a SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), e, args, cmd.Flags().Changed("delay"))
		},
	}
	r.register(cmd)
	registerNamed(cmd, r.config, "record", "record-redact")
	fs := cmd.Flags()
	fs.StringVar(&r.cassette, "cassette", "", "take cases and responses from this recording: a directory, an .ndjson file or a HAR")
	fs.StringArrayVar(&r.files, "cases", nil, "run the cases in this YAML file (repeatable)")
	fs.StringArrayVar(&r.only, "case", nil, "run only cases of tools whose name or full name matches this pattern, * for any text (repeatable)")
	fs.StringVar(&r.policy, "as-policy", "", "run all cases under this policy and say where responses would fail: enforce or repair")
	fs.BoolVar(&r.unsafe, "unsafe", false, "also call tools live that can change something")
	fs.StringVar(&r.junit, "junit", "", "write a report in JUnit XML to this file")
	fs.BoolVar(&r.asJSON, "json", false, "print the outcomes as JSON")
	fs.BoolVar(&r.all, "all", false, "print cases that pass, too")
	fs.DurationVar(&r.delay, "delay", 0, "delay between two live cases (default: 1s for schema files)")
	takes(cmd, "as-policy", "enforce", "repair")
	cmd.MarkFlagsMutuallyExclusive("record", "cassette")
	return cmd
}

func (r *testRun) run(ctx context.Context, e env, specs []string, delayed bool) error {
	var calls []recording.Call
	if r.cassette != "" {
		var err error
		if calls, err = recording.Load(r.cassette); err != nil {
			return usagef("--cassette %s: %v", r.cassette, err)
		}
		r.player = recording.NewPlayer(recording.Exchanges(calls))
	}
	if r.policy != "" {
		r.config.Defaults.Policy = app.PerTool{All: r.policy}
	}
	written, err := r.written()
	if err != nil {
		return err
	}
	r.config.Defaults.NoCache = true
	w, err := r.connect(ctx, e, specs)
	if err != nil {
		return err
	}
	defer w.Close()
	cases := r.chosen(append(recordedCases(w, calls), written...))
	if r.files == nil && len(cases) == 0 {
		cases = r.chosen(describedCases(w))
	}
	if !delayed && casesIn(w) != nil {
		r.delay = time.Second
	}
	results, err := r.each(ctx, e, w, cases)
	if err != nil {
		return err
	}
	return r.report(e, w, results)
}

// written are the cases of files.
func (r *testRun) written() (all []testCase, err error) {
	for _, file := range r.files {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names it
		if err != nil {
			return nil, usagef("--cases %v", strings.TrimPrefix(err.Error(), "open "))
		}
		cases, err := toolcase.Parse(text)
		if err != nil {
			return nil, usagef("--cases %s: %v", file, err)
		}
		for _, c := range cases {
			all = append(all, testCase{Case: c})
		}
	}
	return all, nil
}

// recordedCases are the calls of a recording. What failed at the upstream may fail
// again.
func recordedCases(w *app.App, calls []recording.Call) (all []testCase) {
	for i := range calls {
		c := &calls[i]
		if c.Tool == "" {
			continue
		}
		one := testCase{Case: toolcase.Case{Name: fmt.Sprintf("recorded call %d", i+1), Tool: c.Tool, Args: c.Arguments, Expect: toolcase.Expect{Failure: true}}, exchanges: c.Exchanges, recorded: true}
		if w.Gateway.Catalog().Find(c.Tool) == nil {
			one.why = "there is no tool " + c.Tool + " here; the recording is of " + cmp.Or(c.Source, "another description")
		}
		all = append(all, one)
	}
	return all
}

// describedCases are the tests of schema files and the examples of documents.
func describedCases(w *app.App) (all []testCase) {
	for _, c := range casesIn(w) {
		one := testCase{Case: toolcase.Case{Name: c.Description, Tool: c.Tool, Args: c.Args, Expect: toolcase.Expect{NotNull: true}}, names: []string{c.ID, c.Route}}
		if c.Reason != "" {
			one.why = "its tool is not served: " + c.Reason
		}
		all = append(all, one)
	}
	for _, t := range w.Gateway.Catalog().Tools() {
		from, ok := t.Tool().Contract.(interface{ ExampleArguments() []byte })
		if !ok {
			continue
		}
		if args := from.ExampleArguments(); args != nil {
			all = append(all, testCase{Case: toolcase.Case{Name: "example of the document", Tool: t.Name(), Args: args}})
		}
	}
	return all
}

func casesIn(w *app.App) []flowmcp.TestCase {
	var all []flowmcp.TestCase
	for _, source := range w.Sources() {
		if s, ok := source.Source.(*flowmcp.Source); ok {
			all = append(all, s.TestCases()...)
		}
	}
	return all
}

// chosen are the cases that --case asks for.
func (r *testRun) chosen(all []testCase) []testCase {
	if r.only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(c testCase) bool {
		return !slices.ContainsFunc(append(c.names, c.Tool), r.names)
	})
}

func (r *testRun) names(name string) bool {
	return slices.ContainsFunc(r.only, func(pattern string) bool {
		// A name can hold slashes; a pattern's star passes them.
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(name, "/", "\x01"))
		return err == nil && ok
	})
}

// each runs the cases, one after the other.
func (r *testRun) each(ctx context.Context, e env, w *app.App, cases []testCase) ([]toolcase.Result, error) {
	results := make([]toolcase.Result, 0, len(cases))
	show := progressOn(e.err)
	live := false // whether the one before was
	for i := range cases {
		c := &cases[i]
		show("%d of %d  %s", i+1, len(cases), c.Tool)
		one := r.skipped(w, c)
		if one == nil {
			if live && r.player == nil {
				if err := wait(ctx, r.delay); err != nil {
					return nil, err
				}
			}
			one, live = r.one(ctx, w, c), true
		}
		if results = append(results, *one); !r.asJSON && (r.all || one.Outcome != toolcase.Pass && r.policy == "") {
			show("")
			printResult(e.out, one)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	show("")
	return results, nil
}

// skipped is the result of a case that is not run; nil: it is.
func (r *testRun) skipped(w *app.App, c *testCase) *toolcase.Result {
	why := c.why
	tool := findTool(w.Gateway.Catalog(), c.Tool)
	if why == "" && tool == nil {
		return &toolcase.Result{Case: &c.Case, Outcome: toolcase.Failed, Why: notServed(w, c.Tool).Error()}
	}
	if why == "" && r.player == nil && !r.unsafe {
		if is := tool.Tool().Annotations.ReadOnly; is == nil || !*is {
			why = changes
		}
	}
	if why == "" {
		c.Tool = tool.Name()
		return nil
	}
	return &toolcase.Result{Case: &c.Case, Outcome: toolcase.Skipped, Why: why}
}

// changes is why a case is not run that nobody asked for.
const changes = "it may change something; --unsafe runs it"

func (r *testRun) one(ctx context.Context, w *app.App, c *testCase) *toolcase.Result {
	if c.recorded {
		ctx = recording.NewPlayer(c.exchanges).With(ctx)
	}
	began := time.Now()
	res, err := w.Gateway.Call(ctx, &tenon.Call{Tool: c.Tool, Args: c.Args, Subject: "owner"})
	one := &toolcase.Result{Case: &c.Case, Duration: time.Since(began)}
	one.Outcome, one.Why, one.Places = toolcase.Judge(&c.Case, res, err)
	return one
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progressOn shows a line that changes, on a terminal only.
func progressOn(out io.Writer) func(format string, args ...any) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, ...any) {}
	}
	return func(format string, args ...any) { fmt.Fprintf(out, "\r\x1b[K"+format, args...) }
}

func printResult(w io.Writer, r *toolcase.Result) {
	fmt.Fprintf(w, "%-9s %s  %s (%d ms)\n", r.Outcome, r.Case.Tool, r.Case.Name, r.Duration.Milliseconds())
	if r.Why != "" {
		fmt.Fprintf(w, "          %s\n", strings.ReplaceAll(r.Why, "\n", "\n          "))
	}
}

// testOutcome is a result as JSON.
type testOutcome struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Outcome     string `json:"outcome"`
	Why         string `json:"why,omitempty"`
	Millis      int64  `json:"millis"`
}

// report prints what became of all cases.
func (r *testRun) report(e env, w *app.App, results []toolcase.Result) error {
	if r.junit != "" {
		text, err := toolcase.JUnit("tenon test", results)
		if err == nil {
			err = atomicfile.Overwrite(r.junit, text)
		}
		if err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	word, text := summed(results)
	if r.asJSON {
		all := make([]testOutcome, 0, len(results))
		for i := range results {
			o := &results[i]
			all = append(all, testOutcome{o.Case.Tool, o.Case.Name, string(o.Outcome), o.Why, o.Duration.Milliseconds()})
		}
		if err := printJSON(e.out, all); err != nil {
			return err
		}
	} else {
		if r.policy != "" {
			r.where(e.out, results)
		}
		fmt.Fprintf(e.out, "%s: %s\n", word, text)
	}
	if len(results) == 0 {
		fmt.Fprintln(e.err, "tenon: there is no case to run: write some for --cases, or record calls with serve --record")
		report(e.err, w, r.config.Verbose)
	}
	return failedIf(word != "pass")
}

// summed is what became of all cases, in a word and in numbers. A case that could
// not run is missing; one that nobody asked for is not.
func summed(results []toolcase.Result) (word, text string) {
	counts, missing := map[toolcase.Outcome]int{}, false
	for i := range results {
		counts[results[i].Outcome]++
		missing = missing || results[i].Outcome == toolcase.Skipped && results[i].Why != changes
	}
	word = "pass"
	switch {
	case counts[toolcase.Failed]+counts[toolcase.Violation]+counts[toolcase.Empty] > 0:
		word = "fail"
	case missing || counts[toolcase.Pass] == 0:
		word = "incomplete"
	}
	return word, fmt.Sprintf("%d of %s pass, %d failed, %d violate their output schema, %d without data, %d skipped",
		counts[toolcase.Pass], count(len(results), "case"), counts[toolcase.Failed], counts[toolcase.Violation], counts[toolcase.Empty], counts[toolcase.Skipped])
}

// maxPlacesShown limits the places of a tool that are printed.
const maxPlacesShown = 10

// where says of each tool how many of its responses fail under a policy, and where.
func (r *testRun) where(out io.Writer, results []toolcase.Result) {
	type sum struct {
		calls, failing int
		places         map[string]int
	}
	tools := map[string]*sum{}
	for i := range results {
		o := &results[i]
		if o.Outcome == toolcase.Skipped {
			continue
		}
		s := tools[o.Case.Tool]
		if s == nil {
			s = &sum{places: map[string]int{}}
			tools[o.Case.Tool] = s
		}
		if s.calls++; o.Outcome == toolcase.Pass {
			continue
		}
		s.failing++
		for _, p := range o.Places {
			s.places[p]++
		}
		if o.Places == nil {
			s.places[o.Why]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		s := tools[name]
		if s.failing == 0 {
			continue
		}
		fmt.Fprintf(out, "%s: %d of %s would fail under %s\n", name, s.failing, count(s.calls, "call"), r.policy)
		places := slices.SortedFunc(maps.Keys(s.places), func(a, b string) int {
			return cmp.Or(cmp.Compare(s.places[b], s.places[a]), strings.Compare(a, b))
		})
		for _, p := range places[:min(len(places), maxPlacesShown)] {
			fmt.Fprintf(out, "  %d× %s\n", s.places[p], p)
		}
		if more := len(places) - maxPlacesShown; more > 0 {
			fmt.Fprintf(out, "  and %s more\n", count(more, "place"))
		}
	}
}
