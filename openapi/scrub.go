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
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// Rule of this file: a credential that an upstream echoes in a header or an
// error body is not passed on. The body of a success is data and is not
// changed.

// minSecret is the minimum length of a secret that is searched for within other
// text. A shorter one is hidden only if it is the whole value.
const minSecret = 4

// scrubber hides secrets in responses.
type scrubber struct {
	secrets []string
	encoded []string // encodings of the secrets, the longest first; nil: not computed yet
}

// addCredential adds a secret from a request, without its authentication scheme.
func (s *scrubber) addCredential(sc *scheme, text string) {
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

// addOperatorSecrets adds the secrets that the operator sends: headers with names of
// credentials, and the user info of the base URL.
func (s *scrubber) addOperatorSecrets(h http.Header, user *url.Userinfo) {
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

// encodings returns the encodings in which the secrets are recognized.
func (s *scrubber) encodings() []string {
	if s.encoded != nil {
		return s.encoded
	}
	for _, secret := range s.secrets {
		if len(secret) < minSecret {
			continue
		}
		quoted := rawjson.AppendString(nil, secret)
		inJSON := string(quoted[1 : len(quoted)-1])
		careful, _ := json.Marshal(secret) // with the escapes of &, < and > that Go and others write
		s.encoded = append(s.encoded, secret, inJSON, string(careful[1:len(careful)-1]), strings.ReplaceAll(inJSON, "/", `\/`), html.EscapeString(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))
		for _, e := range []string{encode.EscapeAll.Text(secret), encode.EscapeReserved.Text(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
			s.encoded = append(s.encoded, e, percent.ReplaceAllStringFunc(e, strings.ToLower))
		}
	}
	slices.SortFunc(s.encoded, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	s.encoded = slices.Compact(s.encoded)
	return s.encoded
}

var percent = regexp.MustCompile("%[0-9A-F]{2}")

// headers removes the secrets from headers. The map must not be shared; its
// values may be.
func (s *scrubber) headers(h http.Header) {
	if len(s.secrets) == 0 {
		return
	}
	for name, values := range h {
		copied := false
		for i, v := range values {
			clean := s.text(v)
			if slices.Contains(s.secrets, v) {
				clean = secretPlaceholder
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
	for _, form := range s.encodings() {
		if strings.Contains(v, form) {
			v = strings.ReplaceAll(v, form, secretPlaceholder)
		}
	}
	return v
}

// body removes the secrets from the body of an error.
func (s *scrubber) body(status int, b []byte) []byte {
	if len(s.secrets) == 0 || status/100 == 2 || len(b) == 0 {
		return b
	}
	for _, form := range s.encodings() {
		if bytes.Contains(b, []byte(form)) {
			b = bytes.ReplaceAll(b, []byte(form), []byte(secretPlaceholder))
		}
	}
	return b
}
