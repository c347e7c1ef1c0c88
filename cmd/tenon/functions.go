package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

func functionsCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "functions",
		Short: "Work with function apps",
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
	config := app.NewConfig()
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name + " APPDIR",
		Short: "Print the functions of an app and how clients see them",
		Long: `Print the functions of an app and how MCP clients see them. Nothing is
started.`,
		Args: exactly(1, name+" needs one APPDIR: the folder of a function app"),
	}
	check := name == "check"
	if check {
		cmd.Short = "Report problems of a function app"
		cmd.Long = `Check the directory of a function app: every function.json against the rules of
Azure's host, and the schemas against what clients can read. Nothing is started.

Exit 1 means that a function is not served.`
	}
	registerNamed(cmd, config, "trust-worker-port", "publish-incompatible-schemas", "worker-env", "names")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the functions and their problems as JSON")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		environ, err := config.Defaults.WorkerEnviron(e.app())
		if err != nil {
			return err
		}
		read, err := host.Read(args[0], environ)
		if err != nil {
			return app.BadSource(args[0], err)
		}
		if asJSON {
			err = printJSON(e.out, appReportOf(args[0], read, config.Defaults.PublishIncompatibleSchemas, tenon.Naming(config.Defaults.Names)))
		} else {
			err = printFunctions(e.out, read, config.Defaults.PublishIncompatibleSchemas, tenon.Naming(config.Defaults.Names))
		}
		if err != nil || !check {
			return err
		}
		if !asJSON {
			for _, d := range appDiagnostics(read) {
				fmt.Fprintf(e.out, "%s\n", d)
			}
		}
		for _, f := range read.Functions {
			if f.Wrong {
				return errToolFailed // exit 1: the report is printed
			}
		}
		return nil
	}
	return cmd
}

func printFunctions(w io.Writer, read *host.App, anyway bool, naming tenon.Naming) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FUNCTION\tSERVES\tOUTPUT SCHEMA")
	for i := range read.Functions {
		f := &read.Functions[i]
		serves := f.Serves()
		if serves == "" {
			serves = "nothing: it " + f.Why
		}
		if f.Tool != nil && naming.ToolName(f.Tool.Name) != f.Tool.Name {
			serves = "tool " + naming.ToolName(f.Tool.Name) + " (" + f.Tool.Name + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", visible(f.Name), visible(serves), cmp.Or(outputOf(f, anyway), "-"))
	}
	return tw.Flush()
}

// visible is a name as a terminal can show it: quoted where something in it does
// not print.
func visible(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
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

// appDiagnostics is what is wrong with an app, and what clients cannot read of it.
func appDiagnostics(read *host.App) []tenon.Diagnostic {
	all := slices.Clone(read.Diagnostics)
	for i := range read.Functions {
		all = append(all, read.Functions[i].Unsafe()...)
	}
	return all
}
