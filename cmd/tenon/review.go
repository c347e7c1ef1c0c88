package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

// maxReviewed bounds a document that is sent to the service.
const maxReviewed = 32 << 20

func validateCommand(e env) *cobra.Command {
	return reviewCommand(e, false, &cobra.Command{
		Use:   "validate SPEC...",
		Short: "Validate OpenAPI documents against their specification",
		Long: `Validate OpenAPI documents against their version of the specification: missing
or unknown members, wrong types, broken references, duplicate names, paths that
do not match their parameters.

A document need not be valid to be served: an error costs only the operation
that contains it. Exit 1 means that there are errors; --fail-on warning is
stricter. With --http it runs as a service: POST a document to /validate or
/lint; GET /health reports its health.`,
		Example: `  tenon validate petstore.yaml
  tenon validate --json https://api.example.com/openapi.json
  tenon validate --http :8080`,
	})
}

func lintCommand(e env) *cobra.Command {
	return reviewCommand(e, true, &cobra.Command{
		Use:   "lint SPEC...",
		Short: "Review OpenAPI documents for models and clients",
		Long: `Review OpenAPI documents: everything that validate reports, and what models and
clients need: operations without a name or description, responses without a
schema, credentials among the arguments, unused components.

Exit 1 means that there are errors or warnings; --fail-on error or --fail-on
info changes that. With --http it runs as a service, like validate.`,
		Example: `  tenon lint petstore.yaml
  tenon lint --fail-on error --json petstore.yaml`,
	})
}

// lastReviews is for requests under way when the service ends.
const lastReviews = 10 * time.Second

// reviewFlags are the flags of validate and lint.
type reviewFlags struct {
	asJSON     bool
	failOn     string
	addr       string
	hosts      []string
	server     *app.Config // who may call
	allowHosts []string
	refRoot    string
	allowRefs  []string
}

func reviewCommand(e env, lint bool, cmd *cobra.Command) *cobra.Command {
	f := reviewFlags{failOn: "error", server: app.NewConfig()}
	if lint {
		f.failOn = "warning"
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.failOn != "error" && f.failOn != "warning" && f.failOn != "info":
			return usagef("--fail-on is error, warning or info, not %q", f.failOn)
		case f.addr != "" && len(args) == 0:
			f.server.HTTP = f.addr
			access, err := app.ReadAccess(f.server, e.app())
			if err != nil {
				return err
			}
			return f.serve(cmd.Context(), e, access)
		case f.addr != "":
			return usagef("with --http there is no SPEC: documents are sent")
		case len(args) == 0:
			return usagef("%s needs at least one SPEC: a file or an https URL", cmd.Name())
		}
		return f.review(cmd.Context(), e, args, lint)
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.asJSON, "json", false, "print the reports as JSON")
	fs.StringVar(&f.failOn, "fail-on", f.failOn, "lowest severity that ends with exit 1: error, warning or info")
	fs.StringVar(&f.addr, "http", "", "run as an HTTP service on this address, for example :8080")
	fs.StringArrayVar(&f.hosts, "allowed-host", nil, "with --http, accept requests for this host name, without port, or * for any (repeatable; the called address is always accepted, on loopback its names too)")
	registerNamed(cmd, f.server, "api-key", "behind-proxy", "insecure")
	fs.StringArrayVar(&f.allowHosts, "allow-private-host", nil, "allow a private or loopback address: host, host:port, IP or CIDR (repeatable)")
	fs.StringVar(&f.refRoot, "ref-root", "", "directory that can hold the other files of a document (default: the document's own directory)")
	fs.StringArrayVar(&f.allowRefs, "allow-ref", nil, "allow documents to reference files on this web host (repeatable)")
	return cmd
}

func (f *reviewFlags) review(ctx context.Context, e env, specs []string, lint bool) error {
	client, err := egress.NewClient(egress.Options{AllowHosts: f.allowHosts})
	if err != nil {
		return usagef("--allow-private-host: %v", err)
	}
	failed := false
	reports := make([]verdict, 0, len(specs))
	for _, spec := range specs {
		r, err := openapi.New(spec, openapi.Options{Client: client, RefRoot: f.refRoot, RefHosts: f.allowRefs}).Review(ctx, lint)
		if err != nil {
			return app.BadSource(spec, err)
		}
		failed = failed || f.fails(r)
		reports = append(reports, verdictOf(spec, r))
	}
	if f.asJSON {
		enc := json.NewEncoder(e.out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(reports)
	} else {
		printVerdicts(e.out, reports)
	}
	if err != nil {
		return err
	}
	return failedIf(failed)
}

func (f *reviewFlags) fails(r *openapi.Report) bool {
	n := r.Count(openapi.SeverityError)
	if f.failOn != "error" {
		n += r.Count(openapi.SeverityWarning)
	}
	if f.failOn == "info" {
		n += r.Count(openapi.SeverityInfo)
	}
	return n > 0
}

// verdict is a report as programs read it.
type verdict struct {
	Spec       string          `json:"file,omitempty"` // the document, as it was named
	Success    bool            `json:"success"`        // there are no errors
	Version    string          `json:"version"`
	Operations int             `json:"operation_count"`
	Errors     int             `json:"error_count"`
	Warnings   int             `json:"warning_count"`
	Infos      int             `json:"info_count"`
	More       int             `json:"more_count,omitempty"` // issues that are not listed, as there are too many
	Summary    string          `json:"summary"`
	Issues     []openapi.Issue `json:"issues"`
}

func verdictOf(spec string, r *openapi.Report) verdict {
	v := verdict{
		Spec: spec, Version: r.Version, Operations: r.Operations, More: r.More, Issues: r.Issues,
		Errors: r.Count(openapi.SeverityError), Warnings: r.Count(openapi.SeverityWarning), Infos: r.Count(openapi.SeverityInfo),
	}
	v.Success = v.Errors == 0
	v.Summary = fmt.Sprintf("OpenAPI %s, %s: %s, %s, %d infos", r.Version, count(r.Operations, "operation"), count(v.Errors, "error"), count(v.Warnings, "warning"), v.Infos)
	if v.Issues == nil {
		v.Issues = []openapi.Issue{}
	}
	return v
}

func printVerdicts(w io.Writer, all []verdict) {
	for _, v := range all {
		for _, i := range v.Issues {
			fmt.Fprintln(w, i)
		}
		if v.More > 0 {
			fmt.Fprintf(w, "and %d more\n", v.More)
		}
		fmt.Fprintf(w, "%s: %s\n", v.Spec, v.Summary)
	}
}

// serve reviews documents that are sent, until ctx ends.
func (f *reviewFlags) serve(ctx context.Context, e env, access *app.Access) error {
	l, err := app.Listen(ctx, f.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.err, "tenon: listening on http://%s: POST /validate, POST /lint, GET /health\n", app.CallableAddr(l))
	web := &http.Server{
		Handler: server.CloseAfterChunks(reviews(f.hosts, access)), ReadHeaderTimeout: app.HeaderTimeout, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: app.IdleTimeout,
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReviews)
	defer cancel()
	return web.Shutdown(last)
}

// reviews is the service under these host names. It keeps nothing and reads no
// other file or address.
func reviews(hosts []string, access *app.Access) http.Handler {
	mux := http.NewServeMux()
	working := make(chan struct{}, 4) // documents in memory at once
	for path, lint := range map[string]bool{"/validate": false, "/lint": true} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			select {
			case working <- struct{}{}:
				defer func() { <-working }()
			case <-r.Context().Done():
				return
			}
			raw, err := sentDocument(http.MaxBytesReader(w, r.Body, maxReviewed))
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the document is larger than %d MiB", maxReviewed>>20))
				return
			}
			var report *openapi.Report
			if err == nil {
				report, err = openapi.Review("document", raw, lint)
			}
			if err != nil {
				refuse(w, http.StatusBadRequest, err.Error())
				return
			}
			send(w, http.StatusOK, verdictOf("", report))
		})
	}
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, map[string]string{"status": "ok", "version": app.Version()})
	})
	return guardedReviews(http.NewCrossOriginProtection().Handler(mux), hosts, access)
}

// guardedReviews looks at who asks, and under which name, before own is asked.
func guardedReviews(own http.Handler, hosts []string, access *app.Access) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !server.ServesHost(r, hosts) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("the host %.200q is not served here; --allowed-host allows it", r.Host))
			return
		}
		if _, _, err := access.Authenticate(r); err != nil && access.Keys() && r.URL.Path != "/health" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		own.ServeHTTP(w, r)
	})
}

// sentDocument reads a document that is the body, or the member openapi_spec
// of a JSON body.
func sentDocument(body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if doc, err := rawjson.Parse(raw); err == nil {
		if spec := doc.Get(doc.Root(), "openapi_spec"); spec != rawjson.None {
			if doc.Kind(spec) == rawjson.String {
				return []byte(doc.Str(spec)), nil
			}
			return doc.Raw(spec), nil
		}
	}
	if strings.TrimSpace(string(raw)) == "" {
		return nil, &tenon.Error{Code: tenon.CodeValidation, Message: "the body is empty: send an OpenAPI document, JSON or YAML"}
	}
	return raw, nil
}

func refuse(w http.ResponseWriter, status int, message string) {
	send(w, status, map[string]any{"success": false, "error": message})
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}
