package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/access"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/limit"
	"github.com/tenon-mcp/tenon/internal/roll"
	"github.com/tenon-mcp/tenon/recording"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// Env is what an [App] may use of the process that it runs in. Its zero value
// is nothing.
type Env struct {
	Getenv func(string) (string, bool) // such as os.LookupEnv; nil: there are no variables
	// Stdin and Stdout are for [App.ServeStdio].
	Stdin  io.Reader
	Stdout io.Writer
	// Stderr gets a line for each reload; nil: nobody reads them.
	Stderr io.Writer
	Logger *slog.Logger // nil: nothing is logged
	// WorkerCommand starts a process that calls flowmcp.ServeWorker, for handlers of
	// schema files; nil: tools with handlers are not served.
	WorkerCommand []string

	// Keyring returns what the system's keyring has by a name; nil: there is none.
	Keyring func(name string) (string, error)

	OnDemand bool // workers of function apps are started by the first call
	DryRun   bool // no credential is read: a word stands for each
	// AllowUnmatched makes a selector that matches nothing a warning, as in a reload;
	// see [Unmatched].
	AllowUnmatched bool
	// Store has the state that replicas share; nil: that of this process is in its
	// memory.
	Store tenon.Store
	// EvidenceDir is the folder of the ledger of evidence where the config names no file;
	// empty: without a file none is kept.
	EvidenceDir string
	// Recorder records the exchanges of calls; nil: Config.Record says.
	Recorder *recording.Recorder
	// Player answers the requests of calls in place of the network, and no credential
	// is read; nil: Config.Replay says.
	Player *recording.Player

	observer egress.Observer // told of requests to upstreams; nil: nobody
	shared   tenon.Cache     // of the replicas that share Store; nil: there is none
	keys     tenon.Store     // of calls whose outcome is not known: Store, or else the memory of this process
}

func (e Env) withDefaults() Env {
	if e.Getenv == nil {
		e.Getenv = func(string) (string, bool) { return "", false }
	}
	if e.Stderr == nil {
		e.Stderr = io.Discard
	}
	if e.Logger == nil {
		e.Logger = slog.New(slog.DiscardHandler)
	}
	return e
}

// App is a running whole: sources, a gateway with their tools, and an MCP server.
type App struct {
	Gateway *gateway.Gateway
	Server  *server.Server

	inForce // guarded by building, from the first reload on

	env    Env
	access atomic.Pointer[Access]
	routes atomic.Pointer[http.ServeMux] // beside /mcp

	before     *App // whose sources can be taken over; nil: none
	open       []io.Closer
	store      io.Closer // what all others may need until they end; nil: it is not a's to close
	audit      auditor
	limits     *limit.Limiter
	evidence   *evidence.Recorder   // nil: none is kept
	whyNot     string               // evidence was asked for and is not kept
	telemetry  *telemetry.Telemetry // nil: none
	metricsURL string               // empty: metrics are not served
	tls        *certificate         // nil: HTTP without TLS
	users      *userCredentials     // nil: users store none
	roll       *roll.Roll           // of the replicas that share the store; nil: there is no other

	reconfiguring sync.Mutex    // held while a config is put in force
	building      sync.Mutex    // guards what was read of sources
	follow        func(*loaded) // watches a further source; nil: none is watched
}

// inForce is what a config became. Another config replaces all of it at once, so that
// what belongs here reloads.
type inForce struct {
	config  *Config
	sources []*loaded
	parts   map[*SourceOptions]*parts
	rules   *access.Rules // who sees what
	forward []string      // headers of clients' requests that sources may see
	options gateway.BuildOptions
	tools   *gateway.Catalog       // the last that was built, also behind search mode
	adjust  map[string]*adjustment // by source
	hidden  int                    // tools that search mode finds and does not list
}

// New reads every description and makes a gateway and a server of them. A mistake
// in the Config is a [*ConfigError]; a description that cannot be read at all is an
// error of class bad_source. The Config must not change afterwards.
func New(ctx context.Context, c *Config, e Env) (*App, error) {
	a, err := newApp(ctx, c, e.withDefaults())
	return a, c.located(err)
}

func newApp(ctx context.Context, c *Config, e Env) (*App, error) {
	a := &App{inForce: newInForce(c), env: e}
	if err := a.openRecording(); err != nil {
		return nil, err
	}
	catalog, err := a.start(ctx)
	if err != nil {
		a.Close()
		return nil, err
	}
	o := gateway.Options{Logger: a.env.Logger, Timeout: longest(c.Sources), FlushInterval: c.Defaults.FlushInterval, Store: a.env.Store}
	if a.limits, err = a.newLimiter(); err != nil {
		a.Close()
		return nil, err
	}
	l, err := a.openAudit(c)
	if err != nil {
		a.Close()
		return nil, err
	}
	_ = a.audit.replace(l)
	a.open = append(a.open, &a.audit)
	a.openEvidence() //nolint:contextcheck // it counts as long as the app serves
	o.Admission = []gateway.Admission{&a.audit, a.limits}
	o.Observers = a.observers()
	o.Scopes, o.Unknown = a.hasScopes, a.unknownTool
	a.Gateway = gateway.New(catalog, o)
	if err := a.serve(); err != nil {
		a.Close()
		return nil, err
	}
	if err := a.watchTelemetry(); err != nil { //nolint:contextcheck // it ends with Close
		a.Close()
		return nil, err
	}
	if err := a.joinReplicas(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Wrap returns an App with a server for a gateway that was made elsewhere. It has
// no sources.
func Wrap(g *gateway.Gateway, c *Config, e Env) (*App, error) {
	a := &App{Gateway: g, inForce: newInForce(c), env: e.withDefaults(), limits: limit.New(limit.Options{})}
	if err := a.readAccess(); err != nil {
		return nil, err
	}
	return a, a.serve()
}

func newInForce(c *Config) inForce {
	return inForce{config: c, adjust: map[string]*adjustment{}, parts: map[*SourceOptions]*parts{}}
}

// Close ends what the sources hold, such as workers, after the calls under way.
func (a *App) Close() {
	a.end()
	if a.telemetry != nil { // it tells how the others ended
		if err := a.telemetry.Close(); err != nil {
			a.env.Logger.Warn("telemetry does not end cleanly", "error", err)
		}
	}
}

// end ends all but telemetry.
func (a *App) end() {
	for _, c := range a.open {
		if err := c.Close(); err != nil {
			a.env.Logger.Error("a source does not end cleanly", "error", err)
		}
	}
	if a.store != nil {
		_ = a.store.Close() // nothing is kept there that is not there already
	}
}

// LoadedSource is a description that was read.
type LoadedSource struct {
	Name, Spec string
	Source     tenon.Source
	Features   tenon.Features
}

// Sources are the descriptions that were read, in their order. A directory of
// OpenAPI documents is a source for each of them.
func (a *App) Sources() []LoadedSource {
	a.building.Lock()
	defer a.building.Unlock()
	all := make([]LoadedSource, len(a.sources))
	for i, s := range a.sources {
		all[i] = LoadedSource{s.Name, s.Spec, s.source, s.offer}
	}
	return all
}

// HiddenTools is the number of tools that search mode finds and does not list.
func (a *App) HiddenTools() int { return a.hidden }

// Intercept makes t the transport of all further requests of sources.
func (a *App) Intercept(t http.RoundTripper) {
	for _, p := range a.parts {
		p.client.Transport = t
	}
}

// longest is the time that a call may take: no source needs more.
func longest(all []Source) (d time.Duration) {
	for _, s := range all {
		d = max(d, s.Options.Timeout)
	}
	return d
}
