package app

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/config"
)

// formatSettings are the settings of one kind of description.
func formatSettings() []Setting {
	return slices.Concat(
		group("OpenAPI documents", []Setting{
			{Name: "overlay", source: func(o *SourceOptions) any { return &o.Overlay }, rebase: config.Beside, Help: "apply this overlay (file or URL) to OpenAPI documents before reading them (repeatable, in order)"},
			{Name: "ref-root", source: func(o *SourceOptions) any { return &o.RefRoot }, rebase: config.Beside, Help: "directory that can hold the other files of an OpenAPI document (default: the document's own directory)"},
			{Name: "allow-ref", source: func(o *SourceOptions) any { return &o.AllowRef }, Help: "allow OpenAPI documents to reference files on this web host (repeatable)"},
			{Name: "server-variable", source: func(o *SourceOptions) any { return &o.ServerVariable }, pair: "=", Help: "value of a variable in the server URLs of an OpenAPI document, as NAME=VALUE (repeatable)"},
		}),
		group("FlowMCP schema files", []Setting{
			{Name: "strict", source: func(o *SourceOptions) any { return &o.Strict }, Help: "serve only schema files that follow the format's pages to the letter; see 'tenon flowmcp check --strict'"},
			{Name: "selection", source: func(o *SourceOptions) any { return &o.Selection }, rebase: config.Beside, Help: "serve only what this selection of schema files, or this agent, names (.mjs)"},
			{Name: "implicit-parameters", source: func(o *SourceOptions) any { return &o.ImplicitParameters }, def: true, Help: "treat placeholders of schema files that name no server parameter, such as {{CITY}}, as arguments if the file's own tests give them values"},
			{Name: "lists-dir", source: func(o *SourceOptions) any { return &o.ListsDir }, rebase: config.Beside, Help: "directory of the shared lists of schema files (default: _lists or _shared above a file)"},
			{Name: "library-dir", source: func(o *SourceOptions) any { return &o.LibraryDir }, rebase: config.Beside, Help: "directory of the libraries that handlers of schema files use; see 'tenon flowmcp libs' (default: the user's)"},
			{Name: "allow-library", source: func(o *SourceOptions) any { return &o.AllowLibrary }, Help: "allow a library that is not part of the format of schema files (repeatable)"},
			{Name: "handler-secrets", source: func(o *SourceOptions) any { return &o.HandlerSecrets }, Help: "pass the values of server parameters to the handlers of a schema file, NAMESPACE or NAMESPACE/FILE, if they sign requests (repeatable)"},
			{Name: "handler-reads", source: func(o *SourceOptions) any { return &o.HandlerReads }, Help: "allow handlers of a schema file to send POST in a read-only tool, if they only read with it: NAMESPACE, NAMESPACE/FILE or NAMESPACE/FILE::TOOL (repeatable)"},
			{Name: "handler-writes", source: func(o *SourceOptions) any { return &o.HandlerWrites }, Help: "allow handlers of a schema file to change something whatever their tool declares; the tool is not read-only then and needs confirmation: names as for --handler-reads (repeatable)"},
			{Name: "handler-timeout", source: func(o *SourceOptions) any { return &o.HandlerTimeout }, Help: "CPU time limit of one handler call (0: 5s)"},
			{Name: "handler-workers", source: func(o *SourceOptions) any { return &o.HandlerWorkers }, Help: "worker processes that run handlers (0: one per CPU, at least 2)"},
			{Name: "cache-dir", source: func(o *SourceOptions) any { return &o.CacheDir }, rebase: config.Beside, Help: "directory for cached responses and databases of schema files (default: tenon/flowmcp in the user's cache directory)"},
			{Name: "project-dir", source: func(o *SourceOptions) any { return &o.ProjectDir }, rebase: config.Beside, def: ".flowmcp", Help: "directory with project data of schema files (resources/ holds databases and texts)"},
			{Name: "user-dir", source: func(o *SourceOptions) any { return &o.UserDir }, rebase: config.Beside, Help: "directory with the user's data of schema files (default: .flowmcp in the home directory)"},
			{Name: "no-cache", source: func(o *SourceOptions) any { return &o.NoCache }, Help: "disable the response cache of schema files"},
			{Name: "refresh", source: func(o *SourceOptions) any { return &o.Refresh }, Help: "ignore cached responses of schema files and cache the new ones"},
		}),
		group("Function apps", []Setting{
			{Name: "worker-env", source: func(o *SourceOptions) any { return &o.WorkerEnv }, pair: "=", secret: noSecretVariable, Help: "pass this environment variable to the worker of a function app: NAME, or NAME=value (repeatable)"},
			{Name: "trust-worker-port", source: func(o *SourceOptions) any { return &o.TrustWorkerPort }, Help: "send calls of a function app to any process that listens on its worker's port; otherwise only to processes that tenon started for it, if the system can tell (Linux, Windows)"},
			{Name: "publish-incompatible-schemas", source: func(o *SourceOptions) any { return &o.PublishIncompatibleSchemas }, Help: "publish output schemas of function apps even if some clients drop all tools because of them"},
		}),
	)
}
