package openapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// The rules of this file: a request leaves with the credentials that its
// operation asks for, or not at all; with those of one alternative and no
// others; and to the one place that they are for. What a redirect must not
// carry along is the business of the client.

// proof is a credential as a request holds it.
type proof struct {
	text   string         // empty: none of ours is needed
	token  string         // the access token in it that is kept for other calls, too
	tokens *egress.Tokens // who keeps it; nil: it is no such token
}

// carried is what must be known of the credentials of a request later on.
type carried struct {
	proof    // the one that may be outdated
	scrubber // of all that the request holds
}

// refused tells whether another access token may do where this one did not.
func (p proof) refused() bool { return p.tokens != nil && p.tokens.Refused(p.token) }

// authorize puts the credentials of the first alternative that is complete
// into the request.
func (o *operation) authorize(ctx context.Context, c *tenon.Call, req *http.Request) (got carried, err error) {
	d := o.planned().demand
	free := len(d) == 0
	if p := o.planned(); sameOrigin(p.base, o.api.base) {
		got.hideOperators(o.api.options.Header, p.base.User)
	}
	var lacks []string
	for _, together := range d {
		if len(together) == 0 {
			free = true // but a credential that is there gets better answers
			continue
		}
		proofs, why, err := o.credentials(ctx, c, together)
		if err != nil {
			return carried{}, err
		}
		if why != "" {
			lacks = append(lacks, why)
			continue
		}
		for i, s := range together {
			s.put(req, proofs[i].text)
			if proofs[i].tokens != nil {
				got.proof = proofs[i]
			}
			got.hide(s.scheme, proofs[i].text)
		}
		return got, nil
	}
	if free {
		return got, nil
	}
	return carried{}, o.missing(lacks)
}

// credentials gets those of one alternative. why says what is missing.
func (o *operation) credentials(ctx context.Context, c *tenon.Call, together []demanded) (proofs []proof, why string, err error) {
	for _, d := range together {
		p, why, err := o.credential(ctx, c, d)
		if why != "" || err != nil {
			return nil, why, err
		}
		proofs = append(proofs, p)
	}
	return proofs, "", nil
}

func (o *operation) credential(ctx context.Context, c *tenon.Call, d demanded) (got proof, why string, err error) {
	p, s := o.planned(), d.scheme
	from, elsewhere := s.at(p.base)
	switch {
	case from != nil && from.None, from == nil && p.operatorSends(o, s), s.tls && o.certified():
		return proof{}, "", nil
	case !s.spoken && !s.tls:
		return proof{}, s.String() + " is not spoken here; --auth " + s.name + "=none sends the call without", nil
	case from == nil && elsewhere != "":
		return proof{}, s.String() + " is given for " + elsewhere + " alone, and this operation's server is another", nil
	case from == nil:
		return proof{}, s.String() + " is not given: " + s.flag(p), nil
	}
	if why := p.astray(o, s, from); why != "" {
		return proof{}, s.String() + " is not sent: " + why + "; if that is meant, the operator accepts it with --auth-origin", nil
	}
	got, why, err = from.value(ctx, c, d.scopes)
	if err == nil && s.place == inCookie && strings.ContainsAny(got.text, "; ,\"\\") {
		err = errors.New("it holds what a cookie cannot")
	}
	switch {
	case err != nil:
		return proof{}, "", &tenon.Error{
			Code: tenon.CodeAuthentication, Err: err,
			Message: "the credential of " + s.String() + " cannot be had; the operator finds the reason in the log",
		}
	case why != "":
		return proof{}, s.String() + " is missing: " + why, nil
	}
	got.text = s.text(got.text, from.Caller != "")
	return got, "", nil
}

// flag says how the operator gives the credential of a scheme.
func (s *scheme) flag(p *plan) string {
	switch {
	case s.tls && p.base != nil:
		return "--client-cert " + p.base.Scheme + "://" + p.base.Host + "=FILE"
	case s.about == "oauth2" || s.about == "openIdConnect":
		return "--auth " + s.name + "=oauth2:env:NAME (or oauth2:file:PATH for a client, or a token by env:, file:, command:, caller:HEADER)"
	}
	return "--auth " + s.name + "=env:NAME (or file:PATH, command:CMD, caller:HEADER)"
}

// missing refuses the call with what each alternative lacks.
func (o *operation) missing(lacks []string) error {
	const shown = 4
	return &tenon.Error{
		Code: tenon.CodeAuthentication,
		Message: "nothing was sent, because " + o.method + " " + o.path + " needs a credential: " +
			strings.Join(lacks[:min(len(lacks), shown)], "; or "),
	}
}

// operatorSends tells whether the operator's fixed headers, or the user of the
// base URL, are that credential.
func (p *plan) operatorSends(o *operation, s *scheme) bool {
	if !sameOrigin(p.base, o.api.base) {
		return false
	}
	if s.place == inHeader && s.wire == "Authorization" && p.base.User != nil {
		return true
	}
	switch h := o.api.options.Header; s.place {
	case inHeader:
		return len(h[s.wire]) > 0
	case inCookie:
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

// put writes the credential to its place. In a header it replaces what is
// there.
func (s *scheme) put(req *http.Request, text string) {
	if text == "" {
		return
	}
	switch s.place {
	case inHeader:
		req.Header[s.wire] = []string{text}
	case inCookie:
		line := append(req.Header["Cookie"], s.wire+"="+text)
		req.Header["Cookie"] = []string{strings.Join(line, "; ")}
	case inQuery:
		pair := escapeAll.text(s.wire) + "=" + escapeAll.text(text)
		if req.URL.RawQuery != "" {
			pair = "&" + pair
		}
		req.URL.RawQuery += pair
	default:
	}
}

// isOrigin tells whether u is at the origin, with the usual ports left out or
// not.
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
