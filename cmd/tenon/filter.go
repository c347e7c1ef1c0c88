package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
		Short: "Reduce an OpenAPI document to some of its operations",
		Long: `Write an OpenAPI document, as JSON, with only the operations that match, and
with what they need: components, security schemes and tags to which nothing
refers any more are left out. What stays is as it was. Without --only, --except
and --read-only, it is the components that nothing needs that go.

A document in several files goes on referring to the others.`,
		Example: `  tenon filter --only tag:issues github.json > issues.json
  tenon filter --read-only -o readers.json petstore.yaml`,
		Args: exactly(1, "filter needs one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := egress.NewClient(egress.Options{AllowHosts: allowHosts})
			if err != nil {
				return usagef("--allow-host: %v", err)
			}
			o.Client = client
			f, err := openapi.New(args[0], o).Filter(cmd.Context())
			if err != nil {
				return badSource(args[0], err)
			}
			written, err := writeFiltered(e.out, output, f)
			if err != nil {
				return err
			}
			for _, fault := range f.Faults {
				fmt.Fprintf(e.err, "tenon: %s\n", fault)
			}
			fmt.Fprintf(e.err, "tenon: %d of %s, %d of %s, %s\n", f.Operations, count(f.TotalOperations, "operation"), f.Components, count(f.TotalComponents, "component"), size(written))
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Choose.Include, "only", nil, "keep only operations that match: tag:NAME, method:GET, path:/a/**, id:repos_*, 'GET /a/{id}', /regexp/, @FILE of such lines (repeatable)")
	fs.StringArrayVar(&o.Choose.Exclude, "except", nil, "of those, leave out operations that match (repeatable)")
	fs.BoolVar(&o.Choose.ReadOnly, "read-only", false, "keep only operations that change nothing")
	fs.BoolVar(&o.TrustMarks, "trust-marks", false, "with --read-only, believe x-mcp-safe of the document")
	fs.StringArrayVar(&o.Overlays, "overlay", nil, "change the document by this overlay (file or URL) first (repeatable, in order)")
	fs.StringArrayVar(&allowHosts, "allow-host", nil, "allow a private or loopback address: host, host:port, IP or CIDR (repeatable)")
	fs.StringVar(&o.RefRoot, "ref-root", "", "folder below which the other files of the document may lie (default: the document's own folder)")
	fs.StringArrayVar(&o.RefHosts, "allow-ref", nil, "read other files of the document from this host on the web (repeatable)")
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
		return len(doc), writeWhole(file, doc)
	}
	return w.Write(doc)
}
