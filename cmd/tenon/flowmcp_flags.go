package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// handlerFlags are the flags about the handlers of schema files.
type handlerFlags struct {
	libs    string
	lists   string
	secrets []string
	reads   []string
	writes  []string
	workers int
	time    time.Duration
	strict  bool
	callers bool
	allowed []string
	folders folderFlags

	tape    *flowmcp.Recorder // that requests go by; nil: none
	choice  string            // file of a selection
	names   bool              // server parameters stand by their names: nothing is sent
	noCache bool
	refresh bool
}

func (f *handlerFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.libs, "libs", "", "folder of the libraries that handlers of schema files use; see 'tenon flowmcp libs' (default: the user's)")
	fs.StringVar(&f.lists, "lists", "", "folder of the shared lists of schema files (default: _lists or _shared above a file)")
	fs.StringArrayVar(&f.secrets, "handler-secrets", nil, "give the handlers of a schema file, NAMESPACE or NAMESPACE/FILE, the values of its server parameters, because they sign with them (repeatable)")
	fs.StringArrayVar(&f.reads, "handler-reads", nil, "let handlers of a schema file send POST under a tool that only reads, because it reads with them: NAMESPACE, NAMESPACE/FILE or NAMESPACE/FILE::TOOL (repeatable)")
	fs.StringArrayVar(&f.writes, "handler-writes", nil, "let handlers of a schema file change something whatever their tool declares; it is not read-only then, and consent is asked: names as for --handler-reads (repeatable)")
	fs.BoolVar(&f.strict, "strict-schemas", false, "serve only schema files that keep the letter of the format's pages; see 'tenon flowmcp check --strict'")
	fs.BoolVar(&f.callers, "caller-marks", true, "take marks of schema files that name no server parameter, such as {{CITY}}, as arguments where the file's own cases give them")
	fs.StringArrayVar(&f.allowed, "allow-library", nil, "allow a library beside those of the format of schema files (repeatable)")
	fs.IntVar(&f.workers, "handler-workers", 0, "the most processes that run handlers (0: as many as processors, at least 2)")
	f.folders.register(cmd)
	fs.StringVar(&f.choice, "selection", "", "serve only what this selection of schema files, or this agent, names (.mjs)")
	fs.BoolVar(&f.noCache, "no-cache", false, "neither keep answers of schema files nor take those that were kept")
	fs.BoolVar(&f.refresh, "refresh", false, "ask anew for answers of schema files that were kept, and keep the new ones")
	fs.DurationVar(&f.time, "handler-time", 0, "the longest that the code of one handler may run, waiting left out (0: 5s)")
}

// apply puts the flags into the options of a source.
func (f *handlerFlags) apply(o *flowmcp.Options, e env) {
	o.Worker = e.worker
	o.LibraryDir = libraryDir(f.libs, e)
	o.Lists = f.lists
	o.HandlerSecrets = f.secrets
	o.HandlerReads, o.HandlerWrites = f.reads, f.writes
	o.Strict = f.strict
	o.CallerMarks = f.callers
	o.Libraries = f.allowed
	o.Workers = f.workers
	o.HandlerTime = f.time
	o.Selection = f.choice
	o.NoCache, o.Refresh = f.noCache, f.refresh
	f.folders.apply(o, e)
	if f.names {
		env := o.Env
		o.Env = func(name string) (string, bool) {
			_, ok := env(name)
			return name, ok
		}
	}
	if f.tape != nil {
		o.Client, o.Env = f.tape.Client(o.Client), f.tape.Env(o.Env)
	}
}

// folderFlags are the flags about what schema files have beside them.
type folderFlags struct{ project, user, cache string }

func (f *folderFlags) register(cmd *cobra.Command) {
	f.registerData(cmd)
	cmd.Flags().StringVar(&f.cache, "cache-dir", "", "folder for answers and databases that schema files let tenon keep (default: tenon/flowmcp in the user's cache folder)")
}

// registerData registers those for what is only read.
func (f *folderFlags) registerData(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.project, "project-dir", ".flowmcp", "folder of the project's data for schema files: databases and texts in its folder resources")
	fs.StringVar(&f.user, "user-dir", "", "folder of the user's data for schema files (default: .flowmcp in the home folder)")
}

func (f *folderFlags) apply(o *flowmcp.Options, e env) {
	o.ProjectDir = f.project
	o.GlobalDir = f.user
	if home, ok := e.getenv("HOME"); f.user == "" && ok && home != "" {
		o.GlobalDir = filepath.Join(home, ".flowmcp")
	}
	o.CacheDir = cacheDir(f.cache, e)
}

// cacheDir is the folder for what is kept: the one that is named, or that of
// the user.
func cacheDir(named string, e env) string {
	if named != "" {
		return named
	}
	for _, base := range [][2]string{{"XDG_CACHE_HOME", ""}, {"LOCALAPPDATA", ""}, {"HOME", ".cache"}} {
		if dir, ok := e.getenv(base[0]); ok && dir != "" {
			return filepath.Join(dir, base[1], "tenon", "flowmcp")
		}
	}
	return ""
}

// sandboxWorkerCommand is the inside of the processes that run handlers.
func sandboxWorkerCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:    "sandbox-worker",
		Short:  "Run handlers for the process that started this one",
		Hidden: true,
		Args:   exactly(0, "sandbox-worker takes no arguments"),
		RunE:   func(*cobra.Command, []string) error { return flowmcp.ServeWorker(e.in, e.out) },
	}
}
