package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

func filterCommand(e env) *cobra.Command {
	var o openapi.Options
	var allowHosts []string
	var output string
	cmd := &cobra.Command{
		Use:   "filter SPEC",
		Short: "Reduce an OpenAPI document to selected operations",
		Long: `Write an OpenAPI document, as JSON, with only the matching operations and what
they need: components, security schemes and tags that nothing refers to are left
out. Everything else is unchanged. Without --include, --exclude and --read-only,
only unused components are removed.

References of a document to its other files are kept.`,
		Example: `  tenon filter --include tag:issues github.json > issues.json
  tenon filter --read-only -o readers.json petstore.yaml`,
		Args: exactly(1, "filter needs one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := egress.NewClient(egress.Options{AllowHosts: allowHosts})
			if err != nil {
				return usagef("--allow-private-host: %v", err)
			}
			o.Client = client
			f, err := openapi.New(args[0], o).Filter(cmd.Context())
			if err != nil {
				return app.BadSource(args[0], err)
			}
			if err := app.Unmatched(f.Diagnostics); err != nil {
				return err
			}
			written, err := writeFiltered(e.out, output, f)
			if err != nil {
				return err
			}
			for _, d := range f.Diagnostics {
				fmt.Fprintf(e.err, "tenon: %s\n", d)
			}
			fmt.Fprintf(e.err, "tenon: %d of %s, %d of %s, %s\n", f.Operations, count(f.TotalOperations, "operation"), f.Components, count(f.TotalComponents, "component"), size(written))
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Selection.Include, "include", nil, "keep only matching operations: tag:NAME, method:GET, path:/a/**, id:repos_*, 'GET /a/{id}', /regexp/, or @FILE with one of these per line (repeatable)")
	fs.StringArrayVar(&o.Selection.Exclude, "exclude", nil, "leave out matching operations (repeatable)")
	fs.BoolVar(&o.Selection.ReadOnly, "read-only", false, "keep only safe operations, which change nothing")
	fs.BoolVar(&o.TrustMarks, "trust-marks", false, "with --read-only, trust x-mcp-safe of the document")
	fs.StringArrayVar(&o.Overlays, "overlay", nil, "apply this overlay (file or URL) to the document first (repeatable, in order)")
	fs.StringArrayVar(&allowHosts, "allow-private-host", nil, "allow a private or loopback address: host, host:port, IP or CIDR (repeatable)")
	fs.StringVar(&o.RefRoot, "ref-root", "", "directory that can hold the other files of the document (default: the document's own directory)")
	fs.StringArrayVar(&o.RefHosts, "allow-ref", nil, "allow the document to reference files on this web host (repeatable)")
	fs.StringVarP(&output, "output", "o", "", "write to this file")
	return cmd
}

func writeFiltered(w io.Writer, file string, f *openapi.Filtered) (written int, err error) {
	doc, err := rawjson.AppendIndent(nil, f.JSON, "  ")
	if err != nil {
		return 0, err
	}
	doc = append(doc, '\n')
	if file != "" {
		return len(doc), atomicfile.Overwrite(file, doc)
	}
	return w.Write(doc)
}
