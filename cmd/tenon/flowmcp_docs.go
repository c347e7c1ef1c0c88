package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp/library"
)

func flowmcpDocsCommand(e env) *cobra.Command {
	o := library.Options{ImplicitParameters: true}
	cmd := &cobra.Command{
		Use:   "docs FILE|DIR",
		Short: "Generate documentation of schema files in Markdown",
		Long: `Write the parameters and results of the tools in a schema file, or in all files
of a directory: tables of parameters and of members of the result, links to
documentation and license, and a call to try. No code of the files is run.`,
		Example: `  tenon flowmcp docs providers/etherscan/contracts.mjs > contracts.md`,
		Args:    exactly(1, "docs needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := library.Docs(cmd.Context(), e.out, args[0], o); err != nil {
				return app.BadSource(args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Lists, "lists-dir", "", "directory of the shared lists (default: _lists or _shared above a file)")
	return cmd
}
