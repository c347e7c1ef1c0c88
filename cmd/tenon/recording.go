package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/recording"
)

func recordingCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recording",
		Short: "Work with recordings of calls",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "har RECORDING",
		Short: "Convert a recording to a HAR",
		Long: `Write a recording as a HAR, which the network panels of browsers open. Tools and
arguments are kept in members of its own, so that it can be replayed, too.`,
		Example: `  tenon recording har calls.ndjson > calls.har`,
		Args:    exactly(1, "har needs a RECORDING"),
		RunE: func(_ *cobra.Command, args []string) error {
			calls, err := recording.Load(args[0])
			if err != nil {
				return app.BadSource(args[0], err)
			}
			text, err := recording.AppendHAR(nil, calls, app.Version())
			if err != nil {
				return err
			}
			_, err = e.out.Write(text)
			return err
		},
	})
	return cmd
}
