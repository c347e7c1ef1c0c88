package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/flowmcp"
)

func flowmcpDocsCommand(e env) *cobra.Command {
	o := flowmcp.Options{CallerMarks: true}
	cmd := &cobra.Command{
		Use:   "docs FILE|DIR",
		Short: "Write a page in Markdown about schema files",
		Long: `Write what the tools of a schema file, or of every one in a folder, take and
answer: tables of parameters and of the answer's members, where each is
documented and licensed, and a call to try. Nothing in the files is run.`,
		Example: `  tenon flowmcp docs providers/etherscan/contracts.mjs > contracts.md`,
		Args:    exactly(1, "docs needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flowmcp.Docs(cmd.Context(), e.out, args[0], o); err != nil {
				return badSource(args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Lists, "lists", "", "folder of the shared lists (default: _lists or _shared above a file)")
	return cmd
}
