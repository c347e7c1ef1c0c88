// Package functionapp is the contract between a worker, which contains the
// functions of an Azure Functions app, and a host, which serves them: the
// bindings of function.json, host.json, the schema rule, the context of a call,
// its response and its envelope. Both sides read and write with the same code.
//
// It does not know files, processes, HTTP or MCP servers: it converts between
// bytes and values.
//
// It is the outermost layer of both sides: functionapp/worker writes what a
// worker sends and reads what a host sends; functionapp/host does the opposite.
//
// Three properties of the contract look like mistakes. Structured values
// (schemas, properties, metadata) are JSON strings that contain JSON. Keys of
// files are matched ignoring case, members of schemas are not. And the binding
// key useResultSchema means that a function's result is wrapped in an envelope;
// it is unrelated to the key outputSchema.
package functionapp

// The addresses and names of the custom handler protocol between host and
// worker.
const (
	EnvPort       = "FUNCTIONS_CUSTOMHANDLER_PORT"      // port of the worker
	EnvOldPort    = "FUNCTIONS_HTTPWORKER_PORT"         // its former name
	EnvWorkerID   = "FUNCTIONS_CUSTOMHANDLER_WORKER_ID" // name of the worker
	EnvOldID      = "FUNCTIONS_HTTPWORKER_ID"           // its former name
	EnvAppRoot    = "FUNCTIONS_APP_ROOT_PATH"           // folder of the app
	InvocationID  = "X-Azure-Functions-InvocationId"    // header: id of the call
	HostVersion   = "X-Azure-Functions-HostVersion"     // header: version of the host
	FunctionFile  = "function.json"                     // in the folder of each function
	HostFile      = "host.json"                         // in the folder of the app
	SettingsFile  = "local.settings.json"               // next to it, for development hosts
	maxFile       = 4 << 20                             // maximum bytes of function.json and host.json
	maxTextLayers = 3                                   // how often a context may be wrapped in a JSON string
)
