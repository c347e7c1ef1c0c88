package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/library"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/recording"
)

func flowmcpInferCommand(e env) *cobra.Command {
	s := typedCall(newSources(slog.LevelError))
	cmd := &cobra.Command{
		Use:   "infer FILE|DIR RECORDING",
		Short: "Infer output schemas from a recording",
		Long: `Write the output block of every tool that a recording has calls of, in the form of
schema files, from what the tools make of the recorded responses. Descriptions are
left to you; what the format cannot express is omitted. Nothing is sent.`,
		Example: `  tenon test --record calls.ndjson providers/brightsky
  tenon flowmcp infer providers/brightsky calls.ndjson`,
		Args: exactly(2, "infer needs a FILE or DIR of schema files, and a RECORDING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inferOutputs(cmd.Context(), e, &s, args[0], args[1])
		},
	}
	s.register(cmd)
	return cmd
}

func inferOutputs(ctx context.Context, e env, s *sources, spec, from string) error {
	calls, err := recording.Load(from)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: from, Err: err}
	}
	s.player = recording.NewPlayer(nil)
	w, err := s.connect(ctx, e, []string{spec})
	if err != nil {
		return err
	}
	defer w.Close()
	var answers []library.Answer
	for _, c := range recordedCases(w, calls) {
		tool := w.Gateway.Catalog().Find(c.Tool)
		if tool == nil {
			fmt.Fprintf(e.err, "tenon: %s\n", c.why)
			continue
		}
		a := library.Answer{Tool: c.Tool}
		if doc, err := rawjson.Parse(tool.Tool().Meta); err == nil {
			a.Tool = doc.Str(doc.Get(doc.Root(), "flowmcp/id"))
		}
		res, err := w.Gateway.Call(recording.NewPlayer(c.exchanges).With(ctx), &tenon.Call{Tool: c.Tool, Args: c.Args, Subject: "owner"})
		if err == nil && !res.IsError {
			a.Data = res.Value
		}
		answers = append(answers, a)
	}
	if answers == nil {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: from + " has no calls of these tools; 'tenon test --record " + from + "' makes some"}
	}
	for _, i := range library.InferFrom(answers) {
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
