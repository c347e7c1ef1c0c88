package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/flowmcp/library"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/recording"
)

// casesRun runs the test cases of schema files.
type casesRun struct {
	sources sources
	only    []string
	record  string
	replay  string
	pause   time.Duration
	unsafe  bool
	asJSON  bool
}

func flowmcpTestCommand(e env) *cobra.Command {
	r := casesRun{sources: unasked(newSources(slog.LevelError))}
	cmd := &cobra.Command{
		Use:   "test FILE|DIR",
		Short: "Run the test cases of schema files",
		Long: `Run the test cases of the tools in schema files and check every response. A
status other than success, a response that violates the tool's output schema and
one without data are failures. Exit 1: a case failed or was skipped because a
key, a library or a recording is missing, or no case ran.

Cases run live, one after the other. --record records requests and responses,
without the values of server parameters; --replay replays a recording and sends
nothing. Cases of tools that can change something run only with
--include-unsafe.`,
		Example: `  tenon flowmcp test providers/brightsky
  tenon flowmcp test --record captures --case '*weather*' providers/brightsky
  tenon flowmcp test --replay captures providers/brightsky`,
		Args: exactly(1, "test needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), e, args[0]) },
	}
	r.sources.register(cmd)
	cmd.Flags().StringArrayVar(&r.only, "case", nil, "run only cases of tools whose name or full name matches this pattern, * for any text (repeatable)")
	cmd.Flags().StringVar(&r.record, "record", "", "record requests and responses in files in this directory")
	cmd.Flags().StringVar(&r.replay, "replay", "", "replay responses from the files in this directory")
	cmd.Flags().DurationVar(&r.pause, "delay", time.Second, "delay between two live cases")
	cmd.Flags().BoolVar(&r.unsafe, "include-unsafe", false, "also run cases of tools that can change something")
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "print the outcomes as JSON")
	cmd.MarkFlagsMutuallyExclusive("record", "replay")
	return cmd
}

// caseOutcome is what became of one case.
type caseOutcome struct {
	ID          string `json:"id"`
	Case        int    `json:"case"`
	Description string `json:"description,omitempty"`
	Outcome     string `json:"outcome"` // pass, failed, violation, empty or skipped
	Why         string `json:"why,omitempty"`
	Millis      int64  `json:"millis"`

	optional bool // nobody asked for it
}

func (r *casesRun) run(ctx context.Context, e env, spec string) error {
	recorder, err := recording.NewRecorder(recording.Options{})
	if err != nil {
		return err
	}
	switch {
	case r.replay != "":
		r.sources.player = recording.NewPlayer(nil)
	case r.record != "":
		r.sources.recorder = recorder
	}
	r.sources.config.Defaults.NoCache = true
	w, err := r.sources.connect(ctx, e, []string{spec})
	if err != nil {
		return err
	}
	defer w.Close()
	all := []caseOutcome{}
	for _, c := range casesIn(w) {
		if !r.wants(c) {
			continue
		}
		if len(all) > 0 && r.replay == "" && all[len(all)-1].Outcome != "skipped" {
			if err := wait(ctx, r.pause); err != nil {
				return err
			}
		}
		o := r.one(ctx, w, recorder, c)
		if all = append(all, o); !r.asJSON {
			fmt.Fprintf(e.out, "%-9s %s #%d %s (%d ms)\n", o.Outcome, o.ID, o.Case, o.Description, o.Millis)
			if o.Why != "" {
				fmt.Fprintf(e.out, "        %s\n", o.Why)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return r.verdict(e, w, all)
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

// wants reports whether a case was asked for.
func (r *casesRun) wants(c flowmcp.TestCase) bool {
	for _, pattern := range r.only {
		for _, name := range []string{c.Tool, c.ID, c.Route} {
			// A name can hold slashes; a pattern's star passes them.
			ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(name, "/", "\x01"))
			if err == nil && ok {
				return true
			}
		}
	}
	return len(r.only) == 0
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// one runs a case.
func (r *casesRun) one(ctx context.Context, w *app.App, recorder *recording.Recorder, c flowmcp.TestCase) caseOutcome {
	o := caseOutcome{ID: c.ID, Case: c.Index, Description: c.Description, optional: !c.ReadOnly && !r.unsafe}
	if !c.ReadOnly && !r.unsafe && r.replay == "" {
		o.Outcome, o.Why = "skipped", "it may change something; --include-unsafe runs it"
		return o
	}
	if c.Reason != "" {
		o.Outcome, o.Why = "skipped", "its tool is not served: "+c.Reason
		return o
	}
	if r.replay != "" {
		kept, err := recording.Read(recording.Path(r.replay, c.Namespace, c.File, c.Route, c.Index))
		if err != nil {
			o.Outcome, o.Why = "skipped", "the recording does not have it: "+err.Error()
			return o
		}
		ctx = recording.NewPlayer(kept.Exchanges).With(ctx)
	}
	ctx, capture := recorder.Begin(ctx, "", c.Tool, nil)
	begun := time.Now()
	res, err := w.Gateway.Call(ctx, &tenon.Call{Tool: c.Tool, Args: c.Args, Subject: "owner"})
	o.Millis = time.Since(begun).Milliseconds()
	if err != nil {
		o.Outcome, o.Why = "failed", err.Error()
		return o
	}
	o.judge(res)
	if r.record != "" {
		capture.End()
		exchanges, err := capture.Exchanges()
		if err == nil {
			err = recording.Write(recording.Path(r.record, c.Namespace, c.File, c.Route, c.Index), recording.Recording{
				Namespace: c.Namespace, SchemaFile: c.File, RouteName: c.Route, TestIndex: c.Index, Description: c.Description, UserParams: c.Args,
				ResponseTime: o.Millis, Timestamp: begun.UTC().Format(time.RFC3339), Response: json.RawMessage(recorder.Redact(string(res.Structured))), Exchanges: exchanges,
			})
		}
		if err != nil {
			o.Outcome, o.Why = "failed", "it cannot be recorded: "+err.Error()
		}
	}
	return o
}

// judge looks at the answer of a case.
func (o *caseOutcome) judge(res *tenon.Result) {
	if res.IsError {
		o.Outcome, o.Why = "failed", envelopeErrors(res)
		return
	}
	meta, err := rawjson.Parse(res.Meta)
	if err == nil {
		contract := meta.Get(meta.Root(), "tenon/contract")
		if first := meta.First(meta.Get(contract, "violations")); first != rawjson.None {
			o.Outcome = "violation"
			o.Why = fmt.Sprintf("%s: expected %s, got %s", place(meta, first), meta.Str(meta.Get(first, "expected")), meta.Str(meta.Get(first, "got")))
			return
		}
	}
	switch strings.TrimSpace(string(res.Value)) {
	case "", "null", "[]", "{}", `""`:
		o.Outcome, o.Why = "empty", "the answer has no data"
		return
	}
	o.Outcome = "pass"
}

// verdict prints what became of all cases.
func (r *casesRun) verdict(e env, w *app.App, all []caseOutcome) error {
	counts := map[string]int{}
	for _, o := range all {
		counts[o.Outcome]++
	}
	bad := counts["failed"] + counts["violation"] + counts["empty"]
	kept := 0 // from running, for want of something
	for _, o := range all {
		if o.Outcome == "skipped" && !o.optional {
			kept++
		}
	}
	if r.asJSON {
		if err := printJSON(e.out, all); err != nil {
			return err
		}
	} else {
		word := "pass"
		switch {
		case bad > 0:
			word = "fail"
		case kept > 0 || counts["pass"] == 0:
			word = "incomplete"
		}
		fmt.Fprintf(e.out, "%s: %d of %s pass, %d failed, %d break their output schema, %d without data, %d skipped\n",
			word, counts["pass"], count(len(all), "case"), counts["failed"], counts["violation"], counts["empty"], counts["skipped"])
	}
	if len(all) == 0 {
		fmt.Fprintln(e.err, "tenon: there is no test case to run")
		report(e.err, w, r.sources.config.Verbose)
	}
	return failedIf(bad > 0 || kept > 0 || counts["pass"] == 0)
}

func flowmcpInferCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "infer DIR",
		Short: "Infer output schemas from a recording",
		Long: `Write the output block of every tool in a recording of 'tenon flowmcp test
--record', in the form of schema files. Descriptions are left to you; what the
format cannot express is omitted.`,
		Example: `  tenon flowmcp test --record captures providers/brightsky
  tenon flowmcp infer captures`,
		Args: exactly(1, "infer needs the DIR of a recording"),
		RunE: func(_ *cobra.Command, args []string) error { return inferOutputs(e, args[0]) },
	}
}

func inferOutputs(e env, dir string) error {
	var recordings []recording.Recording
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		c, err := recording.Read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		recordings = append(recordings, c)
		return nil
	})
	if err != nil {
		return app.BadSource(dir, err)
	}
	if recordings == nil {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: dir + " holds no recording; 'tenon flowmcp test --record " + dir + "' makes one"}
	}
	all, err := library.InferFrom(recordings)
	if err != nil {
		return err
	}
	for _, i := range all {
		switch {
		case i.Err != nil:
			fmt.Fprintf(e.err, "tenon: %s: %v\n", i.Name, i.Err)
		case i.Output == nil:
			fmt.Fprintf(e.err, "tenon: %s: no case has an answer\n", i.Name)
		default:
			pretty, err := rawjson.AppendIndent(nil, i.Output, "  ")
			if err != nil {
				return err
			}
			fmt.Fprintf(e.out, "// %s, from %s\noutput: %s\n", i.Name, count(i.Samples, "answer"), pretty)
		}
	}
	return nil
}
