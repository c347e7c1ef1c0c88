package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
)

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
