package openapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// answering answers every request at once: what is measured is ours.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: 2,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}")),
	}, nil
}

func BenchmarkCall(b *testing.B) {
	doc := operation30("/things/{id}", `"parameters":[
		{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},
		{"name":"q","in":"query","schema":{"type":"string"}},
		{"name":"limit","in":"query","schema":{"type":"integer"}}],
		"requestBody":{"content":{"application/json":{"schema":{}}}}`)
	offer, err := openapi.Parse("doc.json", []byte(doc), openapi.Options{Client: &http.Client{Transport: answering{}}})
	if err != nil {
		b.Fatal(err)
	}
	handler := offer.Tools[0].Handler
	for _, c := range []struct{ name, args string }{
		{"path and query", `{"id":12345,"q":"some words","limit":50}`},
		{"body", `{"id":12345,"body":{"name":"n","tags":["a","b"]}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := &tenon.Call{Args: []byte(c.args)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := handler(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBareRequest is the same request made by hand.
func BenchmarkBareRequest(b *testing.B) {
	client := &http.Client{Transport: answering{}}
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "https://api.test/v1/things/12345?q=some%20words&limit=50", http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		res, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			b.Fatal(err)
		}
		_ = res.Body.Close()
	}
}
