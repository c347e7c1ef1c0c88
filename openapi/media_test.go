package openapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// TestEveryMediaTypeComesAsWhatItIs sends answers of all kinds through the
// gateway: what stands in the structure, and which blocks there are (with the
// number of their kind).
func TestEveryMediaTypeComesAsWhatItIs(t *testing.T) {
	tests := []struct{ media, body, output, data, blocks string }{
		{"application/json", `{"a":1}`, "json", `{"a":1}`, "text"},
		{"application/hal+json", `{"a":1}`, "json", `{"a":1}`, "text"},
		{"application/problem+json", `{"title":"t"}`, "json", `{"title":"t"}`, "text"},
		{"text/csv; charset=utf-8", "a,b\n1,2\n", "", `"a,b\n1,2\n"`, "text"},
		{"application/xml", "<a>1</a>", "", `"<a>1</a>"`, "text"},
		{"image/svg+xml", "<svg/>", "", `"<svg/>"`, "text"},
		{"text/plain", "hi", "text", `"hi"`, "text"},
		{"image/png", "\x89PNG", "image", `{"mimeType":"image/png","bytes":4,`, "text image/png:1"},
		{"audio/mpeg", "ID3\x04", "audio", `{"mimeType":"audio/mpeg","bytes":4,`, "text audio/mpeg:2"},
		{"application/pdf", "%PDF\xff", "", `{"mimeType":"application/pdf","bytes":5,`, "text application/pdf:3"},
		{"application/octet-stream", "\x00\x01", "", `{"mimeType":"application/octet-stream","bytes":2,`, "text application/octet-stream:3"},
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, tt := range tests {
			if r.URL.Path == fmt.Sprintf("/m%d", i) {
				w.Header().Set("Content-Type", tt.media)
				_, _ = w.Write([]byte(tt.body))
			}
		}
	}))
	defer upstream.Close()
	var paths []string
	for i, tt := range tests {
		media, _, _ := strings.Cut(tt.media, ";")
		paths = append(paths, fmt.Sprintf(`"/m%d":{"get":{"operationId":"m%d","responses":{"200":{"description":"ok","content":{%q:{}}}}}}`, i, i, media))
	}
	offer, err := openapi.Parse("media", []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{`+strings.Join(paths, ",")+`}}`),
		openapi.Options{Client: outward(t, upstream), BaseURL: upstream.URL})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "m", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	for i, tt := range tests {
		t.Run(tt.media, func(t *testing.T) {
			res, err := g.Call(t.Context(), &tenon.Call{Tool: fmt.Sprintf("m%d", i), Args: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			got := string(res.Structured)
			if !strings.Contains(got, `"data":`+tt.data) || !strings.Contains(got, `"OutputType":"`+tt.output) || strings.Contains(string(res.Meta), `"verdict":"violated"`) {
				t.Errorf("%s, %s", got, res.Meta)
			}
			var blocks []string
			for _, b := range res.Content {
				if b.Type == tenon.TextContent {
					blocks = append(blocks, "text")
				} else {
					blocks = append(blocks, fmt.Sprintf("%s:%d", b.MediaType, b.Type))
				}
			}
			if diff := cmp.Diff(tt.blocks, strings.Join(blocks, " ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
