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
	idleTimeout   = 2 * time.Minute
	drainTimeout  = 10 * time.Second
)

func serveCommand(e env) *cobra.Command {
	sources := sourceFlags{level: slog.LevelWarn} // a breach that is delivered is said here
	var addr string
	var origins []string
	var watch watchFlags
	doors := doors{plain: "on", sessions: "on"}
	cmd := &cobra.Command{
		Use:   "serve SPEC...",
		Short: "Serve descriptions as MCP tools on stdio or HTTP",
		Long: `Serve one or more OpenAPI documents, FlowMCP schema files or function apps as
MCP tools.

SPEC is a file or an https URL, for schema files (.mjs) a file or a folder, for
function apps the folder with the host.json, optionally as NAME=SPEC. Without --http the server speaks MCP on standard input
and output, the way desktop clients start it. With --http it answers at /mcp on
that address, and at /jsonrpc plain JSON-RPC for programs that are no MCP
clients; /healthz and /readyz tell how it is. An address without a host, like
:8080, listens on loopback only.`,
		Example: `  tenon serve petstore.yaml
  tenon serve --http :8080 --allow-host localhost:3000 shop=openapi.json
  tenon serve --header 'Authorization: Bearer ${TOKEN}' https://api.example.com/openapi.json`,
		Args: atLeast(1, "serve needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := doors.check(e, addr); err != nil {
				return err
			}
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.close()
			sources.report(e.err, w.catalog)
			if watch.files {
				defer w.follow(cmd.Context(), e.err)()
			}
			s := newServer(w, origins, doors)
			if addr == "" {
				fmt.Fprintln(e.err, "tenon: serving MCP on standard input and output; --http ADDR serves it over HTTP")
				return ignoreEnd(cmd.Context(), s.ServeStdio(cmd.Context(), e.in, e.out))
			}
			l, err := listen(cmd.Context(), addr)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.err, "tenon: listening on http://%s/mcp\n", l.Addr())
			return serveHTTP(cmd.Context(), l, s, doors)
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&addr, "http", "", "serve streamable HTTP on this address instead of stdio, for example :8080")
	cmd.Flags().StringVar(&doors.plain, "jsonrpc", doors.plain, "the plain JSON-RPC door at /jsonrpc: on or off")
	cmd.Flags().StringVar(&doors.sessions, "sessions", doors.sessions, "sessions for clients before 2026-07-28: on or off, for several replicas behind one address")
	cmd.Flags().DurationVar(&doors.taskAfter, "task-after", 10*time.Second, "a longer call becomes a task for clients that can wait for one; negative: never")
	doors.azure.register(cmd)
	watch.register(cmd, &sources.poll)
	cmd.Flags().StringArrayVar(&origins, "allow-origin", nil, "let web pages of this origin call the server (repeatable)")
	return cmd
}

// doors says which doors an HTTP server has.
type doors struct {
	plain, sessions string
	taskAfter       time.Duration
	azure           azureDoor
}

func (d *doors) check(e env, addr string) error {
	for name, value := range map[string]string{"jsonrpc": d.plain, "sessions": d.sessions} {
		if value != "on" && value != "off" {
			return usagef("--%s is on or off, not %q", name, value)
		}
	}
	return d.azure.check(e, addr)
}

func newServer(w *wire, origins []string, d doors) *server.Server {
	return server.New(w.gateway, server.Options{
		Name: "tenon", Version: version(), Logger: w.log, AllowedOrigins: origins, NoSessions: d.sessions == "off", TaskAfter: d.taskAfter,
		ForwardHeaders: w.forward,
	})
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
func serveHTTP(ctx context.Context, l net.Listener, s *server.Server, d doors) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.Handle("/healthz", s.Health())
	mux.Handle("/readyz", s.Health())
	if d.plain != "off" {
		mux.Handle("/jsonrpc", s.JSONRPC())
	}
	d.azure.mount(mux, s)
	web := &http.Server{Handler: d.azure.guard(mux), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := s.Shutdown(drain); err != nil {
		return web.Close()
	}
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
