package auth

import (
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// signText signs a payload that need not be JSON as a library writes it.
func signText(t *testing.T, header map[string]any, payload string) string {
	t.Helper()
	o := &jose.SignerOptions{}
	for name, value := range header {
		o.WithHeader(jose.HeaderKey(name), value)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: keyPair("one")}, o)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Claims that the issuer signed and that two readers would read in two ways are
// refused, as are numbers that no clock has and tokens in tokens.
func TestAmbiguousClaimsAreRefused(t *testing.T) {
	const rest = `"iss":"` + testIssuer + `","aud":"` + testResource + `","sub":"ann"`
	a := newFakeIssuer().authenticator(t)
	kid := map[string]any{"kid": "one"}
	allowed(t, a, ask(signText(t, kid, `{`+rest+`,"exp":4e9}`)))
	nested := signText(t, kid, `{`+rest+`,"exp":4e9}`)
	for _, tt := range []struct{ name, payload, want string }{
		{"two audiences, the last one ours", `{"aud":"https://other.example",` + rest + `,"exp":4e9}`, "malformed"},
		{"two audiences, the first one ours", `{` + rest + `,"aud":"https://other.example","exp":4e9}`, "malformed"},
		{"two subjects", `{` + rest + `,"sub":"root","exp":4e9}`, "malformed"},
		{"two expiries", `{` + rest + `,"exp":1,"exp":4e9}`, "malformed"},
		{"an expiry in an escape", `{` + rest + `,"exp":1,"\u0065xp":4e9}`, "malformed"},
		{"an expiry that no float holds", `{` + rest + `,"exp":1e400}`, "malformed"},
		{"an expiry of a thousand digits", `{` + rest + `,"exp":` + strings.Repeat("9", 1000) + `}`, "malformed"},
		{"an expiry that is no number", `{` + rest + `,"exp":NaN}`, "malformed"},
		{"a list of claims", `[{` + rest + `,"exp":4e9}]`, "malformed"},
		{"a second object behind", `{` + rest + `,"exp":4e9}{"sub":"root"}`, "malformed"},
		{"a token in a token", nested, "malformed"},
		{"no claims", ``, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, a, ask(signText(t, kid, tt.payload)), 401, InvalidToken, tt.want)
		})
	}
	for name, header := range map[string]string{
		"two algorithms":   `{"alg":"RS256","alg":"none","kid":"one"}`,
		"two kids":         `{"alg":"RS256","kid":"one","kid":"two"}`,
		"an encrypted one": `{"alg":"RSA-OAEP","enc":"A256GCM","kid":"one"}`,
	} {
		t.Run(name, func(t *testing.T) {
			parts := strings.Split(nested, ".")
			refused(t, a, ask(b64(header)+"."+parts[1]+"."+parts[2]), 401, InvalidToken, "")
		})
	}
}

// Headers that name a key elsewhere make the server ask nobody but its issuer, and a
// kid of any form is compared and never used as a path.
func TestHeadersOfTokensLeadNowhere(t *testing.T) {
	f := newFakeIssuer()
	a := f.authenticator(t)
	allowed(t, a, ask(token("one", nil)))
	before := f.count("/jwks")
	for _, header := range []map[string]any{
		{"kid": "one", "jku": testIssuer + "/evil"}, {"kid": "one", "x5u": testIssuer + "/evil"}, {"kid": "one", "x5c": []string{"AAAA"}},
	} {
		_, _ = a.Authenticate(ask(signText(t, header, `{}`)))
	}
	for _, kid := range []string{"../jwks", "/etc/passwd", "https://evil.example/jwks", "one\x00", "one' OR '1'='1", "One", strings.Repeat("k", 4000)} {
		refused(t, a, ask(signText(t, map[string]any{"kid": kid}, `{}`)), 401, InvalidToken, "")
	}
	if after := f.count("/jwks"); after > before+1 { // once more, for a kid that may be new
		t.Errorf("the keys were asked for %d times", after-before)
	}
	if n := f.count("/evil") + f.count("/tenant/evil"); n > 0 {
		t.Errorf("%d requests went where a header says", n)
	}
}
