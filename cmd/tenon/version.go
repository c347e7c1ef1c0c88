package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
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
	return fmt.Sprintf("tenon %s (%s, %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
