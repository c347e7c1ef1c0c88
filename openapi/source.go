// Package openapi turns OpenAPI documents (2.0, 3.0, 3.1, 3.2) into tools.
//
// It reads a document as a flat tape of nodes over its bytes and looks at the
// rest only when somebody asks: loading builds an index of names, methods and
// texts; a schema is converted when a client lists the tool or calls it. What
// is wrong inside a document costs the one operation, parameter or schema that
// it is in and is reported with file and line.
//
// It does not know the Model Context Protocol, how answers are checked or
// shaped, nor how addresses are allowed: it hands out plain [tenon.Tool]
// values, and their requests leave through the client that it was given.
//
// The path of a description: bytes → document → operation → tool. The path
// of a call: arguments → plan (request.go, header.go, style.go, body.go) → credentials (authorize.go) → upstream →
// [tenon.Response].
package openapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// maxDocument bounds a description. The biggest public one has 47 MB.
const maxDocument = 256 << 20

// Options configure a source. The zero value works.
type Options struct {
	Client  *http.Client // the way out; nil: a client that refuses private addresses
	BaseURL string       // replaces every server that the document names; empty: the document's servers
	MaxName int          // bytes of a tool's name; 0: 64
	// ServerVariables are values for variables in the URLs of the document's
	// servers, by name; others have their defaults. Of several servers the first
	// counts that takes the values. A name or value that none takes is an error.
	ServerVariables map[string]string
	// Header is sent with every request to the host of the base URL and to no
	// other; a parameter of the same name is then not an argument any more.
	Header http.Header
	// Credentials are those of the document's security schemes, by the scheme's
	// name, or as SCHEME@ORIGIN (https://host or https://host:port) those for one
	// server alone. A call whose operation demands another one is refused.
	Credentials map[string]Credential
	// AuthOrigins are the origins (https://host or https://host:port) that
	// credentials which are bound to none, and headers that hold one, may go to,
	// token endpoints included. Empty: those to which the first Load sends them;
	// what a later one moves elsewhere is refused, and a fault says so.
	AuthOrigins []string
	// ClientCerts are shown to servers that ask for one, by origin: https://host
	// or https://host:port. They are what a mutualTLS scheme demands.
	ClientCerts     map[string]ClientCert
	Upstream        Upstream          // retries, limits, kept answers; empty: each request is sent once and at once
	Policy          tenon.Policy      // empty: Warn, because an upstream is not ours to enforce
	Consent         tenon.ConfirmMode // of operations that are not safe; empty: ConfirmAuto
	Shape           tenon.Envelope    // empty: OpenAPIMCP
	MaxInputSchema  int               // bytes of a published input schema; 0: 32 KiB; negative: no limit
	MaxOutputSchema int               // bytes of a tool's published success schemas together; 0: 16 KiB; negative: no limit
	MaxAnswer       int64             // bytes of an answer's body; 0: 32 MiB
	Timeout         time.Duration     // of one request, from connecting to the last byte, each attempt anew; 0: 30 s

	// FollowPages is how many pages of a list may be read for one call and put
	// together; 0, 1: the one that was asked for.
	FollowPages int

	Choose  Selection           // which operations become tools
	Changes []OperationOverride // how they are offered otherwise than the document says
	// TrustMarks believes a document that marks its operations as more harmless
	// than their methods are: x-mcp-safe, x-mcp-idempotent true,
	// x-mcp-destructive, x-mcp-open-world false. Else such marks do nothing and a
	// fault says so; marks that ask for more care always count.
	TrustMarks bool
	FileRoot   string        // folder below which an argument may name a file to send, as file:PATH; empty: none
	Overlays   []string      // files or URLs of overlays (Overlay Specification 1.0, 1.1) that change the document before it is read, in this order
	RefRoot    string        // folder below which the other files of a document on disk may lie; empty: the document's own
	Poll       time.Duration // between questions whether what was read from the web has changed, while the source is watched; 0: it is read once
	RefHosts   []string      // hosts, with a port where it is not the usual one, from which other files of a document may be read
	Logger     *slog.Logger  // of what watching the web finds; nil: nothing is logged
}

// defaults returns o with its zero fields filled in.
func (o Options) defaults() (Options, error) {
	if o.Client == nil {
		c, err := egress.NewClient(egress.Options{})
		if err != nil {
			return o, &tenon.Error{Code: tenon.CodeInternal, Message: "no client", Err: err}
		}
		o.Client = c
	}
	if err := o.showCertificates(); err != nil {
		return o, err
	}
	header := make(http.Header, len(o.Header))
	for name, values := range o.Header {
		header[http.CanonicalHeaderKey(name)] = slices.Clip(values)
	}
	o.Header = header
	o.Credentials = maps.Clone(o.Credentials)
	o.Policy = or(o.Policy, tenon.Warn)
	o.Shape = or(o.Shape, tenon.OpenAPIMCP)
	o.MaxInputSchema = or(o.MaxInputSchema, 32<<10)
	o.MaxOutputSchema = or(o.MaxOutputSchema, 16<<10)
	o.MaxAnswer = or(o.MaxAnswer, 32<<20)
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

	homes destinations // of credentials

	mu   sync.Mutex
	seen *seen // by the last load that went well
	about
}

var _ tenon.Watcher = (*Source)(nil)

// New returns the source for a document: the path of a file or an http(s) URL.
// It opens nothing.
func New(spec string, o Options) *Source {
	return &Source{spec: spec, options: o}
}

// Load reads the document and indexes its operations. Of a document in several
// files, those on disk are read when something first refers to them, those in
// the web now.
func (s *Source) Load(ctx context.Context) (tenon.Features, error) {
	seen := &seen{}
	offer, said, err := s.load(ctx, seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.seen == nil {
		s.seen, s.about = seen, said
	}
	return offer, err
}

func (s *Source) load(ctx context.Context, seen *seen) (tenon.Features, about, error) {
	o, err := s.options.defaults()
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	seen.rules(o.Choose)
	overlays, err := o.overlays(ctx, seen)
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	if at := remote(s.spec); at != nil {
		raw, final, _, err := egress.Fetch(ctx, o.Client, s.spec, maxDocument)
		seen.address(s.spec, raw)
		if err != nil {
			return tenon.Features{}, about{}, badSource("read "+public(at), err)
		}
		return load(origin{name: public(at), at: address{url: final}, library: webLibrary(o, final, seen)}, raw, overlays, &s.homes, o) //nolint:contextcheck // a file may first be asked for long after loading
	}
	raw, err := readFile(s.spec)
	seen.file(s.spec, raw, err)
	if err != nil {
		return tenon.Features{}, about{}, badSource("read "+s.spec, err)
	}
	l, at, err := diskLibrary(o, s.spec, seen) //nolint:contextcheck // as above
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	return load(origin{name: s.spec, at: at, library: l}, raw, overlays, &s.homes, o)
}

// Parse is Load for a document whose bytes are at hand. The name stands in
// reports; where it is a URL, relative servers are resolved against it. The
// bytes must not be changed afterwards. References to other files lead nowhere.
func Parse(name string, doc []byte, o Options) (tenon.Features, error) {
	o, err := o.defaults()
	if err != nil {
		return tenon.Features{}, err
	}
	from := origin{name: name, library: &library{}}
	if at := remote(name); at != nil {
		from.name, from.at = public(at), address{url: at}
	}
	overlays, err := o.overlays(context.Background(), nil)
	if err != nil {
		return tenon.Features{}, err
	}
	offer, _, err := load(from, doc, overlays, nil, o)
	return offer, err
}

// origin is where the main file of a document was found.
type origin struct {
	name    string // as reports have it
	at      address
	library *library
}

func load(from origin, raw []byte, overlays []overlay, homes *destinations, o Options) (tenon.Features, about, error) {
	choice, err := o.Choose.read()
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	changes, err := readChanges(o.Changes)
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	main, told, err := overlaid(from.name, raw, overlays)
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	doc, err := documentOf(main, from.at, from.library)
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	if from.library.web() {
		from.library.fetchAll(doc.root.file)
	}
	a := &api{doc: doc, at: from.at.url, options: o, choice: choice, changes: changes, homes: homes, yes: true}
	if a.authOrigins, err = readOrigins(o.AuthOrigins); err != nil {
		return tenon.Features{}, about{}, err
	}
	if err := a.checkVariables(); err != nil {
		return tenon.Features{}, about{}, err
	}
	if a.base, a.baseErr = a.documentBase(); a.baseErr != nil && o.BaseURL != "" {
		return tenon.Features{}, about{}, &tenon.Error{Code: tenon.CodeUsage, Message: a.baseErr.Error()}
	}
	if o.Upstream != (Upstream{}) {
		a.upstreams = egress.NewUpstreams(o.Client, o.Upstream.policy(o.Timeout))
	}
	a.schemes = a.readSchemes()
	if err := a.giveCredentials(); err != nil {
		return tenon.Features{}, about{}, err
	}
	offer, err := a.index()
	if err != nil {
		return tenon.Features{}, about{}, err
	}
	offer.Diagnostics = append(told, offer.Diagnostics...)
	return offer, aboutOf(doc), nil
}

// remote returns spec as a URL, or nil where it is a file's path.
func remote(spec string) *url.URL {
	if !strings.HasPrefix(spec, "https://") && !strings.HasPrefix(spec, "http://") {
		return nil
	}
	u, err := url.Parse(spec)
	if err != nil {
		return nil
	}
	return u
}

// public is a URL as it may stand in a report: its query and its user may be
// credentials.
func public(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.Fragment = nil, "", ""
	return v.String()
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	return readAll(f)
}

// readAll reads a file within the bound of a description.
func readAll(f *os.File) ([]byte, error) {
	var size int64
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	if size > maxDocument {
		return nil, fmt.Errorf("larger than %d MiB", maxDocument>>20)
	}
	b := make([]byte, 0, size+512)
	if size >= long {
		b = b[:readHalves(f, b[:size])]
	}
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, plain(err)
		case len(b) > maxDocument:
			return nil, fmt.Errorf("larger than %d MiB", maxDocument>>20)
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// readHalves fills b with what f begins with, by two goroutines, and goes on
// behind it. It answers len(b), or 0 where that went wrong: nothing is read then.
func readHalves(f *os.File, b []byte) int {
	half := int64(len(b) / 2)
	second := make(chan error)
	go func() {
		_, err := f.ReadAt(b[half:], half)
		second <- err
	}()
	_, err := f.ReadAt(b[:half], 0)
	if err = errors.Join(err, <-second); err == nil { // it might have been cut meanwhile
		_, err = f.Seek(int64(len(b)), io.SeekStart)
	}
	if err != nil {
		return 0
	}
	return len(b)
}

// plain takes the path out of an error that is printed behind the path.
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

func badSource(act string, err error) error {
	return &tenon.Error{Code: tenon.CodeBadSource, Message: act, Err: err}
}
