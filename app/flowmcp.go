package app

import (
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/recording"
)

const schemaFileExtension = ".mjs"

// isSchemaFile reports whether a SPEC is a FlowMCP schema file or a folder of
// them.
func isSchemaFile(spec string) bool {
	if info, err := os.Stat(spec); err == nil && info.IsDir() {
		return holdsSchemaFiles(spec)
	}
	return filepath.Ext(spec) == schemaFileExtension
}

// holdsSchemaFiles reports whether a schema file stands in a folder or in one
// below it.
func holdsSchemaFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(file) == schemaFileExtension {
			found = true
			return filepath.SkipAll
		}
		return nil // what cannot be read holds none
	})
	return found
}

func openSchemaFile(s *loaded, o openapi.Options, e Env) (tenon.Source, error) {
	if err := s.readRules(o.Selection); err != nil {
		return nil, err
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
	var err error
	if options.Env, err = serverParams(s.Options.ServerParam, e); err != nil {
		return nil, err
	}
	schemaFileOptions(&options, s.Options, e)
	return flowmcp.New(s.Spec, options), nil
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
		to.Env = e.Recorder.Env(to.Env)
	}
	if e.Player != nil {
		to.Env, to.NoCache = recording.Env, true
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
	return UserDir(e, "flowmcp-libs")
}

// UserDir is a folder for what tenon keeps of a user; empty: it is not known where
// that is.
func UserDir(e Env, name string) string {
	for _, base := range [][2]string{{"XDG_CONFIG_HOME", ""}, {"APPDATA", ""}, {"HOME", ".config"}} {
		if dir, ok := e.Getenv(base[0]); ok && dir != "" {
			return filepath.Join(dir, base[1], "tenon", name)
		}
	}
	return ""
}
