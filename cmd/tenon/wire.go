package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// maxFaultsShown bounds the warnings printed at start.
const maxFaultsShown = 10

// maxNameMCP is how long a name of a tool can be by the protocol.
const maxNameMCP = 128

// sourceFlags are the flags of every command that reads descriptions.
type sourceFlags struct {
	policy     choice
	shape      choice
	prefix     string
	names      string
	baseURL    string
	variables  serverVariables
	headers    []string
	allowHosts []string
	choose     openapi.Selection
	trustMarks bool
	fileRoot   string
	overlays   []string
	refRoot    string
	allowRefs  []string
	timeout    time.Duration
	pages      int
	maxIn      int
	maxOut     int
	apps       appFlags
	auth       authFlags
	way        wayFlags
	calls      callChoices
	describe   string
	mode       toolsMode
	changes    changeFlags
	verbose    bool
	handlers   handlerFlags
	level      slog.Level // of the log without --verbose

	poll time.Duration // between questions whether descriptions on the web have changed; 0: none are asked

	client *http.Client // the way out that connect made
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&f.policy, "policy", "what happens to an answer that breaks its schema: enforce, repair, warn or off (default warn); TOOL=POLICY for some tools (repeatable)")
	fs.Var(&f.shape, "shape", "what stands in structuredContent: openapi-mcp, flowmcp or native (default: as the kind of description has it); TOOL=SHAPE for some tools (repeatable)")
	f.calls.register(cmd)
	fs.StringVar(&f.prefix, "prefix", "auto", "put the source's name before tool names: auto (where they collide), always or never")
	fs.StringVar(&f.names, "names", "models", "names of tools: models (what every model API takes: letters, digits, _ and -, up to 64) or mcp (what the protocol allows: dots too, up to 128)")
	fs.StringVar(&f.baseURL, "base-url", "", "send calls to this URL instead of those that the description names")
	f.variables.register(cmd)
	fs.StringArrayVar(&f.headers, "header", nil, "send this header with every call of an OpenAPI document, as 'Name: value'; ${VAR} is read from the environment (repeatable)")
	fs.StringArrayVar(&f.allowHosts, "allow-host", nil, "allow a private or loopback address: host, host:port, IP or CIDR (repeatable)")
	fs.StringArrayVar(&f.choose.Include, "only", nil, "serve only operations and tools that match: tag:NAME, method:GET, path:/a/**, id:repos_*, 'GET /a/{id}', /regexp/, @FILE of such lines; tools of function apps have an id alone (repeatable)")
	fs.StringArrayVar(&f.choose.Exclude, "except", nil, "of those, leave out operations that match; rules as for --only (repeatable)")
	fs.BoolVar(&f.choose.ReadOnly, "read-only", false, "serve only tools that change nothing")
	fs.BoolVar(&f.trustMarks, "trust-marks", false, "believe descriptions that mark operations as harmless, whatever their method: x-mcp-safe and the like, meta of schema files; else such marks pass neither --read-only nor --confirm")
	fs.StringVar(&f.fileRoot, "file-root", "", "folder below which an argument may name a file to send, as file:PATH (default: none)")
	fs.StringArrayVar(&f.overlays, "overlay", nil, "change OpenAPI documents by this overlay (file or URL) before they are read (repeatable, in order)")
	fs.StringVar(&f.refRoot, "ref-root", "", "folder below which the other files of an OpenAPI document may lie (default: the document's own folder)")
	fs.StringArrayVar(&f.allowRefs, "allow-ref", nil, "read other files of an OpenAPI document from this host on the web (repeatable)")
	fs.DurationVar(&f.timeout, "timeout", time.Minute, "the longest that one call may take")
	fs.IntVar(&f.pages, "follow-pages", 0, "put up to this many pages of a list of an OpenAPI document together: by links and cursors, and by numbers where a total or has_more agrees (0: none)")
	fs.IntVar(&f.maxIn, "max-input-schema", 0, "bytes of a published input schema before it is relaxed (0: 32768, -1: no limit)")
	fs.IntVar(&f.maxOut, "max-output-schema", 0, "bytes of a published output schema before it is relaxed (0: 16384, -1: no limit)")
	f.apps.register(cmd)
	f.auth.register(cmd)
	f.way.register(cmd)
	fs.StringVar(&f.describe, "describe", "auto", "the tool that describes all the others: auto (where a tool has the shape openapi-mcp), on or off")
	f.mode.register(cmd)
	f.changes.register(cmd)
	f.handlers.register(cmd)
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "print every warning and log every violation")
	takes(cmd, "policy", "enforce", "repair", "warn", "off")
	takes(cmd, "shape", "openapi-mcp", "flowmcp", "native")
	takes(cmd, "prefix", "auto", "always", "never")
	takes(cmd, "names", "models", "mcp")
	takes(cmd, "describe", "auto", "on", "off")
}

func (f *sourceFlags) options(e env) (openapi.Options, error) {
	policy, err := parsed(f.policy.general, tenon.ParsePolicy)
	if err != nil {
		return openapi.Options{}, err
	}
	shape, err := parsed(f.shape.general, tenon.ParseEnvelope)
	if err != nil {
		return openapi.Options{}, err
	}
	header, err := parseHeaders(f.headers, e.getenv)
	if err != nil {
		return openapi.Options{}, err
	}
	if u, err := url.Parse(f.baseURL); f.baseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(f.baseURL, "?#")) {
		return openapi.Options{}, usagef("--base-url must be an http or https URL without query, such as https://api.example.com/v1")
	}
	variables, err := f.variables.read()
	if err != nil {
		return openapi.Options{}, err
	}
	client, err := f.way.client(f.allowHosts)
	if err != nil {
		return openapi.Options{}, err
	}
	f.client = client
	changes, err := f.changes.changes()
	if err != nil {
		return openapi.Options{}, err
	}
	longest := 0
	if f.names == string(tenon.NamesMCP) {
		longest = maxNameMCP
	}
	return openapi.Options{
		MaxName: longest, Client: client, BaseURL: f.baseURL, ServerVariables: variables, Header: header, Policy: policy, Shape: shape,
		FollowPages: f.pages, MaxInputSchema: f.maxIn, MaxOutputSchema: f.maxOut, Timeout: cmp.Or(f.way.attempt, f.timeout), Upstream: f.way.policy,
		Poll: f.poll, Choose: f.choose, Changes: changes, TrustMarks: f.trustMarks, FileRoot: f.fileRoot, Overlays: f.overlays, RefRoot: f.refRoot, RefHosts: f.allowRefs, Logger: f.logger(e),
	}, nil
}

func (f *sourceFlags) logger(e env) *slog.Logger {
	level := f.level
	if f.verbose {
		level = slog.LevelInfo
	}
	return e.logger(level)
}

// report prints what was read and what is wrong with it.
func (f *sourceFlags) report(w io.Writer, c *gateway.Catalog) {
	faults := c.Diagnostics()
	tools := count(described(c), "tool")
	if f.mode.behind > 0 {
		tools += fmt.Sprintf(" that find and call %d", f.mode.behind)
	}
	fmt.Fprintf(w, "tenon: %s, %s\n", tools, count(len(faults), "warning"))
	if f.verbose {
		printEach(w, faults)
		return
	}
	summarize(w, faults)
}

func printEach(w io.Writer, faults []tenon.Diagnostic) {
	for _, fault := range faults {
		fmt.Fprintf(w, "  %s\n", fault)
	}
}

// summarize prints diagnostics: of each kind the first, with the number of the
// others, and of those that are of no kind the first few.
func summarize(w io.Writer, faults []tenon.Diagnostic) {
	left := map[string]int{}
	for _, fault := range faults {
		left[fault.Kind]++
	}
	alone, shown := 0, 0
	for _, fault := range faults {
		others := left[fault.Kind] - 1
		left[fault.Kind] = 0 // told
		if fault.Kind == "" {
			alone, others = alone+1, 0
		}
		switch {
		case others < 0 || alone > maxFaultsShown && fault.Kind == "":
			continue
		case others > 0:
			fmt.Fprintf(w, "  %s; and %d more like it\n", fault, others)
		default:
			fmt.Fprintf(w, "  %s\n", fault)
		}
		shown++
	}
	if more := len(faults) - shown; more > 0 {
		fmt.Fprintf(w, "  %d more are not shown; --verbose shows them all\n", more)
	}
}

// described counts the tools that descriptions became: not our own.
func described(c *gateway.Catalog) int {
	n := 0
	for _, t := range c.Tools() {
		if t.Source() != "" {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// badSource makes sure that a description that cannot be read ends with exit 3.
// A flag that does not fit it is a fault of the command line.
func badSource(spec string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		if text := noDescription(spec); text != "" {
			return &tenon.Error{Code: tenon.CodeBadSource, Message: text}
		}
	}
	if known, ok := errors.AsType[*tenon.Error](err); ok && known.Code == tenon.CodeBadSource && looksLikeConfig(spec) {
		return &tenon.Error{Code: known.Code, Message: known.Message + "; a config is read with --config " + spec + ", by serve and check", Err: known.Err}
	}
	if code := tenon.CodeOf(err); code == tenon.CodeBadSource || code == tenon.CodeUsage || errors.Is(err, context.Canceled) {
		return err
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: shownSpec(spec) + " cannot be read", Err: err}
}

// shownSpec is a SPEC as it may be printed and logged: of a URL neither the user
// nor the query, which may hold secrets.
func shownSpec(spec string) string {
	if !strings.Contains(spec, "://") {
		return spec
	}
	u, err := url.Parse(spec)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// splitSpec returns the name and place of a SPEC argument: NAME=PLACE, or a
// place whose file or host names it.
func splitSpec(spec string) (name, where string) {
	if n, w, ok := strings.Cut(spec, "="); ok && n != "" && !strings.ContainsAny(n, "/:.") {
		return n, w
	}
	base := filepath.Base(spec)
	if u, err := url.Parse(spec); err == nil && u.Host != "" {
		if base = path.Base(u.Path); base == "/" || base == "." {
			base = u.Hostname()
		}
	}
	for ext := filepath.Ext(base); ext == ".json" || ext == ".yaml" || ext == ".yml" || ext == ".mjs"; ext = filepath.Ext(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return tenon.ToolName(base), spec
}

// parseHeaders reads 'Name: value' flags. ${VAR} in a value is taken from the
// environment, so that no secret stands on the command line.
func parseHeaders(flags []string, getenv func(string) (string, bool)) (http.Header, error) {
	header := http.Header{}
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usagef("--header wants 'Name: value'")
		}
		var missing string
		value = variable.ReplaceAllStringFunc(value, func(ref string) string {
			v, ok := getenv(ref[2 : len(ref)-1])
			if !ok {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return nil, usagef("--header %s: the environment has no variable %s", strings.TrimSpace(name), missing)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
