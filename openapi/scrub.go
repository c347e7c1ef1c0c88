package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The rule of this file: a credential that an upstream sends back, in a header or
// in what it says about an error, is not handed on. Data is: what a success holds
// is the service's affair.

// shortest is the length from which a secret is looked for inside other text. A
// shorter one is hidden where it is the whole value.
const shortest = 4

// scrubber hides secrets.
type scrubber struct {
	secrets []string
	forms   []string // what they may look like, the longest first; nil: not made yet
}

// hide adds a secret as a request holds it, without its authentication scheme.
func (s *scrubber) hide(sc *scheme, text string) {
	text = strings.TrimPrefix(text, sc.prefix)
	s.add(text)
	if sc.prefix == "Basic " {
		s.addBasic(text)
	}
}

func (s *scrubber) addBasic(encoded string) {
	pair, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return
	}
	_, password, _ := strings.Cut(string(pair), ":")
	s.add(string(pair))
	s.add(password)
}

func (s *scrubber) add(text string) {
	if text != "" {
		s.secrets = append(s.secrets, text)
	}
}

// hideOperators adds what the operator sends along: headers whose names are those
// of secrets, and the user of the base URL.
func (s *scrubber) hideOperators(h http.Header, user *url.Userinfo) {
	for name, values := range h {
		if !isSecretHeader(name) {
			continue
		}
		for _, v := range values {
			kind, token, found := strings.Cut(v, " ")
			switch {
			case name == "Cookie":
				for pair := range strings.SplitSeq(v, ";") {
					_, value, _ := strings.Cut(pair, "=")
					s.add(strings.TrimSpace(value))
				}
			case found && strings.EqualFold(kind, "Basic"):
				s.add(token)
				s.addBasic(token)
			case found:
				s.add(token)
			}
			s.add(v)
		}
	}
	if password, set := user.Password(); set {
		s.add(password)
		s.add(base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password)))
	}
}

// looks are the forms in which the secrets are plain to see.
func (s *scrubber) looks() []string {
	if s.forms != nil {
		return s.forms
	}
	for _, secret := range s.secrets {
		if len(secret) < shortest {
			continue
		}
		quoted := rawjson.AppendString(nil, secret)
		inJSON := string(quoted[1 : len(quoted)-1])
		careful, _ := json.Marshal(secret) // with the escapes of &, < and > that Go and others write
		s.forms = append(s.forms, secret, inJSON, string(careful[1:len(careful)-1]), strings.ReplaceAll(inJSON, "/", `\/`), html.EscapeString(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))
		for _, e := range []string{escapeAll.text(secret), escapeReserved.text(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
			s.forms = append(s.forms, e, percent.ReplaceAllStringFunc(e, strings.ToLower))
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	s.forms = slices.Compact(s.forms)
	return s.forms
}

var percent = regexp.MustCompile("%[0-9A-F]{2}")

// headers takes the secrets out of headers. The map may be shared with nobody,
// its lists may be.
func (s *scrubber) headers(h http.Header) {
	if len(s.secrets) == 0 {
		return
	}
	for name, values := range h {
		copied := false
		for i, v := range values {
			clean := s.text(v)
			if slices.Contains(s.secrets, v) {
				clean = hidden
			}
			if clean == v {
				continue
			}
			if !copied {
				values, copied = slices.Clone(values), true
				h[name] = values
			}
			values[i] = clean
		}
	}
}

func (s *scrubber) text(v string) string {
	for _, form := range s.looks() {
		if strings.Contains(v, form) {
			v = strings.ReplaceAll(v, form, hidden)
		}
	}
	return v
}

// body takes the secrets out of what an upstream says of an error.
func (s *scrubber) body(status int, b []byte) []byte {
	if len(s.secrets) == 0 || status/100 == 2 || len(b) == 0 {
		return b
	}
	for _, form := range s.looks() {
		if bytes.Contains(b, []byte(form)) {
			b = bytes.ReplaceAll(b, []byte(form), []byte(hidden))
		}
	}
	return b
}
