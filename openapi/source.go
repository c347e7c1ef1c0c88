// Package openapi turns OpenAPI documents (2.0, 3.0, 3.1, 3.2) into tools. It
// reads a document as a flat tape of nodes over its bytes. Loading only builds
// an index of names, methods and texts; a schema is converted when a client
// lists the tool or calls it. An error in a document affects only the
// operation, parameter or schema that contains it, and is reported with file
// and line.
//
// It does not know the Model Context Protocol, how responses are validated, or
// which addresses are allowed: it returns plain [tenon.Tool] values, and their
// requests are sent through a client that it is given.
//
// The path of a description: bytes → document (internal/document) → operation →
// tool, with schemas from internal/convert. The path of a call: arguments →
// plan (request.go, body.go; bytes from internal/encode) → credentials
// (security.go) → upstream → [tenon.Response].
package openapi

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/idempotency"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// Options configure a source. The zero value works.
type Options struct {
	Client  *http.Client // sends all requests; nil: a client that rejects private addresses
	BaseURL string       // replaces all servers of the document; empty: the document's servers
	MaxName int          // maximum length of a tool's name; 0: 64
	// ServerVariables are values for variables in the URLs of the document's
	// servers, by name; others have their defaults. The first server that
	// accepts the values is used. A name or value that no server accepts is an
	// error.
	ServerVariables map[string]string
	// Header is sent with every request to the origin of the base URL and to no
	// other. A parameter of the same name is then not exposed as an argument.
	Header http.Header
	// Credentials are those for the document's security schemes, by scheme
	// name, or as SCHEME@ORIGIN (https://host or https://host:port) for one
	// origin only. A call is rejected if its operation requires another
	// credential.
	Credentials map[string]Credential
	// AuthOrigins are the origins (https://host or https://host:port) to which
	// credentials without an origin of their own, and headers that contain one,
	// may be sent, token endpoints included. Empty: the origins of the first
	// Load. If a later Load changes them, calls are rejected and a diagnostic
	// says so.
	AuthOrigins []string

	// UserCredential has the credentials of users, for schemes whose Credential is of
	// the User; nil: there are none.
	UserCredential UserCredentials
	// ObserveSecret is told of every credential before it is sent, however often; nil:
	// nobody is.
	ObserveSecret func(string)
	// Replayed: the client answers requests from a recording. They are sent without
	// credentials, whatever they require, and a retry waits for nobody.
	Replayed bool
	// ClientCerts are client certificates by origin, https://host or
	// https://host:port. They satisfy mutualTLS schemes.
	ClientCerts     map[string]ClientCert
	Upstream        Upstream          // retries, limits, cache; zero: each request is sent once, without limits
	Shared          tenon.Cache       // keeps responses and access tokens for other replicas, too; nil: nothing does
	Store           tenon.Store       // keeps idempotency keys of calls whose outcome is not known; nil: the memory of this process
	Policy          tenon.Policy      // empty: Warn, because tenon does not control the upstream
	Confirm         tenon.ConfirmMode // for operations that are not safe; empty: ConfirmAuto
	Envelope        tenon.Envelope    // empty: OpenAPIMCP
	MaxInputSchema  int               // bytes of a published input schema; 0: 32 KiB; negative: no limit
	MaxOutputSchema int               // bytes of a tool's published success schemas together; 0: 16 KiB; negative: no limit
	MaxResponse     int64             // bytes of a response body; 0: 32 MiB
	Timeout         time.Duration     // of one request including its body, for each attempt; 0: 30 s

	// IdempotencyHeader is the header in which the upstream takes idempotency keys
	// though its document does not say so; empty: keys are sent where an operation
	// declares Idempotency-Key, or a header whose name ends so. A key of the caller is
	// sent as it is; otherwise each call has a new one, unless an equal call of the same
	// subject in the last ten minutes had an outcome that is not known: then it has that
	// call's, so that its effect happens once.
	IdempotencyHeader string

	// FollowPages is the maximum number of pages of a list that one call reads
	// and combines; 0, 1: only the requested page.
	FollowPages int

	Selection Selection           // which operations become tools
	Overrides []OperationOverride // changes to how they are offered
	// TrustMarks trusts extensions of the document that declare an operation
	// safer than its method: x-mcp-safe, x-mcp-idempotent true,
	// x-mcp-destructive, x-mcp-open-world false. Otherwise they are ignored
	// with a diagnostic; the opposite values always count.
	TrustMarks   bool
	UploadRoot   string        // folder of file arguments (file:PATH); empty: none are accepted
	Overlays     []string      // files or URLs of overlays (Overlay Specification 1.0, 1.1), which are applied to the document in this order
	RefRoot      string        // folder that contains all files of a document on disk; empty: the document's own folder
	PollInterval time.Duration // interval of checks for changes of remote files while the source is watched; 0: none
	RefHosts     []string      // hosts, with a port unless it is the default, from which other files of the document may be read
	Logger       *slog.Logger  // for problems with remote files while they are watched; nil: nothing is logged
}

// defaults returns o with defaults for zero fields.
func (o Options) defaults() (Options, error) {
	if o.Client == nil {
		c, err := egress.NewClient(egress.Options{})
		if err != nil {
			return o, &tenon.Error{Code: tenon.CodeInternal, Message: "cannot create an HTTP client", Err: err}
		}
		o.Client = c
	}
	if err := o.useClientCerts(); err != nil {
		return o, err
	}
	if name := o.IdempotencyHeader; name != "" && (!encode.IsToken(name) || ignoredHeader(name) || overridesRequest(name)) {
		return o, usage(fmt.Errorf("%q cannot be the header of an idempotency key", name))
	}
	header := make(http.Header, len(o.Header))
	for name, values := range o.Header {
		header[http.CanonicalHeaderKey(name)] = slices.Clip(values)
	}
	o.Header = header
	o.Credentials = maps.Clone(o.Credentials)
	o.Policy = or(o.Policy, tenon.Warn)
	o.Envelope = or(o.Envelope, tenon.OpenAPIMCP)
	o.MaxInputSchema = or(o.MaxInputSchema, 32<<10)
	o.MaxOutputSchema = or(o.MaxOutputSchema, 16<<10)
	o.MaxResponse = or(o.MaxResponse, 32<<20)
	o.Timeout = or(o.Timeout, 30*time.Second)
	return o, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Source is one OpenAPI document. It is safe for concurrent use.
type Source struct {
	spec    string
	options Options

	destinations destinations // of credentials

	mu     sync.Mutex
	inputs *document.Inputs // from the last successful load
	serviceInfo
}

var _ tenon.Watcher = (*Source)(nil)

// New returns the source for a document: the path of a file or an http(s) URL.
// It does not read it.
func New(spec string, o Options) *Source {
	o.Store = storeOfKeys(o.Store) // not one for each load, which keys outlive
	return &Source{spec: spec, options: o}
}

// storeOfKeys is where idempotency keys are kept.
func storeOfKeys(given tenon.Store) tenon.Store {
	if given != nil {
		return given
	}
	return memstore.New(memstore.Options{MaxBytes: 1 << 20})
}

// Load reads the document and indexes its operations. Other files of a document
// are read when a reference first leads to them if they are on disk, and now if
// they are remote.
func (s *Source) Load(ctx context.Context) (tenon.Features, error) {
	seen := &document.Inputs{}
	offer, said, err := s.load(ctx, seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.inputs == nil {
		s.inputs, s.serviceInfo = seen, said
	}
	return offer, err
}

func (s *Source) load(ctx context.Context, read *document.Inputs) (tenon.Features, serviceInfo, error) {
	o, err := s.options.defaults()
	if err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	recordSelectorFiles(read, o.Selection)
	a, err := newAPI(o, &s.destinations)
	if err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	doc, changed, err := document.Open(ctx, s.spec, o.reading(), read)
	if err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	return a.load(doc, changed)
}

// Parse is Load for a document from bytes, which must not be changed
// afterwards. The name is used in diagnostics; if it is a URL, relative servers
// are resolved against it. References to other files are not resolved.
func Parse(name string, doc []byte, o Options) (tenon.Features, error) {
	o, err := o.defaults()
	if err != nil {
		return tenon.Features{}, err
	}
	a, err := newAPI(o, nil)
	if err != nil {
		return tenon.Features{}, err
	}
	parsed, changed, err := document.OpenBytes(context.Background(), name, doc, o.reading())
	if err != nil {
		return tenon.Features{}, err
	}
	features, _, err := a.load(parsed, changed)
	return features, err
}

// reading returns the options that concern the reading of the document.
func (o Options) reading() document.Options {
	return document.Options{Client: o.Client, Overlays: o.Overlays, RefRoot: o.RefRoot, RefHosts: o.RefHosts, Timeout: o.Timeout}
}

// newAPI parses the options that do not depend on the document.
func newAPI(o Options, d *destinations) (*api, error) {
	a := &api{options: o, destinations: d, yes: true}
	a.definition = a.definitionAt
	var err error
	if a.selection, err = o.Selection.parse(); err != nil {
		return nil, err
	}
	if a.overrides, err = parseOverrides(o.Overrides); err != nil {
		return nil, err
	}
	a.authOrigins, err = readOrigins(o.AuthOrigins)
	return a, err
}

// load makes the tools of a document. changed are the diagnostics of its
// overlays.
func (a *api) load(doc *document.Document, changed []tenon.Diagnostic) (tenon.Features, serviceInfo, error) {
	o := a.options
	a.doc, a.schemas, a.at = doc, convert.New(doc), doc.URL()
	if err := a.checkVariables(); err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	if a.base, a.baseErr = a.documentBase(); a.baseErr != nil && o.BaseURL != "" {
		return tenon.Features{}, serviceInfo{}, &tenon.Error{Code: tenon.CodeUsage, Message: a.baseErr.Error()}
	}
	a.keys = idempotency.New(storeOfKeys(o.Store), o.keyClaim())
	if o.Upstream != (Upstream{}) {
		policy := o.Upstream.policy(o.Timeout)
		policy.Shared, policy.Replayed = o.Shared, o.Replayed
		a.upstreams = egress.NewUpstreams(o.Client, policy)
	}
	a.schemes = a.readSchemes()
	if err := a.configureCredentials(); err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	features, err := a.index()
	if err != nil {
		return tenon.Features{}, serviceInfo{}, err
	}
	features.Diagnostics = append(changed, features.Diagnostics...)
	return features, serviceInfoOf(doc), nil
}

// maxInstructions bounds the instructions in bytes.
const maxInstructions = 1000

// serviceInfo is the document's description of the service.
type serviceInfo struct{ title, version, instructions string }

// serviceInfoOf reads the info object. The description keeps its line breaks but is
// shortened, because clients send it to the model with every conversation.
func serviceInfoOf(d *document.Document) serviceInfo {
	info := d.Root.Get("info")
	summary, text := strings.TrimSpace(info.StrAt("summary")), strings.TrimSpace(info.StrAt("description"))
	if summary != "" && !strings.HasPrefix(text, summary) {
		text = strings.TrimSpace(summary + "\n\n" + text)
	}
	return serviceInfo{
		title:   truncate(strings.Join(strings.Fields(info.StrAt("title")), " "), maxTitle),
		version: truncate(strings.TrimSpace(info.StrAt("version")), maxTitle), instructions: truncate(text, maxInstructions),
	}
}

// Identity returns the service's name, version and description from the current
// document, shortened; absent ones are empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.title, s.version, s.instructions
}

// Access is what a person must know to call the operations of a document: where
// the server is and which credentials it needs.
type Access struct {
	BaseURL     string   // of the operations that declare no servers of their own; empty: there is none
	Credentials []string // the security schemes that operations require, each with its type and the flag that sets it
	Schemes     []SecurityScheme
}

// SecurityScheme is a security scheme that operations require.
type SecurityScheme struct {
	Name        string
	Kind        string // its type, for people, such as "apiKey in header X-Key"
	Description string // the document's, on one line; empty: none
	OAuth       bool   // its value is an access token, which a client can request
	// Supported schemes have one value, which an operator can configure.
	Supported bool
	// Always reports whether some operation cannot be called without it.
	Always bool
}

// Access describes the document of the last successful Load.
func (s *Source) Access() Access {
	s.destinations.mu.Lock()
	tell := s.destinations.access
	s.destinations.mu.Unlock()
	if tell == nil {
		return Access{}
	}
	return tell()
}

// access collects the result of [Source.Access].
func (a *api) access(all []found) Access {
	access := Access{}
	if a.base != nil {
		access.BaseURL = document.RedactURL(a.base)
	}
	demanded := map[string]bool{} // and whether an operation requires it in all its alternatives
	whole := a.doc.Root.Get("security")
	for _, f := range all {
		list := effectiveSecurity(f.op.node.Get("security"), whole)
		alternatives := map[string]int{}
		for _, together := range list.Each() {
			for name := range together.Each() {
				alternatives[name]++
			}
		}
		for name, n := range alternatives {
			demanded[name] = demanded[name] || n == list.Len()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(demanded)) {
		s := a.schemes[name]
		if s == nil {
			continue
		}
		about := truncate(strings.Join(strings.Fields(s.node.StrAt("description")), " "), maxTitle)
		access.Schemes = append(access.Schemes, SecurityScheme{
			Name: name, Kind: s.kind, Description: about, OAuth: s.kind == "oauth2" || s.kind == "openIdConnect", Supported: s.supported, Always: demanded[name],
		})
		text := s.String() + ": " + s.flag(&plan{base: a.base})
		if about != "" {
			text += ". " + about
		}
		access.Credentials = append(access.Credentials, text)
	}
	return access
}
