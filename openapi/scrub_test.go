package openapi_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// An upstream that sends credentials back, however they are written, does not
// bring them to the caller, unless they are data.
func TestCredentialsThatComeBackAreHidden(t *testing.T) {
	const secret, user, token = `s3/cr+t "&=é`, "me:pass w/rd", "op-token/1"
	forms := func(s string) []string {
		quoted, _ := json.Marshal(s)
		return []string{s, url.QueryEscape(s), url.PathEscape(s), strings.ToLower(url.QueryEscape(s)), strings.Trim(string(quoted), `"`), base64.StdEncoding.EncodeToString([]byte(s))}
	}
	doc := secured(`"security":[{"query":[],"basic":[]}]`)
	for _, status := range []int{200, 302, 400, 401, 500} {
		for _, s := range []string{secret, user, "pass w/rd", token} {
			for _, form := range forms(s) {
				echo := http.Header{"Content-Type": {"text/plain"}, "X-Echo": {"before " + form + " behind"}, "Location": {"https://other.test/?k=" + form}}
				way := echoing(func(r *http.Request) *http.Response {
					got := respond(r, status, "you sent "+form)
					got.Header = echo
					return got
				})
				offer := load(t, doc, openapi.Options{
					Client: &http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
					Header: http.Header{"X-Token": {token}}, Credentials: map[string]openapi.Credential{"query": value(secret), "basic": value(user)},
				})
				got, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{})
				if err != nil {
					t.Fatal(err)
				}
				for name, values := range got.Header {
					if strings.Contains(strings.Join(values, ""), form) {
						t.Errorf("%d: header %s holds %q", status, name, form)
					}
				}
				if there := strings.Contains(string(got.Body), form); there != (status == 200) {
					t.Errorf("%d: body %q", status, got.Body)
				}
			}
		}
	}
}

type echoing func(*http.Request) *http.Response

func (f echoing) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
