package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/app"
)

func TestReviewService(t *testing.T) {
	s := httptest.NewServer(reviews([]string{"docs.example"}, &app.Access{}))
	defer s.Close()
	const good, bad = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"d"}}}}}}`, "openapi: 3.0.3\ninfo: {}\npaths: {}\n"
	for _, tt := range []struct {
		name, method, path, body, origin, host string
		status                                 int
		want                                   string
	}{
		{"a good document", "POST", "/validate", good, "", "", 200, `"success":true`},
		{"a bad one in YAML", "POST", "/validate", bad, "", "", 200, `"message":"the info has no title","suggestion":"add title","file":"document","line":2`},
		{"a document as a member", "POST", "/validate", `{"openapi_spec":"openapi: 3.0.3\ninfo: {}\npaths: {}\n"}`, "", "", 200, `"error_count":2`},
		{"lint says more", "POST", "/lint", good, "", "", 200, `"rule":"operation-id"`},
		{"not a document", "POST", "/lint", `{"a":1}`, "", "", 400, `"error":`},
		{"nothing", "POST", "/lint", "", "", "", 400, `the body is empty`},
		{"too much", "POST", "/lint", strings.Repeat(" ", maxReviewed+1), "", "", 413, `larger than 32 MiB`},
		{"health", "GET", "/health", "", "", "", 200, `"status":"ok"`},
		{"a wrong method", "GET", "/lint", "", "", "", 405, ""},
		{"a page of another origin", "POST", "/validate", good, "https://evil.example", "", 403, ""},
		{"a name that a page had pointed here", "POST", "/validate", good, "http://evil.example", "evil.example", 403, `the host \"evil.example\" is not served here`},
		{"that name asks how it is", "GET", "/health", "", "", "evil.example:80", 403, `is not served here`},
		{"a name that the operator gave", "POST", "/validate", good, "", "Docs.example:8080", 200, `"success":true`},
		{"a name of this machine", "GET", "/health", "", "", "localhost:1", 200, `"status":"ok"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			req.Host = tt.host // empty: that of the URL
			res, err := s.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("got %d %s, want %d with %s", res.StatusCode, body, tt.status, tt.want)
			}
		})
	}
}
