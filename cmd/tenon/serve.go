package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// Bounds of the HTTP door, against clients that are slow on purpose.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	drainTimeout  = 10 * time.Second // of the service that reviews documents
	lastWords     = 2 * time.Second  // for the answers of calls that were cut short
	maxHeader     = 64 << 10         // bytes of a request's line and headers, which no quota counts
)

// serving is what serve is told by its flags.
type serving struct {
	sources sourceFlags
	addr    string
	doors   doors
	watch   watchFlags
	config  string
	drain   time.Duration
	format  string // of the log
	cost    listCost
}

func (s *serving) register(cmd *cobra.Command) {
	s.sources.level = slog.LevelWarn // a violation that is delivered is said here
	s.doors = doors{plain: "on", sessions: "on"}
	s.sources.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&s.addr, "http", "", "serve streamable HTTP on this address instead of stdio, for example :8080")
	fs.StringVar(&s.doors.plain, "jsonrpc", s.doors.plain, "the plain JSON-RPC endpoint /jsonrpc: on or off")
	fs.StringVar(&s.doors.sessions, "sessions", s.doors.sessions, "sessions for clients before 2026-07-28: on or off, for several replicas behind one address")
	takes(cmd, "jsonrpc", "on", "off")
	takes(cmd, "sessions", "on", "off")
	fs.DurationVar(&s.doors.taskAfter, "task-after", 10*time.Second, "a longer call becomes a task for clients that can wait for one; negative: never")
	s.doors.identity.register(cmd)
	fs.IntVar(&s.cost.warn, "list-tokens-warn", 20_000, "name --tools-mode search at the start where the list of tools takes more tokens; negative: say nothing of them")
	s.doors.limits.register(cmd)
	s.doors.access.register(cmd)
	s.doors.azure.register(cmd)
	s.watch.register(cmd, &s.sources.poll)
	fs.StringArrayVar(&s.doors.origins, "allow-origin", nil, "let web pages of this origin call the server (repeatable)")
	fs.StringArrayVar(&s.doors.hosts, "host-name", nil, "serve under this host name, without port, or * for any (repeatable; the address that was called is always served, on loopback its names too)")
	fs.DurationVar(&s.drain, "drain", 30*time.Second, "on SIGTERM or interrupt, let calls under way go on for so long; what is left is then answered with what is known of it")
	fs.StringVar(&s.format, "log-format", "text", "how lines of the log on standard error look: text or json")
	takes(cmd, "log-format", "text", "json")
	fs.StringVar(&s.config, configFlag, "", "read sources and flags from this file, see docs/config.md; flags of the command line count before it")
}

// plan checks the flags and says what is to be served.
func (s *serving) plan(e env, cmd *cobra.Command, specs []string) ([]planned, error) {
	plan, err := s.sources.plan(cmd, s.config, specs)
	if err == nil {
		err = s.doors.check(e, s.addr)
	}
	switch {
	case err != nil:
	case s.format != "text" && s.format != "json":
		err = usagef("--log-format is text or json, not %q", s.format)
	case s.drain < 0:
		err = usagef("--drain is a time, not %v", s.drain)
	}
	return plan, err
}

func serveCommand(e env) *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve SPEC...",
		Short: "Serve descriptions as MCP tools on stdio or HTTP",
		Long: `Serve one or more OpenAPI documents, FlowMCP schema files or function apps as
MCP tools.

SPEC is a file or an https URL, a folder of OpenAPI documents, for schema files
(.mjs) a file or a folder, for function apps the folder with the host.json,
optionally as NAME=SPEC. --config
reads them, and every flag, from a file. Without --http the server speaks MCP on
standard input and output, the way desktop clients start it. With --http it
answers at /mcp on that address, and at /jsonrpc plain JSON-RPC for programs
that are no MCP clients; /healthz and /readyz tell how it is. An address without
a host, like :8080, listens on loopback only.

When a file of a description changes, it is reloaded; see --watch.
SIGHUP reads all of them again. A config that changes is said, and counts from
the next start. SIGTERM and interrupt let calls under way end, see --drain; a
second one ends the process at once.`,
		Example: `  tenon serve petstore.yaml
  tenon serve --config tenon.yaml
  tenon serve --http :8080 --allow-host localhost:3000 shop=openapi.json
  tenon serve --header 'Authorization: Bearer ${TOKEN}' https://api.example.com/openapi.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if s.config != "" {
				return nil
			}
			return atLeast(1, "serve needs at least one SPEC: a file or an https URL, or --config FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			defer giveHeapRoom(e, idleTime)()
			plan, err := s.plan(e, cmd, args)
			if err != nil {
				return err
			}
			defer e.serve(s.format)()
			w, err := s.sources.connectAll(cmd.Context(), e, plan)
			if err != nil {
				return err
			}
			defer w.close()
			s.sources.report(e.err, w.catalog)
			s.cost.tell(e.err, w.catalog, w.mode.mode)
			if s.watch.files {
				defer w.follow(cmd.Context(), e.err)()
			}
			if s.watch.files && s.config != "" {
				defer followConfig(cmd.Context(), e.err, s.config)()
			}
			if e.hangups != nil {
				go w.reloadAll(cmd.Context(), e.err, e.hangups())
			}
			return s.run(cmd.Context(), e, w)
		},
	}
	s.register(cmd)
	return cmd
}

// run serves until ctx ends.
func (s *serving) run(ctx context.Context, e env, w *wire) error {
	m := newServer(w, s.doors)
	if s.addr == "" {
		fmt.Fprintln(e.err, "tenon: serving MCP on standard input and output; --http ADDR serves it over HTTP")
		return ignoreEnd(ctx, serveStdio(ctx, e, m, s.drain))
	}
	l, err := listen(ctx, s.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.err, "tenon: listening on http://%s/mcp\n", callable(l))
	if who := s.doors.whoMayCall(s.addr); who != "" {
		fmt.Fprintln(e.err, "tenon: "+who)
	}
	return serveHTTP(ctx, l, m, s.doors, s.drain)
}

// serveStdio serves until the input or ctx ends, and then lets open calls finish
// for a while.
func serveStdio(ctx context.Context, e env, m *server.Server, drain time.Duration) error {
	talk, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(talk, drain)
		defer cancel()
		_ = m.Shutdown(limit) // whoever is not done is cut short
		cut()
	})()
	return m.ServeStdio(talk, e.in, e.out)
}

// doors says which doors an HTTP server has.
type doors struct {
	plain, sessions string
	origins, hosts  []string
	taskAfter       time.Duration
	identity        identity
	limits          limitFlags
	access          accessFlags
	azure           azureDoor
}

func (d *doors) check(e env, addr string) error {
	for name, value := range map[string]string{"jsonrpc": d.plain, "sessions": d.sessions} {
		if value != "on" && value != "off" {
			return usagef("--%s is on or off, not %q", name, value)
		}
	}
	if err := d.limits.check(); err != nil {
		return err
	}
	if err := d.azure.check(e, addr); err != nil {
		return err
	}
	return d.access.check(e, addr, d.azure.key != "")
}

// authenticate is what the server asks of every request; nil: nobody has to be
// known.
func (d *doors) authenticate() func(*http.Request) (string, error) {
	if d.azure.key == "" && len(d.access.known) == 0 {
		return nil
	}
	return func(r *http.Request) (string, error) {
		if d.azure.opens(r) {
			return azureCaller, nil
		}
		if len(d.access.known) == 0 {
			return "", errNoAzureKey
		}
		return d.access.authenticate(r)
	}
}

// whoMayCall says it, where not everybody on this machine may.
func (d *doors) whoMayCall(addr string) string {
	var who string
	switch {
	case len(d.access.known) > 0:
		who = "callers with a key may call (" + count(len(d.access.known), "API key") + ")"
	case d.azure.key != "":
		who = "callers with the key may call"
	case onLoopback(addr):
		return ""
	case d.access.behindProxy:
		who = "everybody may call whom the proxy lets through (--behind-proxy)"
	default:
		who = "everybody who reaches the address may call (--insecure)"
	}
	if !onLoopback(addr) {
		who += "; other machines reach it under " + strings.Join(append([]string{"its address"}, d.hosts...), ", ")
		if len(d.hosts) == 0 {
			who += "; --host-name adds a name"
		}
	}
	return who
}

func newServer(w *wire, d doors) *server.Server {
	o := server.Options{
		Name: "tenon", Version: version(), Logger: w.log, AllowedOrigins: d.origins, AllowedHosts: d.hosts, NoSessions: d.sessions == "off", TaskAfter: d.taskAfter,
		ForwardHeaders: w.forward, Authenticate: d.authenticate(),
	}
	d.limits.set(&o)
	d.identity.set(&o, w)
	return server.New(w.gateway, o)
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

// serveHTTP serves until ctx ends, then lets open calls finish for a while. What
// is left after that is cut short and answered with what is known of it.
func serveHTTP(ctx context.Context, l net.Listener, s *server.Server, d doors, drain time.Duration) error {
	mux := http.NewServeMux()
	mux.Handle("/healthz", s.Health())
	mux.Handle("/readyz", s.Health())
	if d.plain != "off" {
		mux.Handle("/jsonrpc", s.JSONRPC())
	}
	d.azure.mount(mux, s)
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	web := &http.Server{
		Handler: at("/mcp", s, server.CloseAfterChunks(mux)), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(&patient{Listener: l}) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := s.Shutdown(limit); err != nil {
		cut()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := web.Shutdown(last); err != nil {
		return web.Close()
	}
	return nil
}

// at serves door at its path, as a mux does that takes longer to find it: nearly
// every request is for it.
func at(path string, door, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			door.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// ignoreEnd turns the end of the process's context into a clean end.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
