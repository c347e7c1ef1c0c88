package openapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

const regions = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[
  {"url":"https://{region}.a.test:{port}/{base}","variables":{"region":{"default":"eu","enum":["eu","us"]},"port":{"default":8443},"base":{"default":"v1"}}},
  {"url":"https://{region}.b.test","variables":{"region":{"default":"asia","enum":["asia"]}}}],
"paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":"ok"}}}},
  "/y":{"servers":[{"url":"https://{cell}.c.test","variables":{"cell":{"default":"one"}}}],"get":{"operationId":"y","responses":{"200":{"description":"ok"}}}}}}`

// asked notes where a request was sent.
type asked struct{ url string }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.url = r.URL.String()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func TestServerVariables(t *testing.T) {
	for _, c := range []struct {
		name       string
		chosen     map[string]string
		x, y       string // where the tools ask
		diagnostic string
	}{
		{"defaults", nil, "https://eu.a.test:8443/v1/x", "https://one.c.test/y", ""},
		{"one is chosen", map[string]string{"region": "us"}, "https://us.a.test:8443/v1/x", "https://one.c.test/y", ""},
		{"those without a list may be anything", map[string]string{"port": "1", "base": "v2", "cell": "two"}, "https://eu.a.test:1/v2/x", "https://two.c.test/y", ""},
		{"a value that only another server takes", map[string]string{"region": "asia"}, "https://asia.b.test/x", "https://one.c.test/y", ""},
		{"a value that no server takes", map[string]string{"region": "mars"}, "", "", `doc.json: the server variable region must be one of asia, eu, us, not "mars"`},
		{"a name that is misspelt", map[string]string{"regoin": "us"}, "", "", `doc.json: no server has a variable "regoin"; there are: region`},
		{"a name that is like no other", map[string]string{"x": "us"}, "", "", `doc.json: no server has a variable "x"; there are: base, cell, port, region`},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := &asked{}
			offer, err := openapi.Parse("doc.json", []byte(regions), openapi.Options{Client: &http.Client{Transport: to}, ServerVariables: c.chosen})
			if c.diagnostic != "" {
				if tenon.CodeOf(err) != tenon.CodeUsage || err.Error() != c.diagnostic {
					t.Errorf("error %v, want %s", err, c.diagnostic)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{c.x, c.y} {
				if _, err := offer.Tools[i].Handler(t.Context(), &tenon.Call{Args: []byte(`{}`)}); err != nil || to.url != want {
					t.Errorf("asked %s, %v, want %s", to.url, err, want)
				}
			}
		})
	}
	_, err := openapi.Parse("doc.json", []byte(`{"swagger":"2.0","info":{"title":"t","version":"1"},"host":"a.test","paths":{}}`), openapi.Options{ServerVariables: map[string]string{"region": "us"}})
	if err == nil || err.Error() != `doc.json: no server has a variable "region"; there are no variables` {
		t.Errorf("a document without servers: %v", err)
	}
}
