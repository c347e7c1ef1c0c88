package app

import (
	"slices"
	"time"
)

// serverSettings are the settings of the server and the process.
func serverSettings() []Setting {
	return slices.Concat(
		group("Endpoints", []Setting{
			{Name: "http", whole: func(c *Config) any { return &c.HTTP }, Help: "serve streamable HTTP on this address instead of stdio, for example :8080"},
			{Name: "jsonrpc", whole: func(c *Config) any { return &c.JSONRPC }, def: "on", Values: []string{"on", "off"}, Help: "the plain JSON-RPC endpoint /jsonrpc: on or off"},
			{Name: "sessions", whole: func(c *Config) any { return &c.Sessions }, def: "on", Values: []string{"on", "off"}, Help: "sessions for clients before 2026-07-28: on, or off for several replicas behind one address"},
			{Name: "task-after", whole: func(c *Config) any { return &c.TaskAfter }, signed: true, def: 10 * time.Second, Help: "calls that take longer become tasks for clients that support them; negative: never"},
			{Name: "azure-paths", whole: func(c *Config) any { return &c.AzurePaths }, Help: "serve MCP at " + azurePath + " as well, the path of Azure Functions"},
			{Name: "name", whole: func(c *Config) any { return &c.Name }, Help: "server name (default: from the description if there is only one, else tenon)"},
			{Name: "title", whole: func(c *Config) any { return &c.Title }, Help: "display name of the server (default: --name, or from the descriptions)"},
			{Name: "instructions", whole: func(c *Config) any { return &c.Instructions }, Help: "instructions for models (default: from the descriptions)"},
		}),
		group("Limits for callers", []Setting{
			{Name: "max-concurrent-calls", whole: func(c *Config) any { return &c.MaxConcurrentCalls }, def: 256, Help: "concurrent calls in total, each until its result is read; as many again wait in a queue"},
			{Name: "max-calls-per-caller", whole: func(c *Config) any { return &c.MaxCallsPerCaller }, Help: "concurrent calls of one caller: a key or credential, else a session, else an address (0: half of the total)"},
			{Name: "max-message-bytes", whole: func(c *Config) any { return &c.MaxMessageBytes }, least: 1 << 10, def: int64(4 << 20), Help: "bytes of one message to the server"},
			{Name: "max-bytes-in-flight", whole: func(c *Config) any { return &c.MaxBytesInFlight }, least: 1 << 20, def: int64(256 << 20), Help: "bytes of messages being read and of responses from their first byte until they are written, half for each; one caller can hold half of either and waits for more"},
			{Name: "page-size", whole: func(c *Config) any { return &c.PageSize }, def: 500, Help: "tools per page of tools/list; a page has at most 1 MiB"},
		}),
		group("Access control", []Setting{
			{Name: "api-key", whole: func(c *Config) any { return &c.APIKeys }, pair: "=", rebase: besideSecret, Help: "require a key from HTTP callers, in the header Authorization: Bearer KEY or X-API-Key: KEY: NAME=env:VAR or NAME=file:PATH; NAME identifies the caller (repeatable)"},
			{Name: "behind-proxy", whole: func(c *Config) any { return &c.BehindProxy }, Help: "listen beyond loopback without keys because a proxy authenticates every caller"},
			{Name: "insecure", whole: func(c *Config) any { return &c.Insecure }, Help: "listen beyond loopback without authentication: everyone who reaches the address can call"},
			{Name: "allowed-host", whole: func(c *Config) any { return &c.AllowedHosts }, Help: "accept requests for this host name, without port, or * for any (repeatable; the called address is always accepted, on loopback its names too)"},
			{Name: "allowed-origin", whole: func(c *Config) any { return &c.AllowedOrigins }, Help: "allow web pages of this origin to call the server (repeatable)"},
			{Name: "azure-key", whole: func(c *Config) any { return &c.AzureKey }, secret: noLiteralKey, Help: "require this key in the header x-functions-key, as Azure Functions does: ${VAR} from the environment"},
			{Name: "azure-key-in-url", whole: func(c *Config) any { return &c.AzureKeyInURL }, Help: "accept the key of --azure-key in ?code= as well; proxies write URLs to their logs"},
		}),
		group("Process", []Setting{
			{Name: "watch", whole: func(c *Config) any { return &c.Watch }, def: true, Help: "reload descriptions when their files change"},
			{Name: "poll-interval", whole: func(c *Config) any { return &c.PollInterval }, Help: "with --watch, how often to check descriptions on the web for changes, for example 5m (0: never)"},
			{Name: "drain", whole: func(c *Config) any { return &c.Drain }, def: 30 * time.Second, Help: "time for running calls to finish after SIGTERM or interrupt; the rest are answered with what is known of them"},
			{Name: "log-format", whole: func(c *Config) any { return &c.LogFormat }, def: "text", Values: []string{"text", "json"}, Help: "format of log lines on standard error: text or json"},
			{Name: "verbose", Short: "v", whole: func(c *Config) any { return &c.Verbose }, Help: "print every warning and log every violation"},
		}),
	)
}
