package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/bundle"
)

func flowmcpLibsCommand(e env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "libs",
		Short: "Bundle the npm packages that handlers use",
		Long: `Handlers load libraries from bundles made in advance. 'libs add' needs npm;
serving needs neither npm nor Node.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "library-dir", "", "directory of the bundles (default: "+filepath.Join("tenon", "flowmcp-libs")+" in the user's configuration directory)")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the bundles",
		Args:  exactly(0, "list takes no arguments"),
		RunE: func(*cobra.Command, []string) error {
			bundles, err := flowmcp.Bundles(app.LibraryDir(dir, e.app()))
			for _, b := range bundles {
				fmt.Fprintf(e.out, "%s %s sha256:%s\n", b.Name, b.Version, b.SHA256)
			}
			return err
		},
	}
	cmd.AddCommand(flowmcpLibsAddCommand(e, &dir), list)
	return cmd
}

func flowmcpLibsAddCommand(e env, dir *string) *cobra.Command {
	var from, uses string
	cmd := &cobra.Command{
		Use:   "add [PACKAGE[@VERSION]...]",
		Short: "Bundle packages for handlers",
		Long: `Install packages with npm into a temporary directory, without running their
scripts, and bundle each with its dependencies into one file. Packages with
native code are refused; with --for the tools that need them are named.

A bundle makes a library available but does not allow it: files that require a
library outside the format's allow-list are served only with --allow-library.`,
		Example: `  tenon flowmcp libs add ethers indicatorts trading-signals moment
  tenon flowmcp libs add --from ./project ethers
  tenon flowmcp libs add --for ./providers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			users, err := libraryUsers(cmd.Context(), uses)
			if err != nil {
				return app.BadSource(uses, err)
			}
			if len(args) == 0 {
				args = slices.Sorted(maps.Keys(users))
			}
			if len(args) == 0 {
				return usagef("add needs the name of a package, or --for with schema files whose handlers use some")
			}
			return addLibraries(cmd.Context(), e, wantedLibraries{app.LibraryDir(*dir, e.app()), from, args, users})
		},
	}
	cmd.Flags().StringVar(&uses, "for", "", "schema file or directory: bundle what its handlers use if no package is named")
	cmd.Flags().StringVar(&from, "from", "", "directory whose node_modules has the packages, instead of installing them")
	return cmd
}

// libraryUsers are the tools of schema files by the packages that they use.
func libraryUsers(ctx context.Context, spec string) (map[string][]string, error) {
	users := map[string][]string{}
	if spec == "" {
		return users, nil
	}
	reports, err := flowmcp.Check(ctx, spec, flowmcp.Options{})
	for _, r := range reports {
		for _, t := range r.Tools {
			for _, name := range t.Libraries {
				users[name] = append(users[name], t.ID)
			}
		}
	}
	return users, err
}

// wantedLibraries are packages to be bundled.
type wantedLibraries struct {
	dir      string // where the bundles go
	from     string // where the packages are installed; empty: nowhere yet
	packages []string
	users    map[string][]string // tools by the packages that they use
}

// addLibraries bundles each package. One that cannot be bundled costs the
// others nothing.
func addLibraries(ctx context.Context, e env, w wantedLibraries) error {
	from := w.from
	if from == "" {
		temporary, err := os.MkdirTemp("", "tenon-libs-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		if err := bundle.Install(ctx, temporary, npmEnv(e), w.packages...); err != nil {
			return err
		}
		from = temporary
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	failed := false
	for _, p := range w.packages {
		err := addLibrary(e, w.dir, from, p)
		if err == nil {
			continue
		}
		failed = true
		fmt.Fprintf(e.err, "tenon: %s: %v\n", p, err)
		switch tools := w.users[bundle.Name(p)]; {
		case !errors.Is(err, bundle.ErrNative):
		case tools == nil:
			fmt.Fprintf(e.err, "  tools that need it are not served; --for names them\n")
		default:
			fmt.Fprintf(e.err, "  not served without it: %s: %s\n", count(len(tools), "tool"), strings.Join(tools, ", "))
		}
	}
	if failed {
		return errToolFailed // exit 1: the reasons are printed
	}
	return nil
}

// addLibrary bundles one package and says what it is.
func addLibrary(e env, dir, from, name string) error {
	b, err := bundle.Build(from, bundle.Name(name))
	if err != nil {
		return err
	}
	added, err := flowmcp.AddBundle(dir, b.Name, b.Version, b.Source)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s %s: %d KB, sha256:%s\n", added.Name, added.Version, len(b.Source)>>10, added.SHA256)
	if b.Missing != nil {
		fmt.Fprintf(e.err, "tenon: %s imports what is not here and fails where it is used: %s\n", added.Name, strings.Join(b.Missing, ", "))
	}
	if !flowmcp.OnAllowList(added.Name) {
		fmt.Fprintf(e.err, "tenon: %s is not on the format's allow-list; files that require it are served with --allow-library %s\n", added.Name, added.Name)
	}
	return nil
}

// npmEnv is what npm needs to find its settings and its registry.
func npmEnv(e env) []string {
	var all []string
	for _, name := range []string{
		"PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot", "TEMP", "TMP", "TMPDIR", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig",
		"NPM_CONFIG_REGISTRY", "npm_config_registry", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE",
	} {
		if v, ok := e.getenv(name); ok {
			all = append(all, name+"="+v)
		}
	}
	return all
}
