package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/flowmcp/library"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

func flowmcpListsCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lists DIR [NAME]",
		Short: "List shared lists, or print the entries of one",
		Args:  atLeast(1, "lists needs the DIR of shared lists, or of the schema files below it"),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := sharedLists(args[0])
			if err != nil {
				return err
			}
			found := false
			for _, l := range all {
				switch {
				case len(args) == 1 && l.Entries == nil:
					fmt.Fprintf(e.out, "%s: has errors\n", l.File)
					for _, f := range l.Findings {
						fmt.Fprintf(e.out, "  %s\n", f)
					}
				case len(args) == 1:
					fmt.Fprintf(e.out, "%s %s  %s: %s\n", l.Name, l.Version, entryCount(len(l.Entries)), strings.Join(l.Fields, ", "))
				case l.Name == args[1]:
					found = true
					for _, entry := range l.Entries {
						fmt.Fprintf(e.out, "%s\n", entry)
					}
				}
			}
			if len(args) > 1 && !found {
				return unknownList(all, args[1], args[0])
			}
			return nil
		},
	}
	cmd.AddCommand(listRefsCommand(e), listAddCommand(e))
	return cmd
}

// sharedLists are the lists of a folder, or of the schema files there.
func sharedLists(dir string) ([]flowmcp.SharedList, error) {
	if text := suggest.MissingFile(dir); text != "" {
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: text}
	}
	all, err := flowmcp.SharedLists(dir)
	if err != nil {
		return nil, app.BadSource(dir, err)
	}
	if len(all) == 0 {
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "there are no shared lists in " + dir + ", and no folder _lists or _shared in it or above it"}
	}
	return all, nil
}

func unknownList(all []flowmcp.SharedList, name, dir string) error {
	var names []string
	for _, l := range all {
		if l.Name != "" {
			names = append(names, l.Name)
		}
	}
	return usagef("there is no list %q in %s%s", name, dir, suggest.Question(suggest.Near(name, names, maxSuggested)))
}

func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func listRefsCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "refs DIR [NAME]",
		Short: "List the schema files that use shared lists, or one of them",
		Long: `List the schema files that use shared lists, or one of them: the version that
each wants, the arguments whose values come from the list, and whether handlers
read it. That is what a change of the list touches.`,
		Example: `  tenon flowmcp lists refs providers evmChains`,
		Args:    atLeast(1, "refs needs the DIR of schema files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			uses, err := flowmcp.ListUses(cmd.Context(), args[0])
			if err != nil {
				return app.BadSource(args[0], err)
			}
			found := []flowmcp.ListUse{}
			for _, u := range uses {
				if len(args) == 1 || u.List == args[1] {
					found = append(found, u)
				}
			}
			if asJSON {
				return printJSON(e.out, found)
			}
			for _, u := range found {
				printUse(e, u)
			}
			fmt.Fprintf(e.err, "tenon: used by %s\n", count(len(found), "file"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the uses as JSON")
	return cmd
}

func printUse(e env, u flowmcp.ListUse) {
	how := "by nothing"
	if u.Handlers {
		how = "by handlers"
	}
	if len(u.Tools) == 0 {
		fmt.Fprintf(e.out, "%s %s  %s  %s\n", u.List, u.Version, u.File, how)
	}
	for _, t := range u.Tools {
		fmt.Fprintf(e.out, "%s %s  %s  %s (%s)\n", u.List, u.Version, t.Tool, t.Key, t.Field)
	}
}

func listAddCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "add-entry DIR NAME FIELD=VALUE...",
		Short: "Add an entry to a shared list",
		Long: `Add an entry to a shared list, behind the others. Values become texts, numbers
or booleans as the list's fields say; all else in the file stays as it was. The
version of the list is yours to change: a new entry makes a minor version, and
schema files name the version that they want.`,
		Example: `  tenon flowmcp lists add-entry providers evmChains alias=ALPHA_MAINNET chainId=360`,
		Args:    atLeast(3, "add-entry needs a DIR, the NAME of a list and FIELD=VALUE"),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := sharedLists(args[0])
			if err != nil {
				return err
			}
			given := map[string]string{}
			for _, arg := range args[2:] {
				field, value, ok := strings.Cut(arg, "=")
				if !ok {
					return usagef("%q is not FIELD=VALUE", arg)
				}
				given[field] = value
			}
			for _, l := range all {
				if l.Name == args[1] {
					return addEntry(e, l, given)
				}
			}
			return unknownList(all, args[1], args[0])
		},
	}
}

func addEntry(e env, l flowmcp.SharedList, given map[string]string) error {
	text, err := os.ReadFile(l.File)
	if err != nil {
		return app.BadSource(l.File, errors.Unwrap(err))
	}
	added, err := library.AddEntry(text, given)
	if err != nil {
		return usagef("nothing was added to %s: %v", l.File, err)
	}
	if err := atomicfile.Overwrite(l.File, added); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s %s  %s\n", l.Name, l.Version, entryCount(len(l.Entries)+1))
	return nil
}
