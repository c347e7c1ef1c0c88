package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/flowmcp"
)

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
