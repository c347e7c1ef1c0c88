package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/clients"
)

// bytesPerToken is the rule of thumb for JSON in English, where only a few tools are
// looked at; models differ.
const bytesPerToken = 4

func inspectCommand(e env) *cobra.Command {
	sources := onDemand(newSources(slog.LevelError)) // what goes wrong is counted
	var asJSON bool
	var top int
	cmd := &cobra.Command{
		Use:   "inspect SPEC...",
		Short: "Report the token cost of tools, what was left out, and how much of responses is typed",
		Long: `Report the number of tools that serve would offer, the size of tools/list with
and without output schemas, and about how many tokens a model needs for it. The
largest tools are listed. --include, --exclude and --read-only shorten the list.

Schemas are weighed by what is in them: names and types (structure), descriptions,
titles, values of enum and const, bounds (pattern, format, minimum), notes (examples,
defaults and what JSON Schema does not know) and the envelope around the data. Below it
stands what --max-output-schema and --output-schemas off would save.

Coverage is how much of their responses tools describe: of each place for a value,
whether its type is known (exact), only that of the values of a map (record), or
nothing (blob). Tools with the most blobs are listed.

Where 'tenon serve' counted how responses compare with their schemas, each tool has
how many came, how many of them fit, and when the last came.`,
		Example: `  tenon inspect petstore.yaml
  tenon inspect --top 20 --include tag:issues github.json`,
		Args: atLeast(1, "inspect needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.Close()
			in := weigh(w.Gateway.Catalog())
			if in.addCoverage(w.Gateway.Catalog(), nil); in.Notes > 0 { // perhaps some are there because a schema is too large
				whole := sources
				whole.config.Defaults.MaxInputSchema, whole.config.Defaults.MaxOutputSchema = -1, -1
				if w, err := whole.start(cmd.Context(), e); err == nil {
					defer w.Close()
					in.addCoverage(w.Gateway.Catalog(), in.Coverage)
				}
			}
			if err := in.addEvidence(w); err != nil {
				fmt.Fprintf(e.err, "tenon: what is known of responses is left out: %v\n", err)
			}
			if asJSON {
				return json.NewEncoder(e.out).Encode(in)
			}
			return in.print(e.out, top)
		},
	}
	sources.keepsEvidence = true // it is read
	sources.register(cmd)
	registerNamed(cmd, sources.config, "evidence")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all numbers as JSON, including every tool")
	cmd.Flags().IntVar(&top, "top", 10, "number of the largest tools to list")
	return cmd
}

// inspection is what a catalog weighs. Sizes are bytes of JSON.
type inspection struct {
	Tools    int      `json:"tool_count"`
	Readers  int      `json:"read_only_count"`     // that say that they change nothing
	Outputs  int      `json:"output_schema_count"` // that publish one
	Counted  string   `json:"tokenizer"`           // what counts tokens
	Tokens   int      `json:"token_count"`         // of tools/list, all pages as one
	Bytes    int      `json:"bytes"`               // the same
	Input    int      `json:"inputSchemaBytes"`
	Output   int      `json:"outputSchemaBytes"`
	Own      int      `json:"own_tool_count"` // beside them, tenon's own: next_part, describe and those of search mode
	Warnings int      `json:"warning_count"`
	Notes    int      `json:"schema_note_count"` // what clients get otherwise than the description has it
	Heaviest []weight `json:"tools"`             // tenon's own too; the heaviest first

	InputCosts  clients.SchemaCosts `json:"inputSchemaCosts"`
	OutputCosts clients.SchemaCosts `json:"outputSchemaCosts"`
	Savings     []saving            `json:"savings"`

	Known     bool  `json:"-"` // there is a ledger
	Responses int64 `json:"response_count"`
	Never     int   `json:"unseen_count"` // tools that never answered

	Coverage  *coverage `json:"coverage"`                     // of the responses of all tools
	Published *coverage `json:"published_coverage,omitempty"` // the same of what is published, where schemas are too large
}

type weight struct {
	Tool   string `json:"name"`
	Source string `json:"source,omitempty"` // empty: tenon's own
	Bytes  int    `json:"bytes"`
	Input  int    `json:"inputSchemaBytes"`
	Output int    `json:"outputSchemaBytes"`

	InputCosts  *clients.SchemaCosts `json:"inputSchemaCosts,omitempty"`
	OutputCosts *clients.SchemaCosts `json:"outputSchemaCosts,omitempty"`

	Coverage *coverage `json:"coverage,omitempty"` // of its responses; not of tenon's own
	Evidence *standing `json:"evidence,omitempty"` // of its responses; nil: there is no ledger
}

func weigh(c *gateway.Catalog) inspection {
	in := inspection{Counted: clients.Tokenizer, Savings: noSavings(), Heaviest: []weight{}, Warnings: len(c.Diagnostics()), Own: len(c.Tools()) - app.Described(c)}
	for _, t := range c.Tools() {
		input, output := t.Schemas()
		w := weight{Tool: t.Name(), Source: t.Source(), Bytes: len(t.Definition()), Input: len(input), Output: len(output)}
		if t.Source() != "" {
			in.Tools++
		}
		in.addCosts(&w, t, input, output)
		in.Bytes += w.Bytes
		in.Tokens += clients.Tokens(t.Definition())
		in.Input += w.Input
		in.Output += w.Output
		if output != nil && t.Source() != "" {
			in.Outputs++
		}
		if h := t.Tool().Annotations.ReadOnly; h != nil && *h && t.Source() != "" {
			in.Readers++
		}
		in.Notes += len(t.Diagnostics())
		in.Heaviest = append(in.Heaviest, w)
	}
	slices.SortStableFunc(in.Heaviest, func(a, b weight) int { return b.Bytes - a.Bytes })
	return in
}

func (in inspection) print(out io.Writer, top int) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	own := ""
	if in.Own > 0 {
		own = fmt.Sprintf(", %d of tenon's own beside them", in.Own)
	}
	fmt.Fprintf(tw, "tools\t%d\t%d read only, %d with an output schema%s\n", in.Tools, in.Readers, in.Outputs, own)
	input, output := in.InputCosts.Sum().Tokens, in.OutputCosts.Sum().Tokens
	fmt.Fprintf(tw, "tools/list\t%s\tabout %s tokens (%s)\n", size(in.Bytes), roughly(in.Tokens), in.Counted)
	fmt.Fprintf(tw, "  input schemas\t%s\tabout %s tokens\n", size(in.Input), roughly(input))
	fmt.Fprintf(tw, "  output schemas\t%s\tabout %s tokens\n", size(in.Output), roughly(output))
	fmt.Fprintf(tw, "  without them\t%s\tabout %s tokens\n", size(in.Bytes-in.Output), roughly(in.Tokens-output))
	fmt.Fprintf(tw, "warnings\t%d\t'tenon tools --verbose' prints them\n", in.Warnings)
	if in.Notes > 0 {
		fmt.Fprintf(tw, "schema notes\t%d\tprinted beside them: what clients get otherwise than it is described\n", in.Notes)
	}
	if in.Known {
		fmt.Fprintf(tw, "evidence\t%d\tresponses came, of %d tools; %d never answered\n", in.Responses, in.Tools-in.Never, in.Never)
	}
	in.printCosts(tw)
	in.printCoverage(tw, top)
	if top = min(top, len(in.Heaviest)); top > 0 {
		fmt.Fprint(tw, "\nHEAVIEST\tBYTES\tINPUT\tOUTPUT\tMOST OF IT")
		if in.Known {
			fmt.Fprint(tw, "\tRESPONSES\tFIT\tLAST")
		}
		fmt.Fprintln(tw)
		for _, w := range in.Heaviest[:top] {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s%s\n", w.Tool, size(w.Bytes), size(w.Input), size(w.Output), largest(w.OutputCosts), w.Evidence.columns())
		}
	}
	return tw.Flush()
}

func size(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

const (
	sampled      = 48 // tools of which the size of all is estimated
	samplingTime = 200 * time.Millisecond
)

// tellCost says about how many tokens the list takes. Rendering every tool of a large
// catalog would take longer than the start: of more than a few, some that are
// spread over the catalog stand for all.
func tellCost(w io.Writer, c *gateway.Catalog, o *app.Config) {
	tools := c.Tools()
	if o.ListTokensWarn < 0 || len(tools) == 0 {
		return
	}
	began, bytes, seen := time.Now(), 0, 0
	step := max(1, len(tools)/sampled)
	for i := 0; i < len(tools) && time.Since(began) < samplingTime; i += step {
		bytes += len(tools[i].Definition())
		seen++
	}
	tokens := bytes / seen * len(tools) / bytesPerToken
	text := fmt.Sprintf("tenon: the list of tools takes about %d tokens", rounded(tokens))
	if tokens > o.ListTokensWarn && o.ToolsMode != "search" {
		text += ", which clients may send with every conversation; --tools-mode search shows a few tools in its place, --include and --exclude choose"
	}
	fmt.Fprintln(w, text)
}

// rounded keeps two digits: more would be a lie.
func rounded(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
