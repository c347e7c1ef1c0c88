package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/openapi"
)

// appFlags are the flags for function apps among the sources.
type appFlags struct {
	anyway   bool
	trusted  bool
	environ  []string
	onDemand bool // the worker is started by the first call
}

func (f *appFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.trusted, "trust-worker-port", false, "send calls of a function app to whoever listens at its worker's port; else only to processes that tenon started for it, where the system tells (Linux, Windows)")
	cmd.Flags().BoolVar(&f.anyway, "advertise-anyway", false, "publish output schemas of function apps also where some clients would drop all tools over them")
	cmd.Flags().StringArrayVar(&f.environ, "app-env", nil, "let the worker of a function app see this variable of the environment: NAME, or NAME=value (repeatable)")
}

// inherited are the variables that a worker always sees: without them hardly a
// program starts, and none of them is a secret.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "DOTNET_ROOT", "JAVA_HOME",
	}
}

// workerEnv is what of the process's environment a worker sees.
func (f *appFlags) workerEnv(e env) ([]string, error) {
	var all []string
	for _, name := range inherited() {
		if value, ok := e.getenv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	for _, given := range f.environ {
		name, value, set := strings.Cut(given, "=")
		if !set {
			var ok bool
			if value, ok = e.getenv(name); !ok {
				return nil, usagef("--app-env %s: the environment has no such variable", name)
			}
		}
		all = append(all, name+"="+value)
	}
	return all, nil
}

// isApp reports whether where is the folder of a function app.
func isApp(where string) bool {
	info, err := os.Stat(filepath.Join(where, "host.json"))
	return err == nil && !info.IsDir()
}

// app returns the function app in the folder where.
func (f *sourceFlags) app(where string, o openapi.Options, e env) (tenon.Source, error) {
	environ, err := f.apps.workerEnv(e)
	if err != nil {
		return nil, err
	}
	return host.New(where, host.Options{
		Policy: o.Policy, Shape: o.Shape, AdvertiseAnyway: f.apps.anyway, TrustPort: f.apps.trusted, OnDemand: f.apps.onDemand, Environ: environ, Logger: f.logger(e),
	}), nil
}

func functionsCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "functions",
		Short: "Look at function apps",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	call := callCommand(e)
	call.Use = "call APPDIR TOOL [key=value... | '{json}' | -]"
	call.Example = "  tenon functions call app get_forecast city=London"
	cmd.AddCommand(functionsReportCommand(e, "check"), functionsReportCommand(e, "list"), call)
	return cmd
}

// functionsReportCommand is check, and list, which says less.
func functionsReportCommand(e env, name string) *cobra.Command {
	var apps appFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name + " APPDIR",
		Short: "Print the functions of an app and what they are to clients",
		Long: `Print the functions of an app and what they are to MCP clients. Nothing is
started.`,
		Args: exactly(1, name+" needs one APPDIR: the folder of a function app"),
	}
	check := name == "check"
	if check {
		cmd.Short = "Report what is wrong with a function app"
		cmd.Long = `Check the folder of a function app: every function.json by the rules that Azure's
host keeps, and the schemas by what clients can read. Nothing is started.

Exit 1 means that a function is not served.`
	}
	apps.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the functions, and what is wrong, as JSON")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		environ, err := apps.workerEnv(e)
		if err != nil {
			return err
		}
		app, err := host.Read(args[0], environ)
		if err != nil {
			return badSource(args[0], err)
		}
		if asJSON {
			err = printJSON(e.out, appReportOf(args[0], app, apps.anyway))
		} else {
			err = printFunctions(e.out, app, apps.anyway)
		}
		if err != nil || !check {
			return err
		}
		if !asJSON {
			for _, d := range appDiagnostics(app) {
				fmt.Fprintf(e.out, "%s\n", d)
			}
		}
		for _, f := range app.Functions {
			if f.Wrong {
				return errToolFailed // exit 1: the report is printed
			}
		}
		return nil
	}
	return cmd
}

func printFunctions(w io.Writer, app *host.App, anyway bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FUNCTION\tSERVES\tOUTPUT SCHEMA")
	for i := range app.Functions {
		f := &app.Functions[i]
		serves := f.Serves()
		if serves == "" {
			serves = "nothing: it " + f.Why
		}
		if f.Tool != nil && tenon.ToolName(f.Tool.Name) != f.Tool.Name {
			serves = "tool " + tenon.ToolName(f.Tool.Name) + " (" + f.Tool.Name + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f.Name, serves, cmp.Or(outputOf(f, anyway), "-"))
	}
	return tw.Flush()
}

// outputOf says what becomes of the output schema of a tool; empty: there is none.
func outputOf(f *host.Function, anyway bool) string {
	switch {
	case f.Tool == nil || f.Tool.Output.JSON() == nil:
		return ""
	case len(f.Unsafe()) == 0:
		return "published"
	case anyway:
		return "published, not safe for clients"
	}
	return "checked, not published"
}

// appDiagnostics is what is wrong with an app.
func appDiagnostics(app *host.App) []tenon.Diagnostic {
	all := slices.Clone(app.Faults)
	for i := range app.Functions {
		all = append(all, app.Functions[i].Unsafe()...)
	}
	return all
}
