package openapi_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// authority is an authorization server and the API that takes its tokens. It
// writes down what it was asked for.
type authority struct {
	mu      sync.Mutex
	asked   []string // token requests
	granted int
	valid   string // the token that the API takes
	expires int    // seconds
	fails   string // answers token requests with this instead
	kind    string // of its tokens; empty: bearer
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		return respond(r, 200, `{"issuer":"https://id.test","token_endpoint":"https://id.test/token"}`), nil
	case "/token":
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		a.asked = append(a.asked, strings.Trim(fmt.Sprintf("%s %s:%s %s", r.URL, user, password, body), " "))
		if a.fails != "" {
			return respond(r, 400, a.fails), nil
		}
		kind := a.kind
		if kind == "" {
			kind = "bearer"
		}
		a.granted++
		a.valid = fmt.Sprintf("token-%d", a.granted)
		return respond(r, 200, fmt.Sprintf(`{"access_token":%q,"token_type":%q,"expires_in":%d,"refresh_token":"r%d"}`, a.valid, kind, a.expires, a.granted)), nil
	}
	if r.Header.Get("Authorization") != "Bearer "+a.valid {
		return respond(r, 401, `{"error":"no"}`), nil
	}
	return respond(r, 200, `{"token":"`+a.valid+`"}`), nil
}

func respond(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

const tokenDocument = `{"openapi":"3.1.0","servers":[{"url":"https://api.test"}],"components":{"securitySchemes":{
	"oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://id.test/token","scopes":{}},"authorizationCode":{"tokenUrl":"https://id.test/token","refreshUrl":"/token"}}},
	"oidc":{"type":"openIdConnect","openIdConnectUrl":"https://id.test/.well-known/openid-configuration"},
	"bearer":{"type":"http","scheme":"bearer"},"key":{"type":"apiKey","in":"header","name":"K"},"empty":{"type":"oauth2","flows":{}}}},
	"paths":{"/a":{"get":{"security":[{"oauth":["read","list"]}]},"post":{"security":[{"oauth":["write"]}]},"put":{"security":[{"oidc":["openid"]}]},"delete":{"security":[{"bearer":[]}]}}}}`

// spending loads the document with a client and returns a function that calls
// an operation and gives the status that came back.
func spending(t *testing.T, a *authority, scheme string, o openapi.OAuth) func(tool int) (int, error) {
	t.Helper()
	if a.expires == 0 {
		a.expires = 3600
	}
	offer := load(t, tokenDocument, openapi.Options{
		Client:      &http.Client{Transport: a},
		Credentials: map[string]openapi.Credential{scheme: {OAuth: &o}},
	})
	return func(tool int) (int, error) {
		got, err := offer.Tools[tool].Handler(t.Context(), &tenon.Call{})
		return got.Status, err
	}
}

var client = openapi.OAuth{ClientID: "me", ClientSecret: "s3cret"}

func TestAccessTokensAreKept(t *testing.T) {
	a := &authority{}
	call := spending(t, a, "oauth", client)
	for range 3 {
		if status, err := call(0); status != 200 || err != nil {
			t.Fatal(status, err)
		}
	}
	if status, err := call(1); status != 200 || err != nil { // other scopes
		t.Fatal(status, err)
	}
	if d := cmp.Diff([]string{
		"https://id.test/token me:s3cret grant_type=client_credentials&scope=read+list",
		"https://id.test/token me:s3cret grant_type=client_credentials&scope=write",
	}, a.asked); d != "" {
		t.Error(d)
	}
}

func TestGrants(t *testing.T) {
	for _, c := range []struct {
		name, scheme string
		tool         int
		oauth        openapi.OAuth
		want         string
	}{
		{"OpenID discovery", "oidc", 2, client, "https://id.test/token me:s3cret grant_type=client_credentials&scope=openid"},
		{"the operator's scopes", "oauth", 0, openapi.OAuth{ClientID: "me", Scopes: []string{"all"}}, "https://id.test/token me: grant_type=client_credentials&scope=all"},
		{"in the form", "oauth", 1, openapi.OAuth{ClientID: "me", ClientSecret: "s", InBody: true}, "https://id.test/token : client_id=me&client_secret=s&grant_type=client_credentials&scope=write"},
		{"an audience", "oauth", 1, openapi.OAuth{ClientID: "me", Params: map[string]string{"audience": "x"}}, "https://id.test/token me: audience=x&grant_type=client_credentials&scope=write"},
		{"another token URL", "bearer", 3, openapi.OAuth{ClientID: "me", TokenURL: "https://other.test/token"}, "https://other.test/token me: grant_type=client_credentials"},
		{"a refresh token", "oauth", 0, openapi.OAuth{ClientID: "me", RefreshToken: "r0"}, "https://api.test/token me: grant_type=refresh_token&refresh_token=r0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &authority{}
			status, err := spending(t, a, c.scheme, c.oauth)(c.tool)
			if err != nil || status != 200 {
				t.Fatal(status, err)
			}
			if d := cmp.Diff([]string{c.want}, a.asked); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAccessTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &authority{}
		call := spending(t, a, "oauth", openapi.OAuth{ClientID: "me", RefreshToken: "r0"})
		for range 3 {
			if status, err := call(0); status != 200 || err != nil {
				t.Fatal(status, err)
			}
			time.Sleep(time.Hour)
		}
		want := []string{"refresh_token=r0", "refresh_token=r1", "refresh_token=r2"} // the endpoint changes it
		for i, asked := range a.asked {
			if !strings.HasSuffix(asked, want[i]) {
				t.Errorf("%d: %s", i, asked)
			}
		}
		if len(a.asked) != 3 {
			t.Errorf("asked %d times", len(a.asked))
		}
	})
}

// A token that the API takes no longer is replaced once, also under a request
// that changes something; one that is new is not.
func TestRefusedAccessTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &authority{}
		call := spending(t, a, "oauth", client)
		if status, err := call(1); status != 200 || err != nil {
			t.Fatal(status, err)
		}
		time.Sleep(time.Minute)
		a.valid = "revoked"
		if status, err := call(1); status != 200 || err != nil || a.granted != 2 {
			t.Errorf("%d, %v, %d tokens", status, err, a.granted)
		}
		a.valid = "revoked"
		if status, _ := call(1); status != 401 || a.granted != 2 {
			t.Errorf("%d, %d tokens", status, a.granted)
		}
	})
}

func TestManyCallsAskForOneToken(t *testing.T) {
	a := &authority{}
	call := spending(t, a, "oauth", client)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if status, err := call(0); status != 200 || err != nil {
				t.Error(status, err)
			}
		})
	}
	all.Wait()
	if a.granted != 1 {
		t.Errorf("%d tokens", a.granted)
	}
}

// What an endpoint answers to a wrong secret may repeat the secret. Neither the
// caller nor the log sees it, and nothing is sent to the API.
func TestTokensThatCannotBeHad(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"a known code", `{"error":"invalid_client","error_description":"s3cret is wrong"}`, "POST https://id.test: the token endpoint responded 400: invalid_client"},
		{"another", `{"error":"s3cret"}`, "the token endpoint responded 400"},
		{"no JSON", "s3cret", "the token endpoint responded 400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, err := spending(t, &authority{fails: c.answer}, "oauth", client)(0)
			if status != 0 || tenon.CodeOf(err) != tenon.CodeAuthentication {
				t.Fatalf("%d, %v", status, err)
			}
			e, _ := err.(*tenon.Error) //nolint:errorlint // it is looked at as it is
			if !strings.Contains(e.Err.Error(), c.want) || strings.Contains(e.Err.Error()+e.Message, "s3cret") {
				t.Errorf("%v\n%v", e.Message, e.Err)
			}
		})
	}
}

// A token that is to be sent in another way than a bearer token is not sent.
func TestTokensOfAnotherKindAreNotSent(t *testing.T) {
	status, err := spending(t, &authority{kind: "DPoP"}, "oauth", client)(0)
	if status != 0 || tenon.CodeOf(err) != tenon.CodeAuthentication {
		t.Errorf("%d, %v", status, err)
	}
}

func TestOAuthThatAreInvalid(t *testing.T) {
	for _, c := range []struct {
		name, scheme string
		oauth        openapi.OAuth
		want         string
	}{
		{"no client", "oauth", openapi.OAuth{}, "client_id is missing"},
		{"an API key", "key", client, "an access token cannot be used for apiKey in header K"},
		{"no token URL", "empty", client, "the document names no token URL; set token_url of the credential"},
		{"bearer without one", "bearer", client, "the document names no token URL"},
	} {
		_, err := openapi.Parse("d", []byte(tokenDocument), openapi.Options{Credentials: map[string]openapi.Credential{c.scheme: {OAuth: &c.oauth}}})
		if tenon.CodeOf(err) != tenon.CodeUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A client's secret is not sent where others can read it on the way.
func TestTokenEndpointsWithoutTLS(t *testing.T) {
	asked := false
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	defer s.Close()
	o := openapi.Options{
		Client: outward(t, s),
		Credentials: map[string]openapi.Credential{"oauth": {OAuth: &openapi.OAuth{
			ClientID: "me", ClientSecret: "s3cret", TokenURL: "http://id.example/token",
		}}},
	}
	_, err := load(t, tokenDocument, o).Tools[0].Handler(t.Context(), &tenon.Call{})
	e, ok := err.(*tenon.Error) //nolint:errorlint // it is looked at as it is
	if !ok || asked || !strings.Contains(e.Err.Error(), "a token is read over plain http only from an allowed host") {
		t.Errorf("asked: %v, %v", asked, err)
	}
}
