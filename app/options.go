package app

import (
	"cmp"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/openapi"
)

// maxNameMCP is how long a name of a tool can be by the protocol.
const maxNameMCP = 128

// documentOptions makes the options of OpenAPI documents, from which those of the
// other kinds take what they share with them.
func documentOptions(o *SourceOptions, c *Config, e Env) (*http.Client, openapi.Options, error) {
	policy, err := parsed(o.Policy.All, tenon.ParsePolicy)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	envelope, err := parsed(o.Envelope.All, tenon.ParseEnvelope)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	header, err := ParseHeaders(o.Header, e.Getenv)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	if u, err := url.Parse(o.BaseURL); o.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(o.BaseURL, "?#")) {
		return nil, openapi.Options{}, invalid("base-url", " must be an http or https URL without query, such as https://api.example.com/v1")
	}
	variables, err := serverVariables(o.ServerVariable)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	if err := o.check(); err != nil {
		return nil, openapi.Options{}, err
	}
	client, err := o.Client()
	if err != nil {
		return nil, openapi.Options{}, err
	}
	changes, err := overrides(o)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	longest := 0
	if o.Names == string(tenon.NamesMCP) {
		longest = maxNameMCP
	}
	return client, openapi.Options{
		MaxName: longest, Client: client, BaseURL: o.BaseURL, ServerVariables: variables, Header: header, Policy: policy, Envelope: envelope,
		FollowPages: o.FollowPages, MaxInputSchema: o.MaxInputSchema, MaxOutputSchema: o.MaxOutputSchema,
		Timeout: cmp.Or(o.AttemptTimeout, o.Timeout), Upstream: upstream(o), PollInterval: c.PollInterval,
		Selection: openapi.Selection{Include: o.Include, Exclude: o.Exclude, ReadOnly: o.ReadOnly},
		Overrides: changes, TrustMarks: o.TrustMarks, UploadRoot: o.UploadRoot, Overlays: o.Overlay, RefRoot: o.RefRoot, RefHosts: o.AllowRef, Logger: e.Logger,
	}, nil
}

// check refuses numbers and times out of range.
func (o *SourceOptions) check() error {
	return checkRanges(func(s *Setting) any {
		if s.source == nil {
			return nil
		}
		return s.source(o)
	})
}

// check refuses numbers and times of the server that are out of range.
func (c *Config) check() error {
	for name, value := range map[string]string{"jsonrpc": c.JSONRPC, "sessions": c.Sessions} {
		if value != "on" && value != "off" && value != "" {
			return invalid(name, " is on or off, not %q", value)
		}
	}
	if c.LogFormat != "text" && c.LogFormat != "json" && c.LogFormat != "" {
		return invalid("log-format", " is text or json, not %q", c.LogFormat)
	}
	return checkRanges(func(s *Setting) any {
		if s.whole == nil {
			return nil
		}
		return s.whole(c)
	})
}

// open returns the source of a description: what differs between the kinds is
// known here alone.
func (s *loaded) open(o openapi.Options, e Env) (tenon.Source, error) {
	switch {
	case isApp(s.Spec):
		return functionApp(s.Spec, s.Options, o, e)
	case !isSchemaFile(s.Spec):
		return openapi.New(s.Spec, o), nil
	}
	options := flowmcp.Options{
		Client: o.Client, Env: e.Getenv, BaseURL: o.BaseURL, Policy: o.Policy, Envelope: o.Envelope, TrustMarks: o.TrustMarks,
		MaxInputSchema: o.MaxInputSchema, MaxOutputSchema: o.MaxOutputSchema, Timeout: o.Timeout,
		AuthOrigins: s.Options.AuthOrigin,
	}
	if rules := s.rules; rules != nil {
		options.Selects = func(method, path string, names, tags []string) bool {
			return rules.Takes(openapi.Subject{Method: method, Path: path, IDs: names, Tags: tags})
		}
	}
	schemaFileOptions(&options, s.Options, e)
	return flowmcp.New(s.Spec, options), nil
}

func functionApp(dir string, own *SourceOptions, o openapi.Options, e Env) (tenon.Source, error) {
	environ, err := own.WorkerEnviron(e)
	if err != nil {
		return nil, err
	}
	return host.New(dir, host.Options{
		Policy: o.Policy, Envelope: o.Envelope, PublishIncompatibleSchemas: own.PublishIncompatibleSchemas, TrustPort: own.TrustWorkerPort, OnDemand: e.OnDemand, Environ: environ, Logger: e.Logger,
	}), nil
}

// schemaFileOptions puts what only schema files have into their options.
func schemaFileOptions(to *flowmcp.Options, o *SourceOptions, e Env) {
	to.Worker = e.WorkerCommand
	to.LibraryDir = LibraryDir(o.LibraryDir, e)
	to.ListsDir = o.ListsDir
	to.HandlerSecrets = o.HandlerSecrets
	to.HandlerReads, to.HandlerWrites = o.HandlerReads, o.HandlerWrites
	to.Strict = o.Strict
	to.ImplicitParameters = o.ImplicitParameters
	to.Libraries = o.AllowLibrary
	to.Workers = o.HandlerWorkers
	to.HandlerTimeout = o.HandlerTimeout
	to.Selection = o.Selection
	to.NoCache, to.Refresh = o.NoCache, o.Refresh
	o.DataDirs(to, e)
	if e.DryRun { // server parameters stand by their names
		env := to.Env
		to.Env = func(name string) (string, bool) {
			_, ok := env(name)
			return name, ok
		}
	}
	if e.Recorder != nil {
		to.Client, to.Env = e.Recorder.Client(to.Client), e.Recorder.Env(to.Env)
	}
}

// DataDirs sets the directories with the data of schema files.
func (o *SourceOptions) DataDirs(to *flowmcp.Options, e Env) {
	to.ProjectDir = o.ProjectDir
	to.GlobalDir = o.UserDir
	if home, ok := e.Getenv("HOME"); o.UserDir == "" && ok && home != "" {
		to.GlobalDir = filepath.Join(home, ".flowmcp")
	}
	to.CacheDir = CacheDir(o.CacheDir, e)
}

// CacheDir is the directory of the cache of schema files: the one that is named, or
// that of the user.
func CacheDir(named string, e Env) string {
	if named != "" {
		return named
	}
	for _, base := range [][2]string{{"XDG_CACHE_HOME", ""}, {"LOCALAPPDATA", ""}, {"HOME", ".cache"}} {
		if dir, ok := e.Getenv(base[0]); ok && dir != "" {
			return filepath.Join(dir, base[1], "tenon", "flowmcp")
		}
	}
	return ""
}

// LibraryDir is the folder of the bundles: the one that is named, or that of
// the user.
func LibraryDir(named string, e Env) string {
	if named != "" {
		return named
	}
	for _, base := range [][2]string{{"XDG_CONFIG_HOME", ""}, {"APPDATA", ""}, {"HOME", ".config"}} {
		if dir, ok := e.Getenv(base[0]); ok && dir != "" {
			return filepath.Join(dir, base[1], "tenon", "flowmcp-libs")
		}
	}
	return ""
}
