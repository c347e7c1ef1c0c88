package openapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// The rules of this file: a request leaves with the credentials that its
// operation asks for, or not at all; with those of one alternative and no
// others; and to the one place that they are for. What a redirect must not
// carry along is the business of the client.

// authorize puts the credentials of the first alternative that is complete
// into the request.
func (o *operation) authorize(ctx context.Context, c *tenon.Call, req *http.Request) error {
	d := o.planned().demand
	free := len(d) == 0
	var lacks []string
	for _, together := range d {
		if len(together) == 0 {
			free = true // but a credential that is there gets better answers
			continue
		}
		given, why, err := o.credentials(ctx, c, together)
		if err != nil {
			return err
		}
		if why == "" {
			for i, s := range together {
				s.put(req, given[i])
			}
			return nil
		}
		lacks = append(lacks, why)
	}
	if free {
		return nil
	}
	return o.missing(lacks)
}

// credentials gets those of one alternative, as the request holds them; empty
// where a scheme needs none of ours. why says what is missing.
func (o *operation) credentials(ctx context.Context, c *tenon.Call, together []*scheme) (given []string, why string, err error) {
	for _, s := range together {
		text, why, err := o.credential(ctx, c, s)
		if why != "" || err != nil {
			return nil, why, err
		}
		given = append(given, text)
	}
	return given, "", nil
}

func (o *operation) credential(ctx context.Context, c *tenon.Call, s *scheme) (text, why string, err error) {
	p := o.planned()
	from, given := o.api.options.Credentials[s.name]
	switch {
	case from.None, !given && p.operatorSends(o, s):
		return "", "", nil
	case !given && s.spoken:
		return "", s.String() + " is not given: --auth " + s.name + "=env:NAME (or file:PATH, command:CMD, caller:HEADER)", nil
	case !s.spoken:
		return "", s.String() + " is not spoken here; --auth " + s.name + "=none sends the call without", nil
	case from.Origin != "" && !isOrigin(from.Origin, p.base):
		return "", s.String() + " is given for " + from.Origin + " alone, and this operation's server is another", nil
	}
	value, why, err := from.value(ctx, c)
	if err == nil && s.place == inCookie && strings.ContainsAny(value, "; ,\"\\") {
		err = errors.New("it holds what a cookie cannot")
	}
	switch {
	case err != nil:
		return "", "", &tenon.Error{
			Code: tenon.CodeAuthentication, Err: err,
			Message: "the credential of " + s.String() + " cannot be had; the operator finds the reason in the log",
		}
	case why != "":
		return "", s.String() + " is missing: " + why, nil
	}
	return s.text(value, from.Caller != ""), "", nil
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
func isOrigin(text string, u *url.URL) bool {
	to, err := url.Parse(text)
	return err == nil && u != nil && to.Scheme == u.Scheme && strings.EqualFold(to.Hostname(), u.Hostname()) && portOf(to) == portOf(u)
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
