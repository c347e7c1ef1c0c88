package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/enrollment"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/server"
)

// Bounds of the HTTP server, against clients that are slow on purpose.
const (
	HeaderTimeout = 10 * time.Second
	IdleTimeout   = 2 * time.Minute
	lastWords     = 2 * time.Second // for the answers of calls that were cut short
	maxHeader     = 64 << 10        // bytes of a request's line and headers, which no quota counts
)

// serve makes the server.
func (a *App) serve() error {
	c := a.config
	secret, err := a.secret()
	if err != nil {
		return err
	}
	o := server.Options{
		Logger: a.env.Logger, NoSessions: c.Sessions == "off", TaskAfter: c.TaskAfter, Allowance: a.allowance, Observer: a.serverObserver(), Refused: a.refused,
		MaxConcurrent: c.MaxConcurrentCalls, MaxPerCaller: c.MaxCallsPerCaller, MaxInFlight: c.MaxBytesInFlight, Secret: secret,
	}
	a.Server = server.New(a.Gateway, o)
	a.applyPolicy()
	return nil
}

// applyPolicy puts in force what the config says of requests and of the server's
// identity.
func (a *App) applyPolicy() {
	c := a.config
	p := server.Policy{AllowedOrigins: c.AllowedOrigins, AllowedHosts: c.AllowedHosts, ForwardHeaders: a.forward, MaxBody: c.MaxMessageBytes, PageSize: c.PageSize}
	if a.access.Load().Keys() {
		p.Authenticate = func(r *http.Request) (context.Context, string, error) { return a.access.Load().Authenticate(r) }
	}
	a.Server.SetPolicy(p)
	a.Server.SetIdentity(a.identity())
	a.routes.Store(a.newRoutes())
}

// readAccess reads who may call, for requests from then on.
func (a *App) readAccess() error {
	access, err := ReadAccess(a.config, a.env)
	if err == nil {
		a.access.Store(access)
	}
	return err
}

// serveProfile serves MCP as the client of the address wants it.
func (a *App) serveProfile(w http.ResponseWriter, r *http.Request) {
	c, err := client(r.PathValue("client"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	a.Server.ServeHTTP(w, r.WithContext(gateway.WithProfile(r.Context(), c.ID)))
}

// Handler serves MCP at /mcp, at /mcp/CLIENT for clients by name, and what else the config asks for: /jsonrpc, the path
// of Azure Functions, the metadata by which clients find the issuer of tokens,
// /healthz and /readyz.
func (a *App) Handler() http.Handler {
	return at("/mcp", a.Server, server.CloseAfterChunks(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.routes.Load().ServeHTTP(w, r) })))
}

// newRoutes are the paths beside /mcp.
func (a *App) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/healthz", a.Server.Health())
	mux.Handle("/readyz", a.Server.Health())
	if a.config.JSONRPC != "off" {
		mux.Handle("/jsonrpc", a.Server.JSONRPC())
	}
	mux.HandleFunc(profilesPath+"{client}", a.serveProfile)
	if a.users != nil {
		mux.Handle(enrollment.Path, a.users.desk)
		mux.Handle(enrollment.Path+"/", a.users.desk)
	}
	if a.config.AzurePaths {
		mux.Handle(azurePath, a.Server)
	}
	for _, path := range a.access.Load().callers.MetadataPaths() {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { a.access.Load().callers.Metadata().ServeHTTP(w, r) })
	}
	return mux
}

// Serve serves HTTP until ctx ends, then lets running calls finish for
// Config.Drain. What is left after that is cut short and answered with
// what is known of it.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	a.prepareAccess(ctx)
	web := &http.Server{
		Handler: a.Handler(), ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	failed := make(chan error, 1)
	go func() { failed <- a.serveOn(web, l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.Server.Leave()
	if err := a.linger(failed); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.drain())
	defer cancel()
	if err := a.Server.Shutdown(limit); err != nil {
		cut()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := web.Shutdown(last); err != nil {
		return web.Close()
	}
	return nil
}

// prepareAccess fetches what the issuer publishes, so that the first caller need not
// wait; what fails is in the log.
func (a *App) prepareAccess(ctx context.Context) {
	if access := a.access.Load(); access.callers.Issuer() != "" {
		incident.Go(a.env.Logger, "fetching the keys of the issuer", func() { _ = access.callers.Prepare(ctx) }, nil)
	}
}

// linger serves on for Config.ShutdownDelay, while readiness is false already.
func (a *App) linger(failed <-chan error) error {
	a.building.Lock()
	delay := a.config.ShutdownDelay
	a.building.Unlock()
	if delay <= 0 {
		return nil
	}
	wait := time.NewTimer(delay)
	defer wait.Stop()
	select {
	case err := <-failed:
		return err
	case <-wait.C:
		return nil
	}
}

// drain is how long running calls can take to finish.
func (a *App) drain() time.Duration {
	a.building.Lock()
	defer a.building.Unlock()
	return a.config.Drain
}

func (a *App) serveOn(web *http.Server, l net.Listener) error {
	if a.tls == nil {
		return web.Serve(l)
	}
	a.tls.configure(web)
	return web.ServeTLS(l, "", "")
}

// URL is where l serves MCP, as somebody on this machine can call it.
func (a *App) URL(l net.Listener) string {
	scheme := "http"
	if a.tls != nil {
		scheme = "https"
	}
	return scheme + "://" + CallableAddr(l) + "/mcp"
}

// ServeStdio serves Env.Stdin and Env.Stdout until the input or ctx ends, and then
// lets running calls finish for Config.Drain.
func (a *App) ServeStdio(ctx context.Context) error {
	talk, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(talk, a.drain())
		defer cancel()
		_ = a.Server.Shutdown(limit) // whoever is not done is cut short
		cut()
	})()
	err := a.Server.ServeStdio(talk, a.env.Stdin, a.env.Stdout)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // a clean end
	}
	return err
}

// WhoMayCall says who may call Config.HTTP, if that is not everybody on this
// machine and nobody else; else it is empty.
func (a *App) WhoMayCall() string {
	c := a.config
	var who string
	switch {
	case a.access.Load().Keys():
		who = a.access.Load().who()
	case OnLoopback(c.HTTP):
		return ""
	case c.BehindProxy:
		who = "everybody may call whom the proxy lets through (--behind-proxy)"
	default:
		who = "everybody who reaches the address may call (--insecure)"
	}
	if !OnLoopback(c.HTTP) {
		who += "; other machines reach it under " + strings.Join(append([]string{"its address"}, c.AllowedHosts...), ", ")
		if len(c.AllowedHosts) == 0 {
			who += "; --allowed-host adds a name"
		}
	}
	return who
}

// Listen opens addr, on loopback where it names no host.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, invalid("http", " %s: an address looks like :8080 or 127.0.0.1:8080", addr)
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

// at serves main at its path, as a mux does that takes longer to find it: nearly
// every request is for it.
func at(path string, main, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			main.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}
