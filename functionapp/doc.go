// Package functionapp is the contract between a worker, which holds the
// functions of an Azure Functions app, and a host, which serves them: the
// bindings of function.json, host.json, the rule for schemas, the context of
// a call, the answer to it and what is wrapped in it. Both sides read and
// write with the same code.
//
// It does not know files, processes, HTTP or MCP servers: bytes go in and
// bytes come out.
//
// It stands on both paths, at their outer end. functionapp/worker writes what a
// worker says and reads what a host says; functionapp/host does the opposite.
//
// Three habits of the contract are easily taken for mistakes. What has
// structure (schemas, properties, metadata) is a JSON string that contains
// JSON. Keys of files are found ignoring case, members of schemas are not. And
// the binding key useResultSchema says that a function's answer is wrapped in
// an envelope: it has nothing to do with the key outputSchema.
package functionapp

// The addresses and names of the custom handler protocol, by which a host
// talks to a worker.
const (
	EnvPort       = "FUNCTIONS_CUSTOMHANDLER_PORT"      // where the worker listens
	EnvOldPort    = "FUNCTIONS_HTTPWORKER_PORT"         // the same, from before it was renamed
	EnvWorkerID   = "FUNCTIONS_CUSTOMHANDLER_WORKER_ID" // names the worker
	EnvOldID      = "FUNCTIONS_HTTPWORKER_ID"           // the same, from before
	EnvAppRoot    = "FUNCTIONS_APP_ROOT_PATH"           // the folder of the app
	InvocationID  = "X-Azure-Functions-InvocationId"    // header: names the call
	HostVersion   = "X-Azure-Functions-HostVersion"     // header: of the host
	FunctionFile  = "function.json"                     // in a folder for each function
	HostFile      = "host.json"                         // in the folder of the app
	SettingsFile  = "local.settings.json"               // beside it, for hosts on a developer's machine
	maxFile       = 4 << 20                             // bytes of function.json and host.json
	maxTextLayers = 3                                   // how often a context may be wrapped in a JSON string
)
