package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tenon-mcp/tenon/app"
)

// maxSeenShown bounds the tools of a kind that check --as prints without --verbose.
const maxSeenShown = 30

// seenTool is a tool in the output of check --as --json.
type seenTool struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Access  string   `json:"access"` // call, needs_scope or unknown
	Missing []string `json:"missing,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// printAs says what a caller can do with each tool.
func (s *serving) printAs(e env, w *app.App, as []string, asJSON, all bool) error {
	caller, err := s.config.ReadCaller(as)
	if err != nil {
		return err
	}
	var tools []seenTool
	seen := 0
	for _, t := range w.SeenBy(caller) {
		one := seenTool{Name: t.Tool, Source: t.Source, Access: "unknown", Missing: t.Missing, Why: t.Why}
		switch {
		case t.Sees && t.Missing == nil:
			one.Access = "call"
		case t.Sees:
			one.Access = "needs_scope"
		}
		if t.Sees {
			seen++
		}
		tools = append(tools, one)
	}
	if asJSON {
		return printJSON(e.out, struct {
			As    []string   `json:"as"`
			Tools []seenTool `json:"tools"`
		}{as, tools})
	}
	fmt.Fprintf(e.out, "%s sees %d of %s\n", strings.Join(as, ", "), seen, count(len(tools), "tool"))
	printSeen(e.out, "can call", "call", tools, all)
	printSeen(e.out, "sees, and needs another token for", "needs_scope", tools, all)
	printSeen(e.out, "does not know of", "unknown", tools, all)
	return nil
}

func printSeen(out io.Writer, what, access string, tools []seenTool, all bool) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	shown, more := 0, 0
	for _, t := range tools {
		if t.Access != access {
			continue
		}
		if shown == maxSeenShown && !all {
			more++
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintf(out, "%s:\n", what)
		}
		why := t.Why
		if t.Missing != nil {
			why = "lacks the scope " + strings.Join(t.Missing, ", ")
		}
		if why != "" {
			why = "\t" + why
		}
		fmt.Fprintf(w, "  %s%s\n", t.Name, why)
	}
	_ = w.Flush() // an error of out shows at its next write
	if more > 0 {
		fmt.Fprintf(out, "  and %d more; --verbose shows them all\n", more)
	}
}

// printHidden warns of tools that rules hide from everybody: perhaps a rule is wrong.
func printHidden(out io.Writer, names []string) {
	if len(names) == 0 {
		return
	}
	few := names[:min(len(names), maxRenamedShown)]
	text := strings.Join(few, ", ")
	if n := len(names) - len(few); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(out, "  by --allow and --deny nobody may call %s\n", text)
}
