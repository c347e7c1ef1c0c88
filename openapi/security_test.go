package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// secured is a document with a scheme of each kind. The operation's own
// members are put in.
func secured(op string) string {
	return `{"openapi":"3.1.0","servers":[{"url":"https://api.test"}],"security":[{"key":[]}],
		"components":{"securitySchemes":{
			"key":{"type":"apiKey","in":"header","name":"x-api-key"},
			"query":{"type":"apiKey","in":"query","name":"api key"},
			"cookie":{"type":"apiKey","in":"cookie","name":"sid"},
			"basic":{"type":"http","scheme":"Basic"},
			"bearer":{"$ref":"#/components/securitySchemes/token"},
			"token":{"type":"http","scheme":"bearer"},
			"digest":{"type":"http","scheme":"digest"},
			"oauth":{"type":"oauth2","flows":{}},
			"oidc":{"type":"openIdConnect","openIdConnectUrl":"https://id.test"},
			"tls":{"type":"mutualTLS"}}},
		"paths":{"/a":{"get":{` + op + `}}}}`
}

// leaving is what leaves for a call: the credential lines of the request.
func leaving(t *testing.T, doc string, o openapi.Options, c *tenon.Call) (string, error) {
	t.Helper()
	got := "nothing"
	o.Client = &http.Client{Transport: tripper(func(r *http.Request) {
		got = r.URL.RequestURI()
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			if v, ok := r.Header[name]; ok {
				got += " " + name + ": " + strings.Join(v, " | ")
			}
		}
	})}
	_, err := load(t, doc, o).Tools[0].Handler(t.Context(), c)
	return got, err
}

func value(v openapi.Secret) openapi.Credential { return openapi.Credential{Value: v} }

func TestCredentialsOnTheWire(t *testing.T) {
	all := map[string]openapi.Credential{
		"key": value("k"), "query": value("a&b c"), "cookie": value("c1"), "basic": value("user:pass word"),
		"bearer": value("t.1"), "oauth": value("o1"), "oidc": value("i1"),
	}
	for _, c := range []struct{ name, op, want string }{
		{"the document's requirement", ``, "/a X-Api-Key: k"},
		{"the operation's own instead", `"security":[{"bearer":[]}]`, "/a Authorization: Bearer t.1"},
		{"an empty list sends none", `"security":[]`, "/a"},
		{"query", `"security":[{"query":[]}]`, "/a?api%20key=a%26b%20c"},
		{"cookie", `"security":[{"cookie":[]}]`, "/a Cookie: sid=c1"},
		{"basic", `"security":[{"basic":[]}]`, "/a Authorization: Basic dXNlcjpwYXNzIHdvcmQ="},
		{"oauth2", `"security":[{"oauth":["read"]}]`, "/a Authorization: Bearer o1"},
		{"OpenID", `"security":[{"oidc":[]}]`, "/a Authorization: Bearer i1"},
		{"all of one alternative", `"security":[{"key":[],"query":[],"cookie":[],"bearer":[]}]`, "/a?api%20key=a%26b%20c Authorization: Bearer t.1 Cookie: sid=c1 X-Api-Key: k"},
		{"one alternative only", `"security":[{"bearer":[]},{"key":[]}]`, "/a Authorization: Bearer t.1"},
		{"the next alternative where one is not complete", `"security":[{"key":[],"tls":[]},{"cookie":[]}]`, "/a Cookie: sid=c1"},
		{"a credential rather than none", `"security":[{},{"key":[]}]`, "/a X-Api-Key: k"},
		{"none where that is allowed", `"security":[{"digest":[]},{}]`, "/a"},
		{"beside other parameters", `"security":[{"query":[],"cookie":[]}],"parameters":[{"name":"q","in":"query","schema":{"default":1}},{"name":"c","in":"cookie","schema":{}}]`, "/a?q=1&api%20key=a%26b%20c Cookie: c=2; sid=c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := leaving(t, secured(c.op), openapi.Options{Credentials: all}, &tenon.Call{Args: []byte(`{"q":1,"c":2}`)})
			if got != c.want || err != nil {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestSchemesOf20(t *testing.T) {
	doc := `{"swagger":"2.0","host":"api.test","security":[{"b":[]},{"k":[]}],"securityDefinitions":{"b":{"type":"basic"},"k":{"type":"apiKey","in":"query","name":"k"},"o":{"type":"oauth2"}},
		"paths":{"/a":{"get":{"parameters":[{"name":"k","in":"query","type":"string","required":true}]}}}}`
	for want, credentials := range map[string]map[string]openapi.Credential{
		"/a Authorization: Basic dTpw": {"b": value("u:p")},
		"/a?k=s":                       {"k": value("s")},
	} {
		if got, err := leaving(t, doc, openapi.Options{Credentials: credentials}, &tenon.Call{}); got != want || err != nil {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func TestRequestsWithoutTheirCredentialAreNotSent(t *testing.T) {
	failing := openapi.Credential{Fetch: func(context.Context) (string, error) { return "", errors.New("no") }}
	for _, c := range []struct {
		name, op    string
		credentials map[string]openapi.Credential
		want        string
	}{
		{"none given", ``, nil, "not sent: GET /a needs a credential: key (apiKey in header x-api-key) is not configured: --auth key=env:NAME (or file:PATH, command:CMD, caller:HEADER)"},
		{"one of two", `"security":[{"key":[],"bearer":[]}]`, map[string]openapi.Credential{"key": value("s3cret")}, "bearer (http bearer) is not configured: --auth bearer=env:NAME"},
		{"a kind that is not spoken", `"security":[{"digest":[]}]`, map[string]openapi.Credential{"digest": value("s3cret")}, "digest (http digest) is not supported; --auth digest=none sends the call without a credential"},
		{"a scheme that is not declared", `"security":[{"gone":[]}]`, nil, "gone (not declared) is not supported"},
		{"each alternative", `"security":[{"key":[]},{"cookie":[]}]`, nil, "; or cookie (apiKey in cookie sid) is not configured"},
		{"another origin", ``, map[string]openapi.Credential{"key@https://other.test": value("s3cret")}, "is given for https://other.test only, and this operation is on another server"},
		{"the caller brings none", ``, map[string]openapi.Credential{"key": {Caller: "X-Key"}}, "is missing: the caller sent no header X-Key"},
		{"the file is gone", ``, map[string]openapi.Credential{"key": {File: "none"}}, "cannot obtain the credential of key (apiKey in header x-api-key); see the server log"},
		{"it cannot be fetched, and another is there", `"security":[{"key":[]},{"bearer":[]}]`, map[string]openapi.Credential{"key": failing, "bearer": value("s3cret")}, "cannot obtain the credential of key"},
		{"it would add a line", ``, map[string]openapi.Credential{"key": value("s3cret\r\nX-Admin: 1")}, "cannot obtain the credential of key"},
		{"it would add a cookie", `"security":[{"cookie":[]}]`, map[string]openapi.Credential{"cookie": value("s3cret; admin=1")}, "cannot obtain the credential of cookie"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := leaving(t, secured(c.op), openapi.Options{Credentials: c.credentials}, &tenon.Call{})
			if got != "nothing" || tenon.CodeOf(err) != tenon.CodeAuthentication {
				t.Fatalf("sent %s, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestWhereCredentialsComeFrom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"bearer  caller"}, "X-Token": {"raw"}}
	for _, c := range []struct {
		name, scheme string
		from         openapi.Credential
		want         string
	}{
		{"file", "key", openapi.Credential{File: file}, "/a X-Api-Key: from file"},
		{"program", "key", openapi.Credential{Fetch: func(context.Context) (string, error) { return "made\n", nil }}, "/a X-Api-Key: made"},
		{"caller's header", "bearer", openapi.Credential{Caller: "X-Token"}, "/a Authorization: Bearer raw"},
		{"caller's authorization", "bearer", openapi.Credential{Caller: "authorization"}, "/a Authorization: Bearer caller"},
		{"caller's authorization as a key", "key", openapi.Credential{Caller: "Authorization"}, "/a X-Api-Key: bearer  caller"},
		{"nowhere", "key", openapi.Credential{None: true}, "/a"},
		{"nowhere, for a kind that is not spoken", "tls", openapi.Credential{None: true}, "/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openapi.Options{Credentials: map[string]openapi.Credential{c.scheme: c.from}}
			got, err := leaving(t, secured(`"security":[{"`+c.scheme+`":[]}]`), o, &tenon.Call{Header: header})
			if got != c.want || err != nil {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// A credential that would write a second cookie, or end the first, is not sent.
func TestACookieHoldsOneCredential(t *testing.T) {
	for _, secret := range []openapi.Secret{"a; admin=1", "a b", "a,b", `a"b`, `a\b`} {
		got, err := leaving(t, secured(`"security":[{"cookie":[]}]`), openapi.Options{Credentials: map[string]openapi.Credential{"cookie": value(secret)}}, &tenon.Call{})
		if got != "nothing" || tenon.CodeOf(err) != tenon.CodeAuthentication || strings.Contains(err.Error(), string(secret)) {
			t.Errorf("%q: %s, %v", string(secret), got, err)
		}
	}
}

func TestCredentialsOfOneServer(t *testing.T) {
	for _, c := range []struct {
		name        string
		credentials map[string]openapi.Credential
		want        string
	}{
		{"this one", map[string]openapi.Credential{"key@https://API.test:443": value("k")}, "/a X-Api-Key: k"},
		{"before that of any", map[string]openapi.Credential{"key": value("any"), "key@https://api.test": value("k"), "key@https://z.test": value("z")}, "/a X-Api-Key: k"},
		{"that of any where others have their own", map[string]openapi.Credential{"key": value("any"), "key@https://z.test": value("z")}, "/a X-Api-Key: any"},
		{"another port", map[string]openapi.Credential{"key@https://api.test:8443": value("k")}, "nothing"},
		{"another scheme", map[string]openapi.Credential{"key@http://api.test": value("k")}, "nothing"},
		{"none for this one", map[string]openapi.Credential{"key": value("any"), "key@https://api.test": {None: true}}, "/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := leaving(t, secured(""), openapi.Options{Credentials: c.credentials}, &tenon.Call{}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheOperatorsHeadersAreCredentials(t *testing.T) {
	for _, c := range []struct {
		name, base, scheme string
		header             http.Header
		want               string
	}{
		{"authorization", "", "oauth", http.Header{"Authorization": {"Bearer x"}}, "/a Authorization: Bearer x"},
		{"key", "", "key", http.Header{"x-api-key": {"x"}}, "/a X-Api-Key: x"},
		{"cookie", "", "cookie", http.Header{"Cookie": {"a=1; sid=2"}}, "/a Cookie: a=1; sid=2"},
		{"another cookie", "", "cookie", http.Header{"Cookie": {"a=1"}}, "nothing"},
		{"another header", "", "key", http.Header{"Authorization": {"x"}}, "nothing"},
		{"user of the base URL", "https://u:p@api.test", "basic", nil, "/a Authorization: Basic dTpw"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := leaving(t, secured(`"security":[{"`+c.scheme+`":[]}]`), openapi.Options{Header: c.header, BaseURL: c.base}, &tenon.Call{})
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCredentialsAreNoArguments(t *testing.T) {
	op := `"security":[{"key":[]},{"query":[]}],"parameters":[
		{"name":"X-API-KEY","in":"header","required":true,"schema":{}},{"name":"api key","in":"query","schema":{}},
		{"name":"api key","in":"cookie","schema":{}},{"name":"sid","in":"cookie","schema":{}}]`
	for _, c := range []struct {
		name        string
		credentials map[string]openapi.Credential
		want        []string
	}{
		{"given", map[string]openapi.Credential{"key": value("k")}, []string{"api_key", "sid"}},
		{"not given", nil, []string{"api_key", "sid"}},
		{"declared to be none", map[string]openapi.Credential{"key": {None: true}}, []string{"X-API-KEY", "api_key", "sid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract, err := load(t, secured(op), openapi.Options{Credentials: c.credentials}).Tools[0].Contract.Contract()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range []string{"X-API-KEY", "query_api_key", "cookie_api_key", "api_key", "sid"} {
				if strings.Contains(string(contract.Input), `"`+name+`":`) {
					got = append(got, name)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s\n%s", d, contract.Input)
			}
		})
	}
}

func TestCredentialsThatAreInvalid(t *testing.T) {
	for _, c := range []struct {
		name string
		from map[string]openapi.Credential
		want string
	}{
		{"no such scheme", map[string]openapi.Credential{"kye": value("k")}, "--auth kye: the document has no such security scheme; it has basic, bearer, cookie, "},
		{"from nowhere", map[string]openapi.Credential{"key": {}}, "--auth key: set exactly one source"},
		{"from two places", map[string]openapi.Credential{"key": {Value: "s3cret", File: "x"}}, "--auth key: set exactly one source"},
		{"no header's name", map[string]openapi.Credential{"key": {Caller: "a b"}}, `"a b" is not a header name`},
		{"no origin", map[string]openapi.Credential{"key@http://api.test/x": value("s3cret")}, "not an origin"},
	} {
		_, err := openapi.Parse("d", []byte(secured("")), openapi.Options{Credentials: c.from})
		if tenon.CodeOf(err) != tenon.CodeUsage || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	o := openapi.Options{Credentials: map[string]openapi.Credential{"key": value("s3cret")}}
	var out strings.Builder
	slog.New(slog.NewJSONHandler(&out, nil)).Info("o", "value", o.Credentials["key"].Value)
	text, err := json.Marshal(map[string]any{"v": o.Credentials["key"].Value})
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %q %x", o, o, o.Credentials, o.Credentials["key"].Value, o.Credentials["key"].Value) + out.String() + string(text)
	if strings.Contains(printed, "s3cret") || strings.Contains(printed, "733363726574") {
		t.Error(printed)
	}
}

// Upstreams repeat the query in where they point to.
func TestCredentialsInTheQueryDoNotComeBack(t *testing.T) {
	away := &http.Client{Transport: answers(func(r *http.Request) *http.Response {
		got := respond(r, http.StatusFound, "")
		got.Header = http.Header{"Location": {"https://other.test" + r.URL.RequestURI()}, "X-Echo": {"a", r.URL.Query().Get("api key")}}
		return got
	}), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	o := openapi.Options{Client: away, Credentials: map[string]openapi.Credential{"query": value("s3 cret")}}
	got, err := load(t, secured(`"security":[{"query":[]}]`), o).Tools[0].Handler(t.Context(), &tenon.Call{})
	want := http.Header{"Location": {"https://other.test/a?api%20key=(secret)"}, "X-Echo": {"a", "(secret)"}}
	if d := cmp.Diff(want, got.Header); d != "" || err != nil {
		t.Error(d, err)
	}
}

type answers func(*http.Request) *http.Response

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
