package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/flowmcp/library"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// flowmcpCatalogCommands are the commands that look at many files at once.
func flowmcpCatalogCommands(e env) []*cobra.Command {
	return []*cobra.Command{
		flowmcpListCommand(e), flowmcpSearchCommand(e), flowmcpSchemasCommand(e), flowmcpHashCommand(e),
		flowmcpListsCommand(e), flowmcpCacheCommand(e), flowmcpMigrateCommand(e), flowmcpRegistryCommand(e),
	}
}

func flowmcpListCommand(e env) *cobra.Command {
	sources := newSources(slog.LevelError)
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list FILE|DIR",
		Short: "List all tools of schema files, with the reason why some are not served",
		Long: `List all tools of schema files, with the reason why some are not served, as
serve would with the same flags. No code of the files is run. 'tenon tools'
lists the tools that clients see.`,
		Args: exactly(1, "list needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.Close()
			all, err := standings(w, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(e.out, availabilities(all)); err != nil || len(all) > 0 {
					return err
				}
				return nothingLoads(cmd.Context(), e, args[0])
			}
			for _, s := range all {
				state := "served"
				if why, do := s.Reason(); !s.Served {
					state = "not served: " + why + doing(do)
				}
				fmt.Fprintf(e.out, "%s  %s  %s\n", s.Name, s.ID, state)
			}
			fmt.Fprintf(e.err, "tenon: %d of %s are served\n", served(all), count(len(all), "tool"))
			if len(all) == 0 {
				summarize(e.err, w.Gateway.Catalog().Diagnostics())
				return nothingLoads(cmd.Context(), e, args[0])
			}
			return nil
		},
	}
	sources.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tools as JSON")
	return cmd
}

// nothingLoads is unreadable for a command that has no reports.
func nothingLoads(ctx context.Context, e env, spec string) error {
	reports, err := flowmcp.Check(ctx, spec, flowmcp.Options{Env: e.getenv})
	if err != nil {
		return app.BadSource(spec, err)
	}
	return unreadable(spec, reports)
}

// unreadable is the error of a description of which no file loads.
func unreadable(spec string, reports []flowmcp.Report) error {
	if slices.ContainsFunc(reports, func(r flowmcp.Report) bool { return r.Loads }) {
		return nil
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: "no file of " + spec + " loads; see 'tenon flowmcp check'"}
}

// standings is what became of the tools of schema files: in their sources, and
// by what was chosen of them.
func standings(w *app.App, spec string) ([]flowmcp.Availability, error) {
	source := schemaSource(w)
	if source == nil {
		return nil, usagef("%s is neither a schema file (.mjs) nor a folder of them", spec)
	}
	names := map[string]string{} // of what is served, by their names in full
	for _, t := range w.Gateway.Catalog().Tools() {
		if doc, err := rawjson.Parse(t.Tool().Meta); err == nil {
			names[doc.Str(doc.Get(doc.Root(), "flowmcp/id"))+"\n"+t.Tool().Origin.File] = t.Name()
		}
	}
	all := source.Availability()
	for i := range all {
		s := &all[i]
		if name, ok := names[s.ID+"\n"+s.File]; ok {
			s.Name = name
		} else if s.Served {
			s.Served, s.Needs = false, []flowmcp.Need{{Kind: flowmcp.NeedSelection}}
		}
	}
	return all, nil
}

// schemaSource is the source of schema files among those that were loaded; nil:
// there is none.
func schemaSource(w *app.App) *flowmcp.Source {
	for _, source := range w.Sources() {
		if s, ok := source.Source.(*flowmcp.Source); ok {
			return s
		}
	}
	return nil
}

func flowmcpSearchCommand(e env) *cobra.Command {
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "search FILE|DIR WORD...",
		Short:   "Find the tools that match every word",
		Example: `  tenon flowmcp search providers weather forecast`,
		Args:    atLeast(2, "search needs a FILE or DIR and a WORD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := flowmcp.Check(cmd.Context(), args[0], flowmcp.Options{Env: e.getenv})
			if err != nil {
				return app.BadSource(args[0], err)
			}
			found := library.Search(reports, strings.Join(args[1:], " "), most)
			if asJSON {
				return printJSON(e.out, foundTools(found))
			}
			for _, f := range found {
				first, _, _ := strings.Cut(f.Tool.Description, "\n")
				fmt.Fprintf(e.out, "%4d  %s  %s  %s\n", f.Score, f.Tool.Name, f.Tool.ID, clip(first, 80))
			}
			if len(found) == 0 {
				fmt.Fprintln(e.err, "tenon: no tool has to do with every word")
			}
			return failedIf(len(found) == 0)
		},
	}
	cmd.Flags().IntVar(&most, "limit", 10, "maximum number of tools to print")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the matches as JSON")
	return cmd
}

// foundTools are the tools that were found as the other commands print theirs.
func foundTools(found []library.Found) []any {
	all := make([]any, 0, len(found)) // [] without any
	for _, f := range found {
		all = append(all, struct {
			flowmcp.ToolReport

			File  string `json:"file"`
			Score int    `json:"score"`
		}{f.Tool, f.File, f.Score})
	}
	return all
}

func flowmcpSchemasCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "schemas FILE|DIR",
		Short: "List schema files: namespace, name, hash and number of tools",
		Args:  exactly(1, "schemas needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := flowmcp.Check(cmd.Context(), args[0], flowmcp.Options{Env: e.getenv})
			if err != nil {
				return app.BadSource(args[0], err)
			}
			if asJSON {
				if err := printJSON(e.out, schemaFiles(reports)); err != nil {
					return err
				}
				return unreadable(args[0], reports)
			}
			for _, r := range reports {
				switch {
				case r.Kind != "" && r.Namespace == "":
					fmt.Fprintf(e.out, "%s  %s %s\n", r.File, r.Kind, r.Name)
				case r.Kind != "":
					fmt.Fprintf(e.out, "%s  %s/%s/%s\n", r.File, r.Namespace, r.Kind, r.Name)
				default:
					fmt.Fprintf(e.out, "%s  %s  %s  %s  %s\n", r.File, r.Namespace, r.Name, r.Hash, count(len(r.Tools), "tool"))
				}
			}
			return unreadable(args[0], reports)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the files as JSON")
	return cmd
}

func flowmcpHashCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "hash FILE|DIR",
		Short: "Print the schemaHash of schema files",
		Long:  `Print the schemaHash of schema files: the hash of main as canonical JSON, without the member schemaHash itself. No code of the files is run.`,
		Args:  exactly(1, "hash needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := flowmcp.Check(cmd.Context(), args[0], flowmcp.Options{})
			if err != nil {
				return app.BadSource(args[0], err)
			}
			all := hashReports(reports)
			if asJSON {
				err = printJSON(e.out, all)
			} else {
				printHashes(e, all)
			}
			if err == nil {
				err = unreadable(args[0], reports)
			}
			if err != nil {
				return err
			}
			return failedIf(slices.ContainsFunc(all, func(h hashReport) bool { return h.Hash == "" }))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the files and their hashes as JSON")
	return cmd
}

func printHashes(e env, all []hashReport) {
	for _, h := range all {
		if h.Hash == "" {
			fmt.Fprintf(e.err, "tenon: %s has no hash: %s\n", h.File, h.Why)
			continue
		}
		fmt.Fprintf(e.out, "%s  %s\n", h.Hash, h.File)
	}
}

func flowmcpCacheCommand(e env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Work with the response cache of schema files",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "cache-dir", "", "directory of the cache (default: tenon/flowmcp in the user's cache directory)")
	namespace := func(args []string) string {
		if len(args) > 0 {
			return args[0]
		}
		return ""
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "status [NAMESPACE]",
		Args:  atMostOne("status takes at most one NAMESPACE"),
		Short: "List cached responses",
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := flowmcp.CachedResponses(app.CacheDir(dir, e.app()), namespace(args))
			if err != nil {
				return err
			}
			for _, k := range all {
				word := "until"
				if k.ExpiresAt.Before(time.Now()) {
					word = "expired"
				}
				fmt.Fprintf(e.out, "%s %s  %d bytes, %s %s\n", k.Tool, k.ParamHash, k.Size, word, k.ExpiresAt.Format(time.RFC3339))
			}
			fmt.Fprintf(e.err, "tenon: %s in %s\n", count(len(all), "answer"), app.CacheDir(dir, e.app()))
			return nil
		},
	}, &cobra.Command{
		Use:   "clear [NAMESPACE]",
		Args:  atMostOne("clear takes at most one NAMESPACE"),
		Short: "Remove cached responses",
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := flowmcp.CachedResponses(app.CacheDir(dir, e.app()), namespace(args))
			if err == nil {
				err = flowmcp.ClearCache(app.CacheDir(dir, e.app()), namespace(args))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(e.err, "tenon: %s removed from %s\n", count(len(all), "answer"), app.CacheDir(dir, e.app()))
			return nil
		},
	})
	return cmd
}

func flowmcpMigrateCommand(e env) *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "migrate FILE...",
		Short: "Migrate schema files from version 3 to version 4: routes become tools",
		Long: `Migrate schema files from version 3 to version 4: routes are renamed to tools,
and the version is 4.0.0. Everything else is unchanged. Without --write the file
is printed.`,
		Args: atLeast(1, "migrate needs a FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, path := range args {
				if err := migrate(e, path, write); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "change the files")
	return cmd
}

func migrate(e env, path string, write bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("%s is a folder; name the files in it", path)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return app.BadSource(path, err)
	}
	migrated, done, err := library.Migrate(text)
	switch {
	case err != nil:
		return app.BadSource(path, err)
	case len(done) == 0:
		fmt.Fprintf(e.err, "%s: nothing to do\n", path)
	default:
		fmt.Fprintf(e.err, "%s: %s\n", path, strings.Join(done, ", "))
	}
	if !write {
		_, err = e.out.Write(migrated)
		return err
	}
	if len(done) == 0 {
		return nil
	}
	return atomicfile.Overwrite(path, migrated)
}

func flowmcpRegistryCommand(e env) *cobra.Command {
	var making bool
	cmd := &cobra.Command{
		Use:   "catalog DIR",
		Short: "Check the registry.json of a catalog, or generate one",
		Long: `Compare the registry.json of a catalog with its directory: all files that it
names exist, none is missing, and its contentHash matches. With --generate print
a registry of the directory. Exit 1 means that there are errors.`,
		Args: exactly(1, "catalog needs the DIR with a registry.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if making {
				r, err := library.MakeRegistry(cmd.Context(), args[0])
				if err != nil {
					return app.BadSource(args[0], err)
				}
				return printJSON(e.out, r)
			}
			bad := 0
			findings := library.CheckRegistry(args[0])
			for _, f := range findings {
				fmt.Fprintf(e.out, "%s %s %s: %s\n", f.Severity, f.Code, f.Path, f.Message)
				if f.Severity == flowmcp.Fatal {
					bad++
				}
			}
			word := "pass"
			if bad > 0 {
				word = "fail"
			}
			fmt.Fprintf(e.out, "%s: %s, %s\n", word, count(bad, "error"), count(len(findings)-bad, "warning"))
			return failedIf(bad > 0)
		},
	}
	cmd.Flags().BoolVar(&making, "generate", false, "print a registry of the directory instead")
	return cmd
}
