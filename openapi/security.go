package openapi

import (
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// scheme is a security scheme: what a document calls one kind of credential
// and its place in a request.
type scheme struct {
	name   string
	about  string   // its kind, for people
	place  location // inHeader, inQuery or inCookie; what spoken says otherwise has none
	wire   string   // canonical name of the header, or the name of the parameter
	prefix string   // of the header's value: the authentication scheme of HTTP and a space
	spoken bool     // its credential can be put into a request
	tls    bool     // it is a client certificate
	node   value
	given  []given // what the operator gave for it
}

// demand is what an operation asks for: one of its alternatives, each of which
// is schemes that go together. An alternative without schemes is met by
// nothing.
type demand [][]demanded

// demanded is a scheme in a demand.
type demanded struct {
	*scheme
	scopes []string // of an access token
}

// maxAlternatives bounds what is read of one requirement. The longest public
// one has 13.
const maxAlternatives = 64

// readSchemes reads the document's security schemes.
func (a *api) readSchemes() map[string]*scheme {
	all := a.doc.root.get("components").get("securitySchemes")
	if a.legacy() {
		all = a.doc.root.get("securityDefinitions")
	}
	found := make(map[string]*scheme, all.len())
	for name, v := range all.each() {
		node, err := a.doc.deref(v)
		if err != nil {
			a.doc.note(v, "security scheme "+name+" cannot be read: "+err.Error())
		}
		found[name] = newScheme(name, node)
	}
	return found
}

func newScheme(name string, node value) *scheme {
	s := &scheme{name: name, about: node.strAt("type"), node: node}
	switch s.about {
	case "apiKey":
		s.key(node.strAt("in"), node.strAt("name"))
	case "basic": // 2.0
		s.authorization("Basic ")
		s.about = "http basic"
	case "http":
		s.http(node.strAt("scheme"))
	case "oauth2", "openIdConnect":
		s.authorization("Bearer ")
	case "mutualTLS":
		s.tls = true
	case "":
		s.about = "not described"
	}
	return s
}

// key reads an API key, which the specification puts into a header, the query
// or a cookie.
func (s *scheme) key(in, name string) {
	s.about = "apiKey in " + in + " " + name
	s.wire = name
	switch in {
	case "header":
		s.place, s.wire, s.spoken = inHeader, http.CanonicalHeaderKey(name), isToken(name)
	case "query":
		s.place, s.spoken = inQuery, name != ""
	case "cookie":
		s.place, s.spoken = inCookie, isToken(name)
	}
}

// http reads an authentication scheme of HTTP. Of the many, those are spoken
// that send a secret as it is; the others answer a challenge or sign.
func (s *scheme) http(name string) {
	s.about = "http " + name
	switch strings.ToLower(name) {
	case "basic":
		s.authorization("Basic ")
	case "bearer":
		s.authorization("Bearer ")
	}
}

func (s *scheme) authorization(prefix string) {
	s.place, s.wire, s.prefix, s.spoken = inHeader, "Authorization", prefix, true
}

// String names the scheme and its kind, for a message.
func (s *scheme) String() string { return s.name + " (" + s.about + ")" }

// demand reads what the operation asks for: its own requirement or else the
// document's. An empty list is a requirement, too: nothing is sent.
func (o *operation) demand(p *plan) demand {
	list := o.node.get("security")
	if list.kind() != rawjson.Array {
		list = o.api.doc.root.get("security")
	}
	var d demand
	for _, v := range list.each() {
		if len(d) == maxAlternatives {
			p.fault(o, v, "of the security requirements only the first 64 are read")
			break
		}
		d = append(d, o.alternative(p, v))
	}
	return d
}

func (o *operation) alternative(p *plan, v value) []demanded {
	together := make([]demanded, 0, v.len())
	for name, at := range v.each() {
		s := o.api.schemes[name]
		if s == nil {
			p.fault(o, at, "security scheme "+name+" is not described")
			s = &scheme{name: name, about: "not described"}
		}
		d := demanded{scheme: s}
		for _, scope := range at.each() {
			d.scopes = append(d.scopes, scope.str())
		}
		together = append(together, d)
	}
	return together
}

// asksFor tells whether a parameter is one of the demanded credentials: then
// it is the operator's and no argument.
func (p *plan) asksFor(in location, name string) bool {
	for _, together := range p.demand {
		for _, s := range together {
			same := sameSpelling(s.wire, name)
			if in == inHeader {
				same = sameHeader(s.wire, name)
			}
			from, _ := s.at(p.base)
			if s.spoken && s.place == in && same && (from == nil || !from.None) {
				return true
			}
		}
	}
	return false
}
