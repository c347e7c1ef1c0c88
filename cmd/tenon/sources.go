package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/keyring"
	"github.com/tenon-mcp/tenon/recording"
)

// maxDiagnosticsShown bounds the warnings printed at start.
const maxDiagnosticsShown = 10

// sources are the flags of a command that reads descriptions.
type sources struct {
	config         *app.Config
	level          slog.Level // of the log without --verbose
	onDemand       bool
	dry            bool
	allowUnmatched bool
	keepsEvidence  bool // in the user's cache folder, where the config names no file
	recorder       *recording.Recorder
	player         *recording.Player
}

// newSources has the default of every setting.
func newSources(level slog.Level) sources { return sources{config: app.NewConfig(), level: level} }

// onDemand starts workers of function apps with the first call.
func onDemand(s sources) sources {
	s.onDemand = true
	return s
}

// unasked does not ask for confirmation.
func unasked(s sources) sources {
	s.config.Defaults.Confirm.All = string(tenon.ConfirmOff)
	return s
}

// typedCall is for a call that a person types, who has agreed to it and has room
// for the result.
func typedCall(s sources) sources {
	s = unasked(onDemand(s))
	s.config.Defaults.MaxResultBytes.All = "-1"
	return s
}

// register registers the settings of sources, and those of what is made of them
// all.
func (s *sources) register(cmd *cobra.Command) {
	registerSettings(cmd, s.config, func(x *app.Setting) bool {
		return x.OfSources() || slices.Contains([]string{"prefix", "describe", "tools-mode", "output-schemas", "for", "name-budget", "verbose"}, x.Name)
	})
}

// connect loads every description and builds the catalog and gateway.
func (s *sources) connect(ctx context.Context, e env, specs []string) (*app.App, error) {
	s.config.AddSpec(specs...)
	return s.start(ctx, e)
}

func (s *sources) start(ctx context.Context, e env) (*app.App, error) {
	level := s.level
	if s.config.Verbose {
		level = slog.LevelInfo
	}
	use := e.app()
	use.Logger, use.OnDemand, use.DryRun, use.Recorder, use.Player = e.logger(level), s.onDemand, s.dry, s.recorder, s.player
	use.AllowUnmatched = s.allowUnmatched
	if s.keepsEvidence {
		use.EvidenceDir = e.cacheDir()
	}
	return app.New(ctx, s.config, use)
}

// cacheDir is tenon's part of the user's cache folder; empty: there is none.
func (e *env) cacheDir() string {
	if e.cache == nil {
		return ""
	}
	dir, err := e.cache()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tenon")
}

// app is what of the process the composition may use.
func (e *env) app() app.Env {
	return app.Env{Getenv: e.getenv, Stdin: e.in, Stdout: e.out, Stderr: e.err, WorkerCommand: e.worker, Keyring: keyring.Get}
}

// registerSettings makes flags of settings. What the config has by then is their
// default.
func registerSettings(cmd *cobra.Command, c *app.Config, wanted func(*app.Setting) bool) {
	fs := cmd.Flags()
	all := app.Settings()
	for i := range all {
		s := &all[i]
		if !wanted(s) {
			continue
		}
		switch p := s.Field(c).(type) {
		case *string:
			fs.StringVarP(p, s.Name, s.Short, *p, s.Help)
		case *bool:
			fs.BoolVarP(p, s.Name, s.Short, *p, s.Help)
		case *int:
			fs.IntVarP(p, s.Name, s.Short, *p, s.Help)
		case *int64:
			fs.Int64VarP(p, s.Name, s.Short, *p, s.Help)
		case *float64:
			fs.Float64VarP(p, s.Name, s.Short, *p, s.Help)
		case *time.Duration:
			fs.DurationVarP(p, s.Name, s.Short, *p, s.Help)
		case *[]string:
			fs.StringArrayVarP(p, s.Name, s.Short, *p, s.Help)
		case *app.PerTool:
			fs.VarP(p, s.Name, s.Short, s.Help)
		}
		if s.Values != nil {
			takes(cmd, s.Name, s.Values...)
		}
	}
}

// registerNamed makes flags of the settings of these names.
func registerNamed(cmd *cobra.Command, c *app.Config, names ...string) {
	registerSettings(cmd, c, func(s *app.Setting) bool { return slices.Contains(names, s.Name) })
}

// report prints what was read and what is wrong with it.
func report(w io.Writer, a *app.App, verbose bool) {
	c := a.Gateway.Catalog()
	diagnostics := c.Diagnostics()
	tools := count(app.Described(c), "tool")
	if a.HiddenTools() > 0 {
		tools += fmt.Sprintf(" that find and call %d", a.HiddenTools())
	}
	fmt.Fprintf(w, "tenon: %s, %s\n", tools, count(len(diagnostics), "warning"))
	if verbose {
		printEach(w, diagnostics)
		return
	}
	summarize(w, diagnostics)
}

func printEach(w io.Writer, diagnostics []tenon.Diagnostic) {
	for _, problem := range diagnostics {
		fmt.Fprintf(w, "  %s\n", problem)
	}
}

// summarize prints diagnostics: of each kind the first, with the number of the
// others, and of those that are of no kind the first few.
func summarize(w io.Writer, diagnostics []tenon.Diagnostic) {
	left := map[string]int{}
	for _, problem := range diagnostics {
		left[problem.Kind]++
	}
	alone, shown := 0, 0
	for _, problem := range diagnostics {
		others := left[problem.Kind] - 1
		left[problem.Kind] = 0 // told
		if problem.Kind == "" {
			alone, others = alone+1, 0
		}
		switch {
		case others < 0 || alone > maxDiagnosticsShown && problem.Kind == "":
			continue
		case others > 0:
			fmt.Fprintf(w, "  %s; and %d more like it\n", problem, others)
		default:
			fmt.Fprintf(w, "  %s\n", problem)
		}
		shown++
	}
	if more := len(diagnostics) - shown; more > 0 {
		fmt.Fprintf(w, "  %d more are not shown; --verbose shows them all\n", more)
	}
}
