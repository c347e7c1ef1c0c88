package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/watch"
)

const (
	configFlag    = "config"
	defaultConfig = "tenon.yaml" // that check looks for
)

// serving are the flags of serve: all settings, and the config file.
type serving struct {
	sources

	file string // of the config; empty: none
	// reread reads the config file again, with the command line as it is; nil: there is
	// none.
	reread func() (*app.Config, error)
}

func (s *serving) register(cmd *cobra.Command) {
	s.sources = newSources(slog.LevelWarn) // a violation that is delivered is reported here
	s.keepsEvidence = true
	registerSettings(cmd, s.config, func(*app.Setting) bool { return true })
	cmd.Flags().StringVar(&s.file, configFlag, "", "read sources and flags from this file, see docs/config.md; flags on the command line take precedence")
}

// plan completes the config: the descriptions of the command line, and the config
// file.
func (s *serving) plan(cmd *cobra.Command, specs []string) error {
	s.config.AddSpec(specs...)
	if s.file == "" {
		return nil
	}
	line := *s.config
	s.reread = func() (*app.Config, error) {
		c := line
		c.Sources = slices.Clone(line.Sources)
		for i := range c.Sources {
			c.Sources[i].Options = &c.Defaults // the file may say more of them
		}
		return &c, c.AddFile(s.file, func(setting string) bool { return cmd.Flags().Changed(setting) })
	}
	c, err := s.reread()
	*s.config = *c
	return err
}

// reconfigure reads the config file again and puts it in force, or leaves everything
// as it is and says why.
func (s *serving) reconfigure(ctx context.Context, out io.Writer, a *app.App) {
	c, err := s.reread()
	var change app.Change
	if err == nil {
		change, err = a.Reconfigure(ctx, c)
	}
	switch {
	case err != nil:
		fmt.Fprintf(out, "tenon: %s cannot be used as it is now; what was read before stays in force: %s\n", s.file, messageOf(err))
	case change.String() != "":
		fmt.Fprintf(out, "tenon: %s has changed: %s\n", s.file, change)
	}
}

// tell says what is served, and what that costs.
func (s *serving) tell(e env, a *app.App) {
	report(e.err, a, s.config.Verbose)
	tellCost(e.err, a.Gateway.Catalog(), s.config)
	tellEvidence(e.err, a)
	tellRecording(e.err, a, s.config)
}

// tellEvidence says where evidence is kept, or why not.
func tellEvidence(out io.Writer, a *app.App) {
	switch file, problem := a.Evidence(); {
	case file != "":
		fmt.Fprintf(out, "tenon: how responses compare with their schemas is counted in %s, without values; --evidence off ends that\n", file)
	case problem != "":
		fmt.Fprintf(out, "tenon: no evidence of responses is kept: %s; --evidence FILE names another place\n", problem)
	}
}

// tellRecording says that calls are recorded, which of them are not, and that nothing
// is sent.
func tellRecording(w io.Writer, a *app.App, c *app.Config) {
	switch {
	case c.Replay != "":
		fmt.Fprintf(w, "tenon: calls are answered from the recording %s, and nothing is sent\n", c.Replay)
	case c.Record != "":
		fmt.Fprintf(w, "tenon: calls are recorded in %s\n", c.Record)
		for _, name := range a.Unrecorded() {
			fmt.Fprintf(w, "tenon: calls of %s are not recorded: the requests of a function app are made by its worker\n", name)
		}
	}
}

func serveCommand(e env) *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve SPEC...",
		Short: "Serve descriptions as MCP tools on stdio or HTTP",
		Long: `Serve one or more OpenAPI documents, FlowMCP schema files or function apps as
MCP tools.

SPEC is a file, a directory of OpenAPI documents, or an https URL; for schema
files (.mjs) a file or a directory; for a function app the directory of its
host.json. NAME=SPEC names the source. --config reads sources and all flags from
a file.

Without --http the server speaks MCP on standard input and output, as desktop
clients start it. With --http it serves MCP at /mcp on that address, and plain
JSON-RPC at /jsonrpc for programs that do not speak MCP; /healthz and /readyz
report its health. An address without a host, like :8080, listens on loopback
only.

Descriptions and the config are read again when their files change (--watch) and on
SIGHUP: all of a config is put in force or nothing of it, and standard error says
which. Some settings take effect at the next start only; docs/config.md marks
them. On SIGTERM and interrupt /readyz turns 503 and running calls can finish
(--drain); a second signal ends the process immediately.`,
		Example: `  tenon serve petstore.yaml
  tenon serve --config tenon.yaml
  tenon serve --http :8080 --allow-private-host localhost:3000 shop=openapi.json
  tenon serve --header 'Authorization: Bearer ${TOKEN}' https://api.example.com/openapi.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if s.file != "" {
				return nil
			}
			return atLeast(1, "serve needs at least one SPEC: a file or an https URL, or --config FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.plan(cmd, args); err != nil {
				return err
			}
			defer e.serve(s.config.LogFormat)()
			a, err := s.start(cmd.Context(), e)
			if err != nil {
				return err
			}
			defer a.Close()
			setGC(e)
			go giveBackWhenIdle(cmd.Context(), idleTime, debug.FreeOSMemory)
			s.tell(e, a)
			if s.config.Watch {
				defer a.Watch(cmd.Context())()
			}
			if s.config.Watch && s.file != "" {
				defer s.followConfig(cmd.Context(), e.err, a)()
			}
			if e.hangups != nil {
				go s.reloadOn(cmd.Context(), e.err, e.hangups(), a)
			}
			return runServer(cmd.Context(), e, a, s.config.HTTP)
		},
	}
	s.register(cmd)
	return cmd
}

// runServer serves until ctx ends.
func runServer(ctx context.Context, e env, a *app.App, addr string) error {
	if addr == "" {
		fmt.Fprintln(e.err, "tenon: serving MCP on standard input and output; --http ADDR serves it over HTTP")
		tellMetrics(e, a)
		return a.ServeStdio(ctx)
	}
	l, err := app.Listen(ctx, addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.err, "tenon: listening on "+a.URL(l))
	tellMetrics(e, a)
	if who := a.WhoMayCall(); who != "" {
		fmt.Fprintln(e.err, "tenon: "+who)
	}
	return a.Serve(ctx, l)
}

func tellMetrics(e env, a *app.App) {
	if url := a.MetricsURL(); url != "" {
		fmt.Fprintln(e.err, "tenon: metrics at "+url)
	}
}

// followConfig reads the config again when it changes.
func (s *serving) followConfig(ctx context.Context, out io.Writer, a *app.App) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var held atomic.Pointer[watch.Sums]
	remember := func() {
		sums := watch.Read([]string{s.file})
		held.Store(&sums)
	}
	remember()
	watching := incident.NewGroup(nil, "watching "+s.file, 1)
	watching.Go(func() {
		err := watch.Files{Recorded: func() watch.Sums { return *held.Load() }}.Watch(ctx, func() {
			remember()
			s.reconfigure(ctx, out, a)
		})
		if err != nil {
			fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", s.file, err)
		}
	}, nil)
	return func() { cancel(); watching.Wait() }
}

// reloadOn reads the config and all descriptions again with every signal.
func (s *serving) reloadOn(ctx context.Context, out io.Writer, again <-chan os.Signal, a *app.App) {
	for {
		select {
		case <-again:
			if s.reread != nil {
				s.reconfigure(ctx, out, a)
			}
			a.Reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}
