// Command tenon serves the operations of described services as MCP tools.
//
// Subcommands are files, those of one group begin with its name. What several
// share: sources.go has the flags of descriptions, command_line.go refuses what
// cannot be meant, arguments.go reads the arguments of calls, result.go and
// parts.go print their results, json.go writes reports.
//
// It knows no protocol, no schema and no document format, and does none of the
// work of the packages that do.
//
// It stands at both ends of the path: app makes a server of what it was given,
// and mcpclient speaks to servers for a person at a terminal. Nothing else touches
// arguments, environment, streams, signals and the end of the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// The exit codes; docs/errors.md lists them for users.
const (
	exitOK        = 0
	exitFailed    = 1 // a tool error, or anything that went wrong while running
	exitUsage     = 2
	exitBadSource = 3
)

// env is what a command may touch of the process.
type env struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) (string, bool)
	log    logSink
	// hangups hands out the signals that ask a server to read its descriptions
	// again; nil: nobody can ask.
	hangups func() <-chan os.Signal
	cache   func() (string, error) // the user's cache folder; nil: there is none
	worker  []string               // command that starts a process for handlers; nil: there are none
}

func main() {
	// net/http writes bytes of an upstream to the standard logger when it gets
	// an answer that nobody asked for. They may hold anything.
	log.SetOutput(io.Discard)
	outliveFileLimit()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an end, the second one does not ask.
	context.AfterFunc(ctx, stop)
	e := env{hangups: hangups, in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, cache: os.UserCacheDir}
	if self, err := os.Executable(); err == nil {
		e.worker = []string{self, "sandbox-worker"}
	}
	code := run(ctx, e, os.Args[1:])
	stop()
	os.Exit(code)
}

// hangups are the process's own: SIGHUP does not end it from then on.
func hangups() <-chan os.Signal {
	c := make(chan os.Signal, 1) // more than one ask for the same
	signal.Notify(c, syscall.SIGHUP)
	return c
}

// errToolFailed ends a command with exit 1 after the failure was printed.
var errToolFailed = errors.New("the tool answered with an error")

// failedIf is that error where something failed.
func failedIf(failed bool) error {
	if failed {
		return errToolFailed
	}
	return nil
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, e env, args []string) int {
	root := rootCommand(e) //nolint:contextcheck // commands get ctx by ExecuteContextC
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errToolFailed):
		return exitFailed
	}
	fmt.Fprintf(e.err, "tenon: %s\n", messageOf(err))
	switch tenon.CodeOf(err) { //nolint:exhaustive // every other class is exit 1
	case tenon.CodeUsage:
		fmt.Fprintf(e.err, "See '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	case tenon.CodeBadSource:
		return exitBadSource
	}
	return exitFailed
}

func rootCommand(e env) *cobra.Command {
	var asked bool
	root := &cobra.Command{
		Use:   "tenon",
		Short: "Serve APIs as MCP tools whose results match their schemas",
		Long: `tenon reads API descriptions and serves their operations as MCP tools. Every
tool publishes a schema of its results, every response is validated against it,
and violations are reported to the client.

Start with 'tenon demo': it needs no setup and shows everything in a minute.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked {
				_, err := fmt.Fprintln(e.out, versionLine())
				return err
			}
			return cmd.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := noSecrets(cmd.Flags()); err != nil {
				return err
			}
			if err := knownWords(cmd); err != nil {
				return err
			}
			return namedFiles(cmd.Flags())
		},
	}
	root.Flags().BoolVarP(&asked, "version", "V", false, "print the version of tenon")
	root.SetUsageFunc(printUsage)
	root.SetFlagErrorFunc(flagProblem)
	root.AddCommand(
		demoCommand(e), serveCommand(e), installCommand(e), bundleCommand(e), checkCommand(e), doctorCommand(e), healthCommand(e), keyCommand(e), toolsCommand(e), callCommand(e), testCommand(e),
		validateCommand(e), lintCommand(e), filterCommand(e), docsCommand(e), driftCommand(e), evidenceCommand(e), inspectCommand(e), typesCommand(e), shellCommand(e),
		flowmcpCommand(e), functionsCommand(e), recordingCommand(e), docCommentsCommand(e), versionCommand(e), sandboxWorkerCommand(e),
	)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	return root
}

// messageOf is an error as somebody reads it who writes settings as flags.
func messageOf(err error) string {
	if c, ok := errors.AsType[*app.ConfigError](err); ok && c == err { //nolint:errorlint // a wrapped one is part of a longer text
		return c.CommandLine()
	}
	return err.Error()
}

func versionCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of tenon",
		Args:  exactly(0, "version takes no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, versionLine())
			return err
		},
	}
}

// versionLine is what 'tenon version' and 'tenon --version' print.
func versionLine() string {
	return fmt.Sprintf("tenon %s (%s, %s/%s)", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// sandboxWorkerCommand is the inside of the processes that run handlers.
func sandboxWorkerCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:    "sandbox-worker",
		Short:  "Run handlers for the process that started this one",
		Hidden: true,
		Args:   exactly(0, "sandbox-worker takes no arguments"),
		RunE:   func(*cobra.Command, []string) error { return flowmcp.ServeWorker(e.in, e.out) },
	}
}
