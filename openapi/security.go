package openapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// scheme is a security scheme: a kind of credential and its place in a request.
type scheme struct {
	name        string
	kind        string          // its type, for people
	place       encode.Location // encode.InHeader, inQuery or encode.InCookie; meaningless unless spoken
	wire        string          // canonical name of the header, or name of the parameter
	prefix      string          // of the header's value: the HTTP authentication scheme and a space
	supported   bool            // supported: its credential can be put into a request
	tls         bool            // a client certificate
	node        document.Value
	credentials []configuredCredential // the operator's credentials for it
}

// requirement is what an operation requires: one of its alternatives, each of which
// is a set of schemes. An alternative without schemes requires nothing.
type requirement [][]requiredScheme

// requiredScheme is a scheme of a requirement.
type requiredScheme struct {
	*scheme
	scopes []string // of an access token
}

// maxAlternatives bounds the alternatives that are read. The largest public
// document has 13.
const maxAlternatives = 64

// readSchemes reads the document's security schemes.
func (a *api) readSchemes() map[string]*scheme {
	all := a.doc.Root.Get("components").Get("securitySchemes")
	if a.legacy() {
		all = a.doc.Root.Get("securityDefinitions")
	}
	found := make(map[string]*scheme, all.Len())
	for name, v := range all.Each() {
		node, err := a.doc.Deref(v)
		if err != nil {
			a.doc.AddDiagnostic(v, "cannot read security scheme "+name+": "+err.Error())
		}
		found[name] = newScheme(name, node)
	}
	return found
}

func newScheme(name string, node document.Value) *scheme {
	s := &scheme{name: name, kind: node.StrAt("type"), node: node}
	switch s.kind {
	case "apiKey":
		s.key(node.StrAt("in"), node.StrAt("name"))
	case "basic": // 2.0
		s.authorization("Basic ")
		s.kind = "http basic"
	case "http":
		s.http(node.StrAt("scheme"))
	case "oauth2", "openIdConnect":
		s.authorization("Bearer ")
	case "mutualTLS":
		s.tls = true
	case "":
		s.kind = "not declared"
	}
	return s
}

// key reads an API key in a header, the query or a cookie.
func (s *scheme) key(in, name string) {
	s.kind = "apiKey in " + in + " " + name
	s.wire = name
	switch in {
	case "header":
		s.place, s.wire, s.supported = encode.InHeader, http.CanonicalHeaderKey(name), encode.IsToken(name)
	case "query":
		s.place, s.supported = encode.InQuery, name != ""
	case "cookie":
		s.place, s.supported = encode.InCookie, encode.IsToken(name)
	}
}

// http reads an HTTP authentication scheme. Only those that send a secret as it
// is are supported, not those with challenges or signatures.
func (s *scheme) http(name string) {
	s.kind = "http " + name
	switch strings.ToLower(name) {
	case "basic":
		s.authorization("Basic ")
	case "bearer":
		s.authorization("Bearer ")
	}
}

func (s *scheme) authorization(prefix string) {
	s.place, s.wire, s.prefix, s.supported = encode.InHeader, "Authorization", prefix, true
}

// String returns the scheme's name and type, for a message.
func (s *scheme) String() string { return s.name + " (" + s.kind + ")" }

// requirement reads the operation's security requirement, or else the document's. An
// empty list is a requirement too: nothing is sent.
func (o *operation) requirement(p *plan) requirement {
	list := o.node.Get("security")
	if list.Kind() != rawjson.Array {
		list = o.api.doc.Root.Get("security")
	}
	var d requirement
	for _, v := range list.Each() {
		if len(d) == maxAlternatives {
			p.addDiagnostic(o, v, "only the first 64 security requirements are used")
			break
		}
		d = append(d, o.alternative(p, v))
	}
	return d
}

func (o *operation) alternative(p *plan, v document.Value) []requiredScheme {
	together := make([]requiredScheme, 0, v.Len())
	for name, at := range v.Each() {
		s := o.api.schemes[name]
		if s == nil {
			p.addDiagnostic(o, at, "security scheme "+name+" is not declared")
			s = &scheme{name: name, kind: "not declared"}
		}
		d := requiredScheme{scheme: s}
		for _, scope := range at.Each() {
			d.scopes = append(d.scopes, scope.Str())
		}
		together = append(together, d)
	}
	return together
}

// isRequiredCredential reports whether a parameter is one of the required credentials, and
// therefore set by the operator and not an argument.
func (p *plan) isRequiredCredential(in encode.Location, name string) bool {
	for _, together := range p.requirement {
		for _, s := range together {
			same := sameSpelling(s.wire, name)
			if in == encode.InHeader {
				same = sameHeader(s.wire, name)
			}
			from, _ := s.credentialFor(p.base)
			if s.supported && s.place == in && same && (from == nil || !from.None) {
				return true
			}
		}
	}
	return false
}

// Rules of this file: a request is sent with the credentials that its operation
// requires, or not at all; with those of one alternative and no others; and
// only to the origin that they are for. Which headers a redirect must drop is
// decided by the client.

// appliedCredential is a credential as it was put into a request.
type appliedCredential struct {
	text   string      // empty: no credential of ours is needed
	user   bool        // it is the user's own
	reject func() bool // forgets an access token that other calls use too, and reports whether another one may be accepted; nil: it is no such token
}

// sentCredentials is what later steps need to know about the credentials of a request.
type sentCredentials struct {
	appliedCredential // the one that may be outdated
	scrubber          // hides all that the request contains
}

// invalidate invalidates the access token and reports whether another one may
// succeed.
func (p appliedCredential) invalidate() bool { return p.reject != nil && p.reject() }

// authorize puts the credentials of the first complete alternative into the
// request.
func (o *operation) authorize(ctx context.Context, c *tenon.Call, req *http.Request) (got sentCredentials, err error) {
	if o.api.options.Replayed {
		return got, nil
	}
	d := o.planned().requirement
	free := len(d) == 0
	if p := o.planned(); document.SameOrigin(p.base, o.api.base) {
		got.addOperatorSecrets(o.api.options.Header, p.base.User)
	}
	var lacks []string
	for _, together := range d {
		if len(together) == 0 {
			free = true // no credential is required, but one that is configured may give access to more
			continue
		}
		proofs, why, err := o.credentials(ctx, c, together)
		if err != nil {
			return sentCredentials{}, err
		}
		if why != "" {
			lacks = append(lacks, why)
			continue
		}
		for i, s := range together {
			s.apply(req, proofs[i].text)
			if proofs[i].reject != nil {
				got.appliedCredential = proofs[i]
			}
			got.addCredential(s.scheme, proofs[i].text)
		}
		return got, nil
	}
	if free {
		return got, nil
	}
	return sentCredentials{}, o.missingCredential(lacks)
}

// credentials gets those of one alternative. why names what is missing.
func (o *operation) credentials(ctx context.Context, c *tenon.Call, together []requiredScheme) (proofs []appliedCredential, why string, err error) {
	for _, d := range together {
		p, why, err := o.credential(ctx, c, d)
		if why != "" || err != nil {
			return nil, why, err
		}
		proofs = append(proofs, p)
	}
	return proofs, "", nil
}

func (o *operation) credential(ctx context.Context, c *tenon.Call, d requiredScheme) (got appliedCredential, why string, err error) {
	p, s := o.planned(), d.scheme
	from, elsewhere := s.credentialFor(p.base)
	switch {
	case from != nil && from.None, from == nil && p.sentByOperator(o, s), s.tls && o.hasClientCert():
		return appliedCredential{}, "", nil
	case !s.supported && !s.tls:
		return appliedCredential{}, s.String() + " is not supported; --auth " + s.name + "=none sends the call without a credential", nil
	case from == nil && elsewhere != "":
		return appliedCredential{}, s.String() + " is given for " + elsewhere + " only, and this operation is on another server", nil
	case from == nil:
		return appliedCredential{}, s.String() + " is not configured: " + s.flag(p), nil
	}
	if why := p.changedDestination(o, s, from); why != "" {
		return appliedCredential{}, s.String() + " is not sent: " + why + "; the operator can allow it with --auth-origin", nil
	}
	if from.User {
		got, err = o.userCredential(ctx, c, s)
	} else {
		got, why, err = from.get(ctx, c, d.scopes)
	}
	if err == nil && s.place == encode.InCookie && strings.ContainsAny(got.text, "; ,\"\\") {
		err = errors.New("it contains a character that is not allowed in a cookie")
	}
	switch {
	case err != nil && from.User:
		return appliedCredential{}, "", err // it is for the caller, or asks one
	case err != nil:
		return appliedCredential{}, "", notObtained(s, err)
	case why != "":
		return appliedCredential{}, s.String() + " is missing: " + why, nil
	}
	got.text = s.text(got.text, from.Caller != "")
	return got, "", nil
}

// flag returns the flag with which the operator sets the credential of a
// scheme.
func (s *scheme) flag(p *plan) string {
	switch {
	case s.tls && p.base != nil:
		return "--client-cert " + p.base.Scheme + "://" + p.base.Host + "=FILE"
	case s.kind == "oauth2" || s.kind == "openIdConnect":
		return "--auth " + s.name + "=oauth2:env:NAME (or oauth2:file:PATH for a client, or a token by env:, file:, command:, caller:HEADER)"
	}
	return "--auth " + s.name + "=env:NAME (or file:PATH, command:CMD, caller:HEADER)"
}

// missingCredential returns the error that lists what each alternative lacks.
func (o *operation) missingCredential(lacks []string) error {
	const shown = 4
	return &tenon.Error{
		Code: tenon.CodeAuthentication,
		Message: "not sent: " + o.method + " " + o.path + " needs a credential: " +
			strings.Join(lacks[:min(len(lacks), shown)], "; or "),
	}
}

// sentByOperator reports whether the operator's headers, or the user info of the
// base URL, already contain that credential.
func (p *plan) sentByOperator(o *operation, s *scheme) bool {
	if !document.SameOrigin(p.base, o.api.base) {
		return false
	}
	if s.place == encode.InHeader && s.wire == "Authorization" && p.base.User != nil {
		return true
	}
	switch h := o.api.options.Header; s.place {
	case encode.InHeader:
		return len(h[s.wire]) > 0
	case encode.InCookie:
		sent, err := http.ParseCookie(strings.Join(h["Cookie"], "; "))
		if err != nil {
			return false
		}
		for _, cookie := range sent {
			if cookie.Name == s.wire {
				return true
			}
		}
	default:
	}
	return false
}

// apply writes the credential into its header, cookie or query parameter. In a
// header it replaces the existing value.
func (s *scheme) apply(req *http.Request, text string) {
	if text == "" {
		return
	}
	switch s.place {
	case encode.InHeader:
		req.Header[s.wire] = []string{text}
	case encode.InCookie:
		line := append(req.Header["Cookie"], s.wire+"="+text)
		req.Header["Cookie"] = []string{strings.Join(line, "; ")}
	case encode.InQuery:
		pair := encode.EscapeAll.Text(s.wire) + "=" + encode.EscapeAll.Text(text)
		if req.URL.RawQuery != "" {
			pair = "&" + pair
		}
		req.URL.RawQuery += pair
	default:
	}
}

// isOrigin reports whether u has the given origin; default ports may be
// omitted.
func isOrigin(to, u *url.URL) bool {
	return u != nil && to.Scheme == u.Scheme && strings.EqualFold(to.Hostname(), u.Hostname()) && portOf(to) == portOf(u)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}
