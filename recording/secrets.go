package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/redact"
)

// Rule of this file: what was sent as a credential is known as a secret from then
// on. It is replaced wherever it can be replaced, and what still has it in any
// encoding is not written at all.

const (
	minSecret  = 4    // bytes; a shorter value cannot be told from data
	minLearnt  = 8    // bytes of a value that is only seen in a header: shorter ones are words, such as theme=dark
	minEncoded = 6    // bytes of a secret that is looked for in base64 and hex
	maxEscapes = 4    // levels of escapes within each other that are looked into, and none
	maxSecrets = 4096 // known at a time; more end the recording
)

// ErrSecret is the reason why an exchange was not recorded: it has a secret in a
// form that cannot be replaced.
var ErrSecret = errors.New("it has a secret in an encoding that cannot be replaced")

var errSecrets = errors.New("more secrets were sent than are looked for")

// placeholder is written in place of a secret value.
const placeholder = "redacted"

// secrets are the values that are not written.
type secrets struct {
	mu    sync.RWMutex
	names map[string]string // values and what is written instead
	order []string          // the longest first, as one can be part of another
	forms map[string][][]byte
	full  bool
}

func (s *secrets) add(value, instead string) {
	if value == "" || value == placeholder {
		return
	}
	s.mu.RLock()
	_, known := s.names[value]
	s.mu.RUnlock()
	if known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.names[value]; known {
		return
	}
	if len(s.names) >= maxSecrets {
		s.full = true
		return
	}
	if s.names == nil {
		s.names, s.forms = map[string]string{}, map[string][][]byte{}
	}
	s.names[value], s.forms[value] = instead, encodings(value)
	i, _ := slices.BinarySearchFunc(s.order, len(value), func(e string, n int) int { return n - len(e) })
	s.order = slices.Insert(s.order, i, value)
}

// learn adds what the headers of a request have as credentials.
func (s *secrets) learn(h http.Header) {
	for name, values := range h {
		if !isCredentialHeader(name) {
			continue
		}
		for _, v := range values {
			s.learnValue(name, v)
		}
	}
}

func (s *secrets) learnValue(name, v string) {
	add := func(value string) {
		if len(value) >= minLearnt {
			s.add(value, placeholder)
		}
	}
	if name == "Cookie" {
		for pair := range strings.SplitSeq(v, ";") {
			_, value, _ := strings.Cut(pair, "=")
			add(strings.TrimSpace(value))
		}
	}
	add(v)
	scheme, token, found := strings.Cut(v, " ")
	if !found {
		return
	}
	add(token)
	if strings.EqualFold(scheme, "Basic") {
		if pair, err := base64.StdEncoding.DecodeString(token); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			add(string(pair))
			s.add(password, placeholder)
		}
	}
}

// replace replaces the secrets in a text.
func (s *secrets) replace(text []byte) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, value := range s.order {
		if len(value) >= minSecret {
			text = redact.For(value).Replace(text, s.names[value])
		}
	}
	return text
}

// instead is what is written for a text that is a secret as a whole, however
// short it is.
func (s *secrets) instead(text string) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	name, is := s.names[text]
	return name, is
}

// check reports ErrSecret for a text that still has one, however it is escaped.
func (s *secrets) check(text []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.full {
		return errSecrets
	}
	for range maxEscapes {
		for _, value := range s.order {
			for _, form := range s.forms[value] {
				if bytes.Contains(text, form) {
					return ErrSecret
				}
			}
		}
		plain := unescape(text)
		if plain == nil {
			break
		}
		text = plain
	}
	return nil
}

// unescape takes one level of escapes away: of JSON, URLs, HTML and XML. nil: there
// is none.
func unescape(text []byte) []byte {
	if !bytes.ContainsAny(text, "\\%&") {
		return nil
	}
	plain := escape.ReplaceAllFunc(text, func(e []byte) []byte {
		switch {
		case e[0] == '%':
			b, _ := hex.DecodeString(string(e[1:]))
			return b
		case e[0] == '&':
			return []byte(html.UnescapeString(string(e)))
		case e[1] != 'u':
			return e[1:]
		}
		n, _ := strconv.ParseUint(string(e[2:]), 16, 16)
		return []byte(string(rune(n)))
	})
	if bytes.Equal(plain, text) {
		return nil
	}
	return plain
}

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[/"\\']|&#?[0-9A-Za-z]{1,8};`)

// checkPacked is check for what a body of gzip holds.
func (s *secrets) checkPacked(body []byte) error {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return nil
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil //nolint:nilerr // it is no gzip
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxRecorded+1))
	if len(plain) > maxRecorded {
		return errTooLarge
	}
	if err != nil {
		return nil //nolint:nilerr // damaged: what could be read was not more than damage
	}
	return s.check(plain)
}

// encodings are the texts that show a secret where nothing is escaped: itself, and
// what is always in its base64 and hex, wherever in the encoded bytes it begins. So
// the user and password of Basic are found, and what is within a larger encoded text.
func encodings(secret string) (all [][]byte) {
	if len(secret) >= minSecret {
		all = append(all, []byte(secret))
		if plus := strings.ReplaceAll(secret, " ", "+"); plus != secret { // in a query
			all = append(all, []byte(plus))
		}
	}
	if len(secret) < minEncoded {
		return all
	}
	for shift := range 3 {
		padded := append(make([]byte, shift), secret...)
		first := (shift*8 + 5) / 6  // characters before it have bits of what precedes the secret
		last := len(padded) * 8 / 6 // and this one and the next of what follows
		inStd := base64.RawStdEncoding.EncodeToString(padded)[first:last]
		all = append(all, []byte(inStd))
		if inURL := base64.RawURLEncoding.EncodeToString(padded)[first:last]; inURL != inStd {
			all = append(all, []byte(inURL))
		}
	}
	inHex := hex.EncodeToString([]byte(secret))
	return append(all, []byte(inHex), []byte(strings.ToUpper(inHex)))
}
