package app

import (
	"fmt"
	"regexp"
	"time"

	"github.com/tenon-mcp/tenon"
)

// Config says what is served, and how. Its zero value serves nothing; begin with
// [NewConfig].
type Config struct {
	Sources []Source
	// Defaults are the options that a source without an entry of its own in a
	// config file has. [Config.AddSpec] adds sources that share them.
	Defaults SourceOptions

	// Tools and log.
	Prefix    string // auto, always or never
	Describe  string // auto, on or off
	ToolsMode string // list or search
	For       string // client or model API whose rules what is published keeps; empty: none

	OutputSchemas string // on, off or on-demand

	NameBudget int // bytes of a tool's name; 0: as Names allows
	Verbose    bool

	// The server.
	HTTP           string // address; empty: standard input and output
	TLSCert        string // PEM file; empty: HTTP without TLS
	TLSKey         string // PEM file
	JSONRPC        string // on or off
	Sessions       string // on or off
	TaskAfter      time.Duration
	AllowedOrigins []string
	AllowedHosts   []string
	Name           string
	Title          string
	Instructions   string
	ListTokensWarn int

	// Limits for callers.
	MaxConcurrentCalls int
	MaxCallsPerCaller  int
	MaxMessageBytes    int64
	MaxBytesInFlight   int64
	PageSize           int
	Limits             []string // WHO[ TOOL]=LIMITS
	LimitFailure       string   // refuse or allow

	// Access tokens of callers.
	OAuthIssuer           string   // URL; empty: there are none
	OAuthResource         string   // URL of this server as clients know it
	OAuthAudience         []string // empty: OAuthResource
	OAuthScope            []string
	OAuthScopeImplies     []string // BROAD=NARROW,NARROW
	OAuthIntrospection    string   // CLIENT=env:VAR or CLIENT=file:PATH
	OAuthExchange         string   // CLIENT=env:VAR or CLIENT=file:PATH
	OAuthLogin            string   // CLIENT=env:VAR or CLIENT=file:PATH
	CredentialDir         string   // of credentials that users store; empty: none
	CredentialKey         []string // env:VAR or file:PATH; the first encrypts
	OAuthAllowPrivateHost []string

	// Rules about callers.
	Allow                 []string // WHO=SELECTOR
	Deny                  []string // WHO=SELECTOR
	Public                []string // selectors
	RequireScope          []string // SCOPE=SELECTOR
	ScopesFromDescription bool

	// Access control.
	APIKeys       []string // NAME=env:VAR, NAME=file:PATH or NAME=sha256:SUM
	BehindProxy   bool
	Insecure      bool
	AzurePaths    bool
	AzureKey      string // ${VAR}
	AzureKeyInURL bool

	// The audit log.
	Audit         string   // file, - for standard output, or otlp; empty: none
	AuditArgument []string // [TOOL=]/POINTER
	AuditKey      string   // env:VAR or file:PATH; empty: random
	AuditRequired bool
	AuditSync     string // off, second or call
	AuditMaxBytes int64
	AuditKeep     int

	// Evidence of responses.
	Evidence       string // file of the ledger, or off; empty: Env.EvidenceDir says where
	EvidenceInMeta bool
	Learn          bool

	// Recordings.
	Record       string   // file or directory; empty: nothing is recorded
	RecordRedact []string // JSON Pointers
	Replay       string   // file or directory; empty: calls are made

	// Telemetry.
	OTLP             string // URL; empty: nothing is sent, unless the environment says so
	OTLPHeaders      string // env:VAR or file:PATH
	TraceSample      float64
	ForwardBaggage   bool
	TelemetryContent string // on or off
	Metrics          string // address; empty: none
	MetricsPublic    bool
	MetricsMaxTools  int

	// State that replicas share.
	Store         string // memory, or a URL
	StorePassword string // env:VAR or file:PATH
	Secret        string // env:VAR or file:PATH; empty: random

	// The process.
	Watch        bool
	PollInterval time.Duration
	Drain        time.Duration
	// ShutdownDelay is how long calls are taken after the end was asked for, while
	// readiness is false.
	ShutdownDelay time.Duration
	LogFormat     string // text or json

	from map[string]string // FILE:LINE of settings that a config file has at its top
}

// Source is a description that is served.
type Source struct {
	Name string
	Spec string // file, directory or URL
	// Options are its own; sources that share them share the HTTP client and its
	// limits, too.
	Options *SourceOptions
	// From is the line of a config file that names the source, as FILE:LINE: source
	// NAME; it precedes errors. Empty: none.
	From string
}

// SourceOptions say how a description is read and its operations are called.
// Settings that are no use to a kind of description are refused where no source
// of another kind has them.
type SourceOptions struct {
	// Tool selection.
	Include    []string
	Exclude    []string
	ReadOnly   bool
	TrustMarks bool
	MarkSafe   []string
	MarkUnsafe []string

	// Names and descriptions.
	Names            string // models or mcp
	Rename           []string
	SetDescription   []string
	ParamRename      []string
	ParamDescription []string
	ParamConst       []string
	ParamHide        []string
	MCPHeader        PerTool

	// Results.
	Policy          PerTool
	Envelope        PerTool
	Fields          PerTool
	Select          PerTool
	JQ              PerTool
	JQSchema        PerTool
	MaxResultBytes  PerTool
	FollowPages     int
	FlushInterval   time.Duration
	MaxInputSchema  int
	MaxOutputSchema int

	// Confirmation and credentials.
	Confirm PerTool
	Auth    []string
	// ServerParam is where server parameters of schema files come from:
	// NAME=env:VAR, file:PATH or keyring:NAME.
	ServerParam []string
	AuthOrigin  []string
	Header      []string
	ClientCert  []string

	// Network access.
	BaseURL          string
	AllowPrivateHost []string
	UpstreamCA       string
	UploadRoot       string

	// Timeouts, retries, limits.
	Timeout               time.Duration
	ConnectTimeout        time.Duration
	TLSHandshakeTimeout   time.Duration
	ResponseHeaderTimeout time.Duration
	AttemptTimeout        time.Duration
	Retries               int
	IdempotencyHeader     string
	MaxWait               time.Duration
	RateLimit             float64
	MaxConcurrency        int
	BreakerFailures       int
	BreakerCooldown       time.Duration
	CacheBytes            int64

	// OpenAPI documents.
	Overlay        []string
	RefRoot        string
	AllowRef       []string
	ServerVariable []string

	// FlowMCP schema files.
	Strict             bool
	Selection          string
	ImplicitParameters bool
	ListsDir           string
	LibraryDir         string
	AllowLibrary       []string
	HandlerSecrets     []string
	HandlerReads       []string
	HandlerWrites      []string
	HandlerTimeout     time.Duration
	HandlerWorkers     int
	CacheDir           string
	ProjectDir         string
	UserDir            string
	NoCache            bool
	Refresh            bool

	// Function apps.
	WorkerEnv                  []string
	TrustWorkerPort            bool
	PublishIncompatibleSchemas bool
}

// NewConfig returns a Config in which every setting has its default.
func NewConfig() *Config {
	c := &Config{}
	for _, s := range Settings() {
		s.reset(c)
	}
	return c
}

// AddSpec adds a source as the command line names it, NAME=SPEC or SPEC. Its
// options are the defaults.
func (c *Config) AddSpec(specs ...string) {
	for _, spec := range specs {
		name, where := SplitSpec(spec)
		c.Sources = append(c.Sources, Source{Name: name, Spec: where, Options: &c.Defaults})
	}
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

// ConfigError is a mistake in a [Config].
type ConfigError struct {
	Key  string // the setting; empty: it is about several, or none
	From string // where a config file has it, or names the source; empty: nowhere
	text string // with settings as flags, --name
}

// located adds the line of a config file to a mistake in a setting of its top.
func (c *Config) located(err error) error {
	e, ok := err.(*ConfigError) //nolint:errorlint // one that is wrapped has its place
	if !ok || e.From != "" || c.from[e.Key] == "" {
		return err
	}
	return &ConfigError{Key: e.Key, From: c.from[e.Key], text: e.text}
}

// invalid makes a ConfigError. The text follows the key as it is, so that it
// begins with a blank or a colon.
func invalid(key, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = "--" + key + text
	}
	return &ConfigError{Key: key, text: text}
}

var flagName = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)\b`)

// Error is the message. Settings have the names that they have in a config file.
func (e *ConfigError) Error() string {
	return e.located(flagName.ReplaceAllStringFunc(e.text, func(flag string) string {
		if _, known := settingsByName()[flag[2:]]; known {
			return flag[2:]
		}
		return flag
	}))
}

// CommandLine is the message for somebody who writes settings as flags, --name.
func (e *ConfigError) CommandLine() string { return e.located(e.text) }

func (e *ConfigError) located(text string) string {
	if e.From != "" {
		return e.From + ": " + text
	}
	return text
}

// Unwrap returns the error of class usage that every ConfigError is.
func (e *ConfigError) Unwrap() error { return &tenon.Error{Code: tenon.CodeUsage, Message: e.text} }

// asFlags is the message of an error with settings as flags.
func asFlags(err error) string {
	if e, ok := err.(*ConfigError); ok { //nolint:errorlint // a wrapped one is part of a longer text
		return e.CommandLine()
	}
	return err.Error()
}
