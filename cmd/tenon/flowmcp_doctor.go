package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

func flowmcpDoctorCommand(e env) *cobra.Command {
	sources := sourceFlags{}
	cmd := &cobra.Command{
		Use:   "doctor FILE|DIR",
		Short: "Say what keeps tools of schema files from being served, and what to do",
		Long: `Say what keeps tools of schema files from being served, and what to do: keys
that are not set, packages that are not bundled, lists that are not there. What
several files lack is told once; --verbose tells it of each.`,
		Args: exactly(1, "doctor needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			each := sources.verbose
			sources.verbose = true
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.close()
			reports, err := flowmcp.Check(cmd.Context(), args[0], flowmcp.Options{Env: e.getenv, Lists: sources.handlers.lists})
			if err != nil {
				return badSource(args[0], err)
			}
			all, missing := 0, map[string]int{}
			for _, r := range reports {
				all += len(r.Tools)
				for _, name := range r.Missing {
					missing[name] += len(r.Tools)
				}
			}
			fmt.Fprintf(e.out, "%d of %s are served, %s\n", described(w.catalog), count(all, "tool"), count(len(w.catalog.Prompts()), "prompt"))
			for _, name := range slices.Sorted(maps.Keys(missing)) {
				fmt.Fprintf(e.out, "set %s in the environment: %s more\n", name, count(missing[name], "tool"))
			}
			printCauses(e.out, w.catalog.Faults(), each)
			return nil
		},
	}
	sources.register(cmd)
	return cmd
}

// The faults that many files share.
var (
	lackingFault = regexp.MustCompile(`^(\d+) of \d+ tools need (\S+), (.*), and are not served`)
	listFault    = regexp.MustCompile(`^VAL072 .*: (the list \S+ is not .*)$`)
)

// cause is what several files lack.
type cause struct {
	text         string
	tools, files int
}

// printCauses prints faults, and what many share once. Keys that are not set
// were told before.
func printCauses(w io.Writer, faults []tenon.Fault, each bool) {
	var shared []*cause
	add := func(text string, tools int) {
		i := slices.IndexFunc(shared, func(c *cause) bool { return c.text == text })
		if i < 0 {
			shared, i = append(shared, &cause{text: text}), len(shared)
		}
		shared[i].tools += tools
		shared[i].files++
	}
	var rest []tenon.Fault
	for _, f := range faults {
		switch lacking, list := lackingFault.FindStringSubmatch(f.What), listFault.FindStringSubmatch(f.What); {
		case strings.HasSuffix(f.Do, "set it in the environment"):
		case !each && lacking != nil:
			tools, err := strconv.Atoi(lacking[1])
			if err != nil {
				tools = 0 // it has more digits than a count
			}
			add("cannot be served without "+lacking[2]+", "+lacking[3]+doing(f.Do), tools)
		case !each && list != nil:
			add(list[1]+doing("--lists names it"), 0)
		default:
			rest = append(rest, f)
		}
	}
	for _, c := range shared {
		if c.tools > 0 {
			fmt.Fprintf(w, "%s of %s %s\n", count(c.tools, "tool"), count(c.files, "file"), c.text)
		} else {
			fmt.Fprintf(w, "%s: %s\n", count(c.files, "file"), c.text)
		}
	}
	for _, f := range rest {
		fmt.Fprintln(w, f)
	}
}

func doing(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}
