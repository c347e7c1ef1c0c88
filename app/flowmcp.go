package app

import (
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// isSchemaFile reports whether a SPEC is a FlowMCP schema file or a folder of
// them.
func isSchemaFile(spec string) bool {
	if filepath.Ext(spec) == ".mjs" {
		return true
	}
	info, err := os.Stat(spec)
	return err == nil && info.IsDir()
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
