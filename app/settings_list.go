package app

import (
	"slices"
	"time"

	"github.com/tenon-mcp/tenon/internal/config"
)

// toolSettings are the settings that choose tools and say what is published of them.
func toolSettings() []Setting {
	return slices.Concat(
		group("Tool selection", []Setting{
			{Name: "include", source: func(o *SourceOptions) any { return &o.Include }, rebase: besideAt, check: checkSelector, Help: "serve only matching operations and tools: tag:NAME, method:GET, path:/a/**, id:repos_*, 'GET /a/{id}', /regexp/, or @FILE with one of these per line; tools of function apps have only an id (repeatable)"},
			{Name: "exclude", source: func(o *SourceOptions) any { return &o.Exclude }, rebase: besideAt, check: checkSelector, Help: "leave out matching operations and tools; selectors as for --include (repeatable)"},
			{Name: "read-only", source: func(o *SourceOptions) any { return &o.ReadOnly }, Help: "serve only read-only tools"},
			{Name: "trust-marks", source: func(o *SourceOptions) any { return &o.TrustMarks }, Help: "trust descriptions that mark operations as safe whatever their method (x-mcp-safe and similar extensions, meta of schema files); otherwise --read-only and --confirm ignore such marks"},
			{Name: "mark-safe", source: func(o *SourceOptions) any { return &o.MarkSafe }, Help: "matching operations change nothing, whatever their method (repeatable)"},
			{Name: "mark-unsafe", source: func(o *SourceOptions) any { return &o.MarkUnsafe }, Help: "matching operations can change something, whatever their method (repeatable)"},
			{Name: "prefix", whole: func(c *Config) any { return &c.Prefix }, def: "auto", Values: []string{"auto", "always", "never"}, Help: "prefix tool names with the name of their source: auto (only where names collide), always or never"},
			{Name: "tools-mode", whole: func(c *Config) any { return &c.ToolsMode }, def: "list", Values: []string{"list", "search"}, Help: "how clients find tools: list shows all of them, search shows search_tools, describe_tool and call_tool instead"},
			{Name: "for", whole: func(c *Config) any { return &c.For }, check: checkClient, Help: "publish what this client or model API accepts and shows, by the rules of docs/clients.md: names, schemas, channels of results; over HTTP the other clients have theirs at /mcp/CLIENT"},
			{Name: "output-schemas", whole: func(c *Config) any { return &c.OutputSchemas }, def: "on", Values: []string{"on", "off", "on-demand"}, Help: "output schemas in the tool list: on, off (results are text alone then, without structuredContent) or on-demand (as off, and the tool describe returns them); tools of Go functions and function apps keep theirs"},
			{Name: "list-tokens-warn", atStart: true, whole: func(c *Config) any { return &c.ListTokensWarn }, signed: true, def: 20_000, Help: "suggest --tools-mode search at startup if the tool list has more tokens; negative: never"},
			{Name: "describe", whole: func(c *Config) any { return &c.Describe }, def: "auto", Values: []string{"auto", "on", "off"}, Help: "the tool that describes all other tools: auto (if a tool has the openapi-mcp envelope), on or off"},
		}),
		group("Names and descriptions", []Setting{
			{Name: "names", source: func(o *SourceOptions) any { return &o.Names }, def: "models", Values: []string{"models", "mcp"}, Help: "tool names: models (accepted by every model API: letters, digits, _ and -, up to 64 characters) or mcp (all that the protocol allows: dots too, up to 128)"},
			{Name: "name-budget", whole: func(c *Config) any { return &c.NameBudget }, check: checkNameBudget, Help: "characters of a tool's name, 16 to 128: a longer one keeps its beginning and gets a short hash (0: as --names allows)"},
			{Name: "rename", source: func(o *SourceOptions) any { return &o.Rename }, Help: "tool name of an operation, as SELECTOR=NAME; selectors as for --include (repeatable)"},
			{Name: "set-description", source: func(o *SourceOptions) any { return &o.SetDescription }, Help: "description of matching operations, as SELECTOR=TEXT (repeatable)"},
			{Name: "param-rename", source: func(o *SourceOptions) any { return &o.ParamRename }, Help: "name of an argument, as '[SELECTOR ]PARAMETER=NAME'; without SELECTOR in all operations (repeatable)"},
			{Name: "param-description", source: func(o *SourceOptions) any { return &o.ParamDescription }, Help: "description of an argument, as '[SELECTOR ]PARAMETER=TEXT' (repeatable)"},
			{Name: "param-const", source: func(o *SourceOptions) any { return &o.ParamConst }, secret: noSecretArgument, Help: "always send this value and remove the argument, as '[SELECTOR ]PARAMETER=VALUE', JSON or text (repeatable)"},
			{Name: "param-hide", source: func(o *SourceOptions) any { return &o.ParamHide }, Help: "remove an optional argument, as '[SELECTOR ]PARAMETER' (repeatable)"},
			{Name: "mcp-header", source: func(o *SourceOptions) any { return &o.MCPHeader }, single: true, Help: "have clients repeat an argument in the header Mcp-Param-NAME, for gateways that route by it, as TOOL.ARG=NAME or TOOL=ARG=NAME,ARG=NAME (repeatable)"},
		}),
		group("Results", []Setting{
			{Name: "policy", source: func(o *SourceOptions) any { return &o.Policy }, Values: []string{"enforce", "repair", "warn", "off"}, Help: "how to handle responses that violate their schema: enforce, repair, warn or off (default warn); TOOL=POLICY for single tools (repeatable)"},
			{Name: "envelope", source: func(o *SourceOptions) any { return &o.Envelope }, Values: []string{"openapi-mcp", "flowmcp", "native"}, Help: "format of structuredContent: openapi-mcp, flowmcp or native (default: depends on the kind of description); TOOL=ENVELOPE for single tools (repeatable)"},
			{Name: "fields", source: func(o *SourceOptions) any { return &o.Fields }, Values: []string{"on", "off"}, Help: "on: callers can request parts of a result with the argument fields; off (default, but for search mode); TOOL=on for single tools (repeatable)"},
			{Name: "select", source: func(o *SourceOptions) any { return &o.Select }, single: true, Help: "return only these parts of a tool's results, as TOOL=PATH,PATH: items[].id,total (repeatable)"},
			{Name: "jq", source: func(o *SourceOptions) any { return &o.JQ }, single: true, check: checkJQ, Help: "transform a tool's results with this jq filter, as TOOL=FILTER, after --select (repeatable)"},
			{Name: "jq-schema", source: func(o *SourceOptions) any { return &o.JQSchema }, single: true, rebase: config.Beside, Help: "JSON Schema of the filter's output, as TOOL=FILE (default: inferred, published as advice) (repeatable)"},
			{Name: "max-result-bytes", source: func(o *SourceOptions) any { return &o.MaxResultBytes }, check: checkBytes, Help: "bytes of a result's value and text copy together; larger results are split into parts that each validate (default: 204800 for the openapi-mcp envelope; -1: no limit); TOOL=BYTES for single tools (repeatable)"},
			{Name: "follow-pages", source: func(o *SourceOptions) any { return &o.FollowPages }, Help: "join up to this many pages of a paginated list of an OpenAPI document: by links and cursors, and by page numbers if a total or has_more confirms them (0: none)"},
			{Name: "flush-interval", source: func(o *SourceOptions) any { return &o.FlushInterval }, signed: true, def: 5 * time.Second, Help: "return the items of a stream (NDJSON, server-sent events) that arrived within this time; negative: wait for its end"},
			{Name: "max-input-schema", source: func(o *SourceOptions) any { return &o.MaxInputSchema }, signed: true, Help: "bytes of a published input schema; larger ones are relaxed (0: 32768, -1: no limit)"},
			{Name: "max-output-schema", source: func(o *SourceOptions) any { return &o.MaxOutputSchema }, signed: true, Help: "bytes of a published output schema; larger ones are relaxed (0: 16384, -1: no limit)"},
		}),
	)
}

// callSettings are the settings of calls to upstreams.
func callSettings() []Setting {
	return slices.Concat(
		group("Confirmation and credentials", []Setting{
			{Name: "confirm", source: func(o *SourceOptions) any { return &o.Confirm }, Values: []string{"auto", "arg", "human", "off"}, Help: "who confirms calls that change something: auto (the user if the client can ask, else arg), " +
				"arg (the call is repeated with confirmed: true), human or off; TOOL=MODE for single tools, if TOOL is a full name also for a read-only one (repeatable)"},
			{Name: "auth", source: func(o *SourceOptions) any { return &o.Auth }, pair: "=", rebase: besideSecret, Help: "credential of a security scheme: [SOURCE/]SCHEME[@https://host]=env:NAME, file:PATH, keyring:NAME, " +
				"command:CMD (run without a shell), caller:HEADER (from the client's HTTP request), exchange:AUDIENCE with scopes behind it if need be (the caller's token, exchanged by --oauth-exchange), oauth2: before one of the first four, user (each user stores one), or none (repeatable; docs/credentials.md)"},
			{Name: "auth-origin", source: func(o *SourceOptions) any { return &o.AuthOrigin }, Help: "send credentials and secret headers only to this origin, https://host, and to those that --auth names after @ (repeatable; default: the origins that descriptions name when first read)"},
			{Name: "header", source: func(o *SourceOptions) any { return &o.Header }, pair: ": ", secret: noSecretHeader, Help: "send this header with every call of an OpenAPI document, as 'Name: value'; ${VAR} is read from the environment (repeatable)"},
			{Name: "client-cert", source: func(o *SourceOptions) any { return &o.ClientCert }, pair: "=", rebase: besideCert, Help: "client certificate for a server: [SOURCE/]https://host=FILE, or =CERT,KEY if the key is in another file (repeatable)"},
		}),
		group("Network access", []Setting{
			{Name: "base-url", source: func(o *SourceOptions) any { return &o.BaseURL }, secret: noUserInURL, Help: "send calls to this URL instead of those in the description"},
			{Name: "allow-private-host", source: func(o *SourceOptions) any { return &o.AllowPrivateHost }, Help: "allow calls to a private or loopback address: host, host:port, IP or CIDR (repeatable)"},
			{Name: "upstream-ca", source: func(o *SourceOptions) any { return &o.UpstreamCA }, rebase: config.Beside, Help: "PEM file of certificate authorities to trust for upstreams, in addition to the system's"},
			{Name: "upload-root", source: func(o *SourceOptions) any { return &o.UploadRoot }, rebase: config.Beside, Help: "directory of the files that arguments can name for upload, as file:PATH (default: none)"},
		}),
		group("Timeouts, retries, limits", []Setting{
			{Name: "timeout", source: func(o *SourceOptions) any { return &o.Timeout }, def: time.Minute, Help: "timeout of a call"},
			{Name: "connect-timeout", source: func(o *SourceOptions) any { return &o.ConnectTimeout }, Help: "timeout of DNS lookup and connecting to an upstream (0: 10s)"},
			{Name: "tls-handshake-timeout", source: func(o *SourceOptions) any { return &o.TLSHandshakeTimeout }, Help: "timeout of a TLS handshake with an upstream (0: 10s)"},
			{Name: "response-header-timeout", source: func(o *SourceOptions) any { return &o.ResponseHeaderTimeout }, Help: "timeout from the end of a request to its response headers (0: that of the attempt)"},
			{Name: "attempt-timeout", source: func(o *SourceOptions) any { return &o.AttemptTimeout }, Help: "timeout of each attempt (0: as --timeout)"},
			{Name: "retries", source: func(o *SourceOptions) any { return &o.Retries }, Help: "retries for transient failures of idempotent requests of an OpenAPI document"},
			{Name: "idempotency-header", source: func(o *SourceOptions) any { return &o.IdempotencyHeader }, Help: "header in which the service of an OpenAPI document takes idempotency keys though no operation declares it, such as Idempotency-Key: a repeated call whose outcome was unknown then acts once"},
			{Name: "max-wait", source: func(o *SourceOptions) any { return &o.MaxWait }, Help: "longest wait for a retry, also if Retry-After is longer, or for a free slot (0: 10s)"},
			{Name: "rate-limit", source: func(o *SourceOptions) any { return &o.RateLimit }, Help: "requests per second to one upstream (0: no limit)"},
			{Name: "max-concurrency", source: func(o *SourceOptions) any { return &o.MaxConcurrency }, Help: "concurrent requests to one upstream (0: no limit)"},
			{Name: "breaker-failures", source: func(o *SourceOptions) any { return &o.BreakerFailures }, Help: "consecutive failures of an upstream that open its circuit breaker (0: never)"},
			{Name: "breaker-cooldown", source: func(o *SourceOptions) any { return &o.BreakerCooldown }, Help: "how long the breaker stays open (0: 30s)"},
			{Name: "cache-bytes", source: func(o *SourceOptions) any { return &o.CacheBytes }, Help: "size of the response cache; entries are private to their caller, Cache-Control is honoured; with --store replicas share them (0: no cache)"},
		}),
	)
}

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
			{Name: "server-param", source: func(o *SourceOptions) any { return &o.ServerParam }, pair: "=", rebase: besideSecret, Help: "value of a server parameter of schema files, as NAME=env:VAR, file:PATH or keyring:NAME (repeatable; default: the environment variable NAME)"},
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

// serverSettings are the settings of the server and the process.
func serverSettings() []Setting {
	return slices.Concat(
		group("Endpoints", []Setting{
			{Name: "http", atStart: true, whole: func(c *Config) any { return &c.HTTP }, Help: "serve streamable HTTP on this address instead of stdio, for example :8080"},
			{Name: "tls-cert", whole: func(c *Config) any { return &c.TLSCert }, rebase: config.Beside, Help: "serve HTTPS with this certificate, a PEM file with its chain; it is read again when it changes"},
			{Name: "tls-key", whole: func(c *Config) any { return &c.TLSKey }, rebase: config.Beside, Help: "the key of --tls-cert, a PEM file"},
			{Name: "jsonrpc", whole: func(c *Config) any { return &c.JSONRPC }, def: "on", Values: []string{"on", "off"}, Help: "the plain JSON-RPC endpoint /jsonrpc: on or off"},
			{Name: "sessions", atStart: true, whole: func(c *Config) any { return &c.Sessions }, def: "on", Values: []string{"on", "off"}, Help: "sessions for clients before 2026-07-28: on, or off for several replicas behind one address"},
			{Name: "task-after", atStart: true, whole: func(c *Config) any { return &c.TaskAfter }, signed: true, def: 10 * time.Second, Help: "calls that take longer become tasks for clients that support them; negative: never"},
			{Name: "azure-paths", whole: func(c *Config) any { return &c.AzurePaths }, Help: "serve MCP at " + azurePath + " as well, the path of Azure Functions"},
			{Name: "name", whole: func(c *Config) any { return &c.Name }, Help: "server name (default: from the description if there is only one, else tenon)"},
			{Name: "title", whole: func(c *Config) any { return &c.Title }, Help: "display name of the server (default: --name, or from the descriptions)"},
			{Name: "instructions", whole: func(c *Config) any { return &c.Instructions }, Help: "instructions for models (default: from the descriptions)"},
		}),
		limitSettings(),
		replicaSettings(),
		group("Access tokens of callers", []Setting{
			{Name: "oauth-issuer", whole: func(c *Config) any { return &c.OAuthIssuer }, Help: "require an access token of this OAuth 2.1 issuer from HTTP callers, as Authorization: Bearer TOKEN; its URL exactly as it calls itself (docs/auth.md)"},
			{Name: "oauth-resource", whole: func(c *Config) any { return &c.OAuthResource }, Help: "URL of this server as clients know it, for example https://mcp.example.com/mcp: what tokens have to be for, and what the metadata says"},
			{Name: "oauth-audience", whole: func(c *Config) any { return &c.OAuthAudience }, Help: "accept tokens for this audience instead of --oauth-resource, for issuers that ignore the resource of a request (repeatable)"},
			{Name: "oauth-scope", whole: func(c *Config) any { return &c.OAuthScope }, Help: "scope that every token needs (repeatable)"},
			{Name: "oauth-scope-implies", whole: func(c *Config) any { return &c.OAuthScopeImplies }, pair: "=", Help: "a broad scope that contains narrower ones, as BROAD=NARROW,NARROW (repeatable)"},
			{Name: "oauth-introspection", whole: func(c *Config) any { return &c.OAuthIntrospection }, rebase: besideSecret, Help: "ask the issuer about opaque tokens as this client: CLIENT=env:VAR or CLIENT=file:PATH of its secret (default: they are refused)"},
			{Name: "oauth-exchange", whole: func(c *Config) any { return &c.OAuthExchange }, rebase: besideSecret, Help: "exchange tokens of callers for those of upstreams (RFC 8693) as this client of the issuer, for --auth SCHEME=exchange:AUDIENCE: CLIENT=env:VAR or CLIENT=file:PATH of its secret"},
			{Name: "oauth-login", whole: func(c *Config) any { return &c.OAuthLogin }, rebase: besideSecret, Help: "let users log in with a browser as this client of the issuer, to store credentials of their own for --auth SCHEME=user: CLIENT=env:VAR or CLIENT=file:PATH of its secret"},
			{Name: "credential-dir", atStart: true, whole: func(c *Config) any { return &c.CredentialDir }, rebase: config.Beside, Help: "directory of the credentials that users store, encrypted"},
			{Name: "credential-key", atStart: true, whole: func(c *Config) any { return &c.CredentialKey }, rebase: besideSecretFile, Help: "key of --credential-dir, 32 random bytes: env:VAR or file:PATH (repeatable; the first encrypts, all decrypt)"},
			{Name: "oauth-allow-private-host", whole: func(c *Config) any { return &c.OAuthAllowPrivateHost }, Help: "private host of the issuer's endpoints beside the host of --oauth-issuer: host, host:port, IP or CIDR; an issuer named here can use plain http (repeatable)"},
		}),
		group("Rules about callers", []Setting{
			{Name: "allow", whole: func(c *Config) any { return &c.Allow }, pair: "=", lists: true, check: checkRule, Help: "who may see and call what, as WHO=SELECTOR: WHO is everybody, key:NAME, subject:SUBJECT, client:ID, group:NAME or scope:NAME; selectors as for --include, and source:NAME. With any of these nobody has what none allows; docs/rules.md (repeatable)"},
			{Name: "deny", whole: func(c *Config) any { return &c.Deny }, pair: "=", lists: true, check: checkRule, Help: "who may not see and call what, as WHO=SELECTOR, whatever --allow says: for them it does not exist (repeatable)"},
			{Name: "public", whole: func(c *Config) any { return &c.Public }, check: checkPublic, Help: "what callers may see and call without a credential, whatever --allow says; selectors as for --allow. Any other call of theirs is answered 401 (repeatable)"},
			{Name: "require-scope", whole: func(c *Config) any { return &c.RequireScope }, pair: "=", lists: true, check: checkNeed, Help: "scope that an access token needs for matching tools, as SCOPE=SELECTOR; they are listed without it, and a call is answered with insufficient_scope (repeatable)"},
			{Name: "scopes-from-description", whole: func(c *Config) any { return &c.ScopesFromDescription }, Help: "require the scopes that a description names for an operation, too; they are usually those of the upstream and not of --oauth-issuer"},
		}),
		group("Access control", []Setting{
			{Name: "api-key", whole: func(c *Config) any { return &c.APIKeys }, pair: "=", rebase: besideSecret, Help: "require a key from HTTP callers, in the header Authorization: Bearer KEY or X-API-Key: KEY: NAME=env:VAR, NAME=file:PATH or NAME=sha256:SUM; NAME identifies the caller (repeatable)"},
			{Name: "behind-proxy", whole: func(c *Config) any { return &c.BehindProxy }, Help: "listen beyond loopback without keys because a proxy authenticates every caller"},
			{Name: "insecure", whole: func(c *Config) any { return &c.Insecure }, Help: "listen beyond loopback without authentication: everyone who reaches the address can call"},
			{Name: "allowed-host", whole: func(c *Config) any { return &c.AllowedHosts }, Help: "accept requests for this host name, without port, or * for any (repeatable; the called address is always accepted, on loopback its names too)"},
			{Name: "allowed-origin", whole: func(c *Config) any { return &c.AllowedOrigins }, Help: "allow web pages of this origin to call the server (repeatable)"},
			{Name: "azure-key", whole: func(c *Config) any { return &c.AzureKey }, secret: noLiteralKey, Help: "require this key in the header x-functions-key, as Azure Functions does: ${VAR} from the environment"},
			{Name: "azure-key-in-url", whole: func(c *Config) any { return &c.AzureKeyInURL }, Help: "accept the key of --azure-key in ?code= as well; proxies write URLs to their logs"},
		}),
		group("Audit", []Setting{
			{Name: "audit", whole: func(c *Config) any { return &c.Audit }, rebase: besideFile, Help: "write a line of JSON for every call, and every refused request within bounds, to this file, to standard output with -, or to the receiver of --otlp with otlp: caller, tool, consent, whether it was executed, verdict; no results, and of arguments a keyed digest"},
			{Name: "audit-argument", whole: func(c *Config) any { return &c.AuditArgument }, check: checkAuditArgument, Help: "write this argument in clear: a JSON Pointer such as /id, or TOOL=/id for one tool (repeatable)"},
			{Name: "audit-key", whole: func(c *Config) any { return &c.AuditKey }, rebase: besideSecretFile, Help: "key of the digests of arguments: env:VAR or file:PATH (default: a random one, which ends with the process)"},
			{Name: "audit-required", whole: func(c *Config) any { return &c.AuditRequired }, Help: "refuse calls while the audit log cannot be written"},
			{Name: "audit-sync", whole: func(c *Config) any { return &c.AuditSync }, def: "second", Values: []string{"off", "second", "call"}, Help: "when lines are on the disk for certain: after a second, before the caller has the result (call), or when the system writes them (off)"},
			{Name: "audit-max-bytes", whole: func(c *Config) any { return &c.AuditMaxBytes }, signed: true, check: checkNotZero, def: int64(100 << 20), Help: "bytes of a file; a longer one is renamed and a new one begun (negative: no limit)"},
			{Name: "audit-keep", whole: func(c *Config) any { return &c.AuditKeep }, signed: true, check: checkNotZero, def: 10, Help: "renamed files that stay, at least 1 (negative: all)"},
		}),
		evidenceSettings(),
		recordingSettings(),
		telemetrySettings(),
		processSettings(),
	)
}

// replicaSettings are the settings of what replicas share.
func replicaSettings() []Setting {
	return group("Replicas", []Setting{
		{Name: "store", atStart: true, whole: func(c *Config) any { return &c.Store }, def: "memory", check: checkStore, Help: "where confirmations, parts of results, limits, and for other replicas responses and access tokens are kept: memory, or what replicas share: redis://[USER@]HOST[:PORT][/DATABASE], rediss:// with TLS, redis+cluster://HOST,HOST or redis+sentinel://HOST,HOST/NAME (Redis 7 or Valkey; docs/replicas.md)"},
		{Name: "store-password", atStart: true, whole: func(c *Config) any { return &c.StorePassword }, rebase: besideSecretFile, Help: "password of --store: env:VAR or file:PATH"},
		{Name: "secret", atStart: true, whole: func(c *Config) any { return &c.Secret }, rebase: besideSecretFile, Help: "what authenticates the texts that clients hand back and encrypts responses and tokens in --store, the same for all replicas: env:VAR or file:PATH of at least 32 characters (default: a random one, which ends with the process)"},
	})
}

// recordingSettings are the settings of recordings.
func recordingSettings() []Setting {
	return group("Recordings", []Setting{
		{Name: "record", atStart: true, whole: func(c *Config) any { return &c.Record }, rebase: config.Beside, Help: "record the requests and responses of calls in this directory, without credentials (docs/testing.md)"},
		{Name: "record-redact", atStart: true, whole: func(c *Config) any { return &c.RecordRedact }, Help: "replace these values in the arguments and bodies that --record writes: a JSON Pointer such as /user/email, * for every member or item (repeatable)"},
		{Name: "replay", atStart: true, whole: func(c *Config) any { return &c.Replay }, rebase: config.Beside, Help: "answer calls from this recording (a directory, an .ndjson file or a HAR) and send nothing"},
	})
}

// evidenceSettings are the settings of what is counted of responses.
func evidenceSettings() []Setting {
	return group("Evidence", []Setting{
		{Name: "evidence", atStart: true, whole: func(c *Config) any { return &c.Evidence }, rebase: besideEvidence, Help: "where serve counts how responses compare with their schemas: a file, or off; it holds counters and places in schemas, no values (default: evidence.ndjson in the user's cache folder; docs/evidence.md)"},
		{Name: "learn", atStart: true, whole: func(c *Config) any { return &c.Learn }, Help: "keep the names of members that responses have and descriptions do not in the ledger of evidence, once three responses to two callers had them"},
		{Name: "evidence-in-meta", atStart: true, whole: func(c *Config) any { return &c.EvidenceInMeta }, Help: "put what is known of a tool at the start into _meta of its definition: responses, those that fit, and when the last came"},
	})
}

// processSettings are the settings of the process.
func processSettings() []Setting {
	return group("Process", []Setting{
		{Name: "watch", atStart: true, whole: func(c *Config) any { return &c.Watch }, def: true, Help: "reload descriptions when their files change"},
		{Name: "poll-interval", whole: func(c *Config) any { return &c.PollInterval }, Help: "with --watch, how often to check descriptions on the web for changes, for example 5m (0: never)"},
		{Name: "shutdown-delay", whole: func(c *Config) any { return &c.ShutdownDelay }, Help: "time in which calls are still taken after SIGTERM or interrupt, while /readyz is 503 already, so that balancers look elsewhere; over HTTP (0: none)"},
		{Name: "drain", whole: func(c *Config) any { return &c.Drain }, def: 30 * time.Second, Help: "time for running calls to finish after SIGTERM or interrupt; the rest are answered with what is known of them"},
		{Name: "log-format", atStart: true, whole: func(c *Config) any { return &c.LogFormat }, def: "text", Values: []string{"text", "json"}, Help: "format of log lines on standard error: text or json"},
		{Name: "verbose", atStart: true, Short: "v", whole: func(c *Config) any { return &c.Verbose }, Help: "print every warning and log every violation"},
	})
}

// telemetrySettings are the settings of traces, metrics and logs.
func telemetrySettings() []Setting {
	return group("Telemetry", []Setting{
		{Name: "otlp", atStart: true, whole: func(c *Config) any { return &c.OTLP }, secret: noUserInURL, Help: "send traces, metrics and the log to this receiver of OTLP over HTTP, for example http://127.0.0.1:4318 (default: OTEL_EXPORTER_OTLP_ENDPOINT; docs/telemetry.md)"},
		{Name: "otlp-headers", atStart: true, whole: func(c *Config) any { return &c.OTLPHeaders }, rebase: besideSecretFile, Help: "headers of requests to the receiver: env:VAR or file:PATH of NAME=VALUE,NAME=VALUE (default: OTEL_EXPORTER_OTLP_HEADERS)"},
		{Name: "trace-sample", atStart: true, whole: func(c *Config) any { return &c.TraceSample }, def: 1.0, Help: "share of the requests without a trace of their own that are traced, from 0 to 1 (1: as OTEL_TRACES_SAMPLER says, else all)"},
		{Name: "forward-baggage", atStart: true, whole: func(c *Config) any { return &c.ForwardBaggage }, Help: "send the baggage of clients on to upstreams"},
		{Name: "telemetry-content", atStart: true, whole: func(c *Config) any { return &c.TelemetryContent }, def: "off", Values: []string{"off", "on"}, Help: "arguments and results of tools in traces, without members that are called like secrets: off or on"},
		{Name: "metrics", atStart: true, whole: func(c *Config) any { return &c.Metrics }, Help: "serve metrics for Prometheus at /metrics on this address, for example :9464, which is loopback"},
		{Name: "metrics-public", atStart: true, whole: func(c *Config) any { return &c.MetricsPublic }, Help: "allow --metrics an address that other machines reach: who reaches it sees the names of tools and upstreams"},
		{Name: "metrics-max-tools", atStart: true, whole: func(c *Config) any { return &c.MetricsMaxTools }, def: 200, Help: "tools with series of their own in metrics; all others are one"},
	})
}

// limitSettings are the bounds of the server and the limits of callers.
func limitSettings() []Setting {
	return group("Limits for callers", []Setting{
		{Name: "max-concurrent-calls", atStart: true, whole: func(c *Config) any { return &c.MaxConcurrentCalls }, def: 256, Help: "concurrent calls in total, each until its result is read; as many again wait in a queue"},
		{Name: "max-calls-per-caller", atStart: true, whole: func(c *Config) any { return &c.MaxCallsPerCaller }, Help: "concurrent calls of one caller: a key or credential, else a session, else an address (0: half of the total)"},
		{Name: "max-message-bytes", whole: func(c *Config) any { return &c.MaxMessageBytes }, least: 1 << 10, def: int64(4 << 20), Help: "bytes of one message to the server"},
		{Name: "max-bytes-in-flight", atStart: true, whole: func(c *Config) any { return &c.MaxBytesInFlight }, least: 1 << 20, def: int64(256 << 20), Help: "bytes of messages being read and of responses from their first byte until they are written, half for each; one caller can hold half of either and waits for more"},
		{Name: "limit", whole: func(c *Config) any { return &c.Limits }, pair: "=", check: checkLimit, Help: "limit callers, as WHO=LIMITS, or 'WHO TOOL=LIMITS' for matching tools: WHO is everybody, key:NAME, subject:SUBJECT, client:ID, group:NAME or scope:NAME; LIMITS are rate 10/m burst 20, day 500, concurrent 2, bytes 16MiB, sessions 5, tasks 2, shared or none, see docs/limits.md (repeatable)"},
		{Name: "limit-failure", atStart: true, whole: func(c *Config) any { return &c.LimitFailure }, def: "refuse", Values: []string{"refuse", "allow"}, Help: "calls that have a limit, while the store that replicas share does not answer: refuse or allow"},
		{Name: "page-size", whole: func(c *Config) any { return &c.PageSize }, def: 500, Help: "tools per page of tools/list; a page has at most 1 MiB"},
	})
}
