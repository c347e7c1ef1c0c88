package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/evidence"
)

func evidenceCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Show, merge and forget what serve counted of responses",
		Long: `Evidence is what 'tenon serve' counts of how responses compare with their schemas:
counters and places in schemas, no values. docs/evidence.md tells more.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(evidenceShow(e), evidenceMerge(e), evidenceForget(e))
	return cmd
}

func evidenceShow(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE...]",
		Short: "Print what a ledger holds",
		Long:  `Print what ledgers hold together: a line for each response and violation of an operation. Without FILE it is the ledger that serve keeps in the user's cache folder.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = nil
			}
			l, _, err := readLedgers(e, args)
			if err != nil {
				return err
			}
			return showLedger(e.out, l)
		},
	}
}

func showLedger(out io.Writer, l *evidence.Ledger) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "OPERATION\tORIGIN\tRESPONSE\tCALLS\tFIT\tVIOLATE\tARGUMENTS\tLAST\tWHERE\n")
	all := l.Sum()
	for _, k := range evidence.Keys(all) {
		c := all[k]
		if k.Keyword != "" {
			fmt.Fprintf(tw, "\t\t\t%d\t\t\t\t%s\t%s\n", c.Calls, day(c.Last), shortly(k.Pointer+" "+k.Keyword+" "+k.Kind))
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t\n", shortly(k.Operation), shortly(k.Origin), shortly(k.Status+" "+k.MediaType), c.Calls, c.Fits, c.Violated, c.Arguments.Distinct(), day(c.Last))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s counted this", count(len(l.Writers), "writer"))
	if n := l.Dropped(); n > 0 && err == nil {
		_, err = fmt.Fprintf(out, "; %d responses came faster than they could be counted", n)
	}
	fmt.Fprintln(out)
	return err
}

func evidenceMerge(e env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge --out FILE FILE...",
		Short: "Merge ledgers into one",
		Long: `Merge ledgers into --out, in any order. What was merged before is not counted again.
A file that is no ledger, or torn, is named and left out; the others are merged, and
the exit code is 1.`,
		Example: `  tenon evidence merge --out evidence.ndjson server-1.ndjson server-2.ndjson`,
		Args:    atLeast(1, "merge needs at least one ledger"),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out FILE says where the ledgers are merged into; what is there is merged, too")
			}
			f, err := evidence.OpenFile(out)
			if err != nil {
				return err
			}
			failed := false
			err = f.Change(func(l *evidence.Ledger) error {
				for _, name := range args {
					one, err := evidence.ReadFile(name)
					if err != nil {
						fmt.Fprintf(e.err, "tenon: left out: %v\n", err)
						failed = true
						continue
					}
					l.Merge(one)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return failedIf(failed)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the ledger that they are merged into; it need not be there yet")
	return cmd
}

func evidenceForget(e env) *cobra.Command {
	var operations []string
	var before string
	var all bool
	cmd := &cobra.Command{
		Use:   "forget [FILE]",
		Short: "Remove what a ledger holds of operations, or of a time",
		Long: `Remove from a ledger what is known of operations, or what has not been seen since a
day. Without FILE it is the ledger that serve keeps in the user's cache folder; a
server that counts in it goes on.`,
		Example: `  tenon evidence forget --operation getPrice
  tenon evidence forget --before 2026-01-01 evidence.ndjson`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = nil
			}
			_, files, err := readLedgers(e, args)
			switch {
			case err != nil:
				return err
			case len(files) != 1:
				return usagef("forget takes one ledger")
			case !all && operations == nil && before == "":
				return usagef("--operation NAME, --before DAY or --all say what is forgotten")
			}
			var day time.Time
			if before != "" {
				if day, err = time.Parse(time.DateOnly, before); err != nil {
					return usagef("--before %s is not a day such as 2026-01-31", before)
				}
			}
			return forget(e.out, files[0], func(k evidence.Key, c *evidence.Counts) bool {
				return (operations == nil || slices.Contains(operations, k.Operation)) && (before == "" || c.Last.Before(day))
			})
		},
	}
	cmd.Flags().StringArrayVar(&operations, "operation", nil, "forget what is known of this operation, by its name in the description (repeatable)")
	cmd.Flags().StringVar(&before, "before", "", "forget what has not been seen since this day, such as 2026-01-31")
	cmd.Flags().BoolVar(&all, "all", false, "forget everything")
	cmd.MarkFlagsMutuallyExclusive("all", "operation")
	cmd.MarkFlagsMutuallyExclusive("all", "before")
	return cmd
}

func forget(out io.Writer, name string, which func(evidence.Key, *evidence.Counts) bool) error {
	f, err := evidence.OpenFile(name)
	if err != nil {
		return err
	}
	n := 0
	if err := f.Change(func(l *evidence.Ledger) error {
		n = l.Forget(which)
		return nil
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "forgotten: %s of %s\n", count(n, "line"), name)
	return err
}
