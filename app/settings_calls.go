package app

import (
	"slices"
	"time"

	"github.com/tenon-mcp/tenon/internal/config"
)

// callSettings are the settings of calls to upstreams.
func callSettings() []Setting {
	return slices.Concat(
		group("Confirmation and credentials", []Setting{
			{Name: "confirm", source: func(o *SourceOptions) any { return &o.Confirm }, Values: []string{"auto", "arg", "human", "off"}, Help: "who confirms calls that change something: auto (the user if the client can ask, else arg), " +
				"arg (the call is repeated with confirmed: true), human or off; TOOL=MODE for single tools, if TOOL is a full name also for a read-only one (repeatable)"},
			{Name: "auth", source: func(o *SourceOptions) any { return &o.Auth }, pair: "=", rebase: besideSecret, Help: "credential of a security scheme: [SOURCE/]SCHEME[@https://host]=env:NAME, file:PATH, " +
				"command:CMD (run without a shell), caller:HEADER (from the client's HTTP request), oauth2: before one of the first three, or none (repeatable; docs/credentials.md)"},
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
			{Name: "max-wait", source: func(o *SourceOptions) any { return &o.MaxWait }, Help: "longest wait for a retry, also if Retry-After is longer, or for a free slot (0: 10s)"},
			{Name: "rate-limit", source: func(o *SourceOptions) any { return &o.RateLimit }, Help: "requests per second to one upstream (0: no limit)"},
			{Name: "max-concurrency", source: func(o *SourceOptions) any { return &o.MaxConcurrency }, Help: "concurrent requests to one upstream (0: no limit)"},
			{Name: "breaker-failures", source: func(o *SourceOptions) any { return &o.BreakerFailures }, Help: "consecutive failures of an upstream that open its circuit breaker (0: never)"},
			{Name: "breaker-cooldown", source: func(o *SourceOptions) any { return &o.BreakerCooldown }, Help: "how long the breaker stays open (0: 30s)"},
			{Name: "cache-bytes", source: func(o *SourceOptions) any { return &o.CacheBytes }, Help: "size of the response cache; entries are private to their caller, Cache-Control is honoured (0: no cache)"},
		}),
	)
}
