package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// Bounds of the HTTP door, against clients that are slow on purpose.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	drainTimeout  = 10 * time.Second
)

func serveCommand(e env) *cobra.Command {
	sources := sourceFlags{level: slog.LevelWarn} // a breach that is delivered is said here
	var addr string
	var origins []string
	cmd := &cobra.Command{
		Use:   "serve SPEC...",
		Short: "Serve descriptions as MCP tools on stdio or HTTP",
		Long: `Serve one or more OpenAPI documents or FlowMCP schema files as MCP tools.

SPEC is a file or an https URL, or for schema files (.mjs) a file or a folder,
optionally as NAME=SPEC. Without --http the server speaks MCP on standard input
and output, the way desktop clients start it. With --http it answers at /mcp on
that address; an address without a host, like :8080, listens on loopback only.`,
		Example: `  tenon serve petstore.yaml
  tenon serve --http :8080 --allow-host localhost:3000 shop=openapi.json
  tenon serve --header 'Authorization: Bearer ${TOKEN}' https://api.example.com/openapi.json`,
		Args: atLeast(1, "serve needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			sources.report(e.err, w.catalog)
			s := newServer(w, origins)
			if addr == "" {
				fmt.Fprintln(e.err, "tenon: serving MCP on standard input and output; --http ADDR serves it over HTTP")
				return ignoreEnd(cmd.Context(), s.ServeStdio(cmd.Context(), e.in, e.out))
			}
			l, err := listen(cmd.Context(), addr)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.err, "tenon: listening on http://%s/mcp\n", l.Addr())
			return serveHTTP(cmd.Context(), l, s)
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&addr, "http", "", "serve streamable HTTP on this address instead of stdio, for example :8080")
	cmd.Flags().StringArrayVar(&origins, "allow-origin", nil, "let web pages of this origin call the server (repeatable)")
	return cmd
}

func newServer(w *wire, origins []string) *server.Server {
	return server.New(w.gateway, server.Options{Name: "tenon", Version: version(), Logger: w.log, AllowedOrigins: origins})
}

// listen opens addr, on loopback where it names no host.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usagef("--http %s: an address looks like :8080 or 127.0.0.1:8080", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "cannot listen on " + addr, Err: err}
	}
	return l, nil
}

// serveHTTP serves until ctx ends, then lets open calls finish for a while.
func serveHTTP(ctx context.Context, l net.Listener, s http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := web.Shutdown(drain); err != nil {
		return web.Close()
	}
	return nil
}

// ignoreEnd turns the end of the process's context into a clean end.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
