package openapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
)

// says answers every request with one text.
type says struct{ media, text string }

func (s *says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {s.media}}, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(s.text)), Request: r,
	}, nil
}

const streamed = `{"openapi":"3.1.0","info":{"title":"s","version":"1"},"servers":[{"url":"http://s.test"}],"paths":{"/s":{"get":{"operationId":"s",` +
	`"responses":{"200":{"description":"","content":{"application/x-ndjson":{},"text/event-stream":{}}}}}}}}`

func streamTool(t testing.TB, s *says) tenon.Tool {
	offer, err := openapi.Parse("s", []byte(streamed), openapi.Options{Client: &http.Client{Transport: s}})
	if err != nil {
		t.Fatal(err)
	}
	return offer.Tools[0]
}

// drain reads a stream to its end.
func drain(t testing.TB, tool tenon.Tool) (items []string, failed error) {
	r, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{}`)})
	if err != nil || r.Items == nil {
		t.Fatalf("no stream: %v", err)
	}
	for item, err := range r.Items {
		if failed != nil {
			t.Fatal("something comes after an error")
		}
		if failed = err; err == nil {
			items = append(items, string(item))
		}
	}
	return items, failed
}

func TestStreams(t *testing.T) {
	const lines, events = "application/x-ndjson; charset=utf-8", "text/event-stream"
	tests := map[string]struct {
		media, text string
		want        string // items, a line each
		fails       string
	}{
		"values":                              {lines, "1\n{\"a\": 2}\r\n\n  \"x\"", "1\n{\"a\": 2}\n\"x\"", ""},
		"a CR that ends no line":              {lines, "{\r}\n1", "{\r}\n1", ""},
		"nothing":                             {lines, "", "", ""},
		"a line that is not JSON":             {lines, "1\n{\n3\n", "1", "line 2 of the stream is not JSON"},
		"a value over two lines":              {lines, "[1,\n2]\n", "", "line 1"},
		"an item that is too large":           {lines, "1\n\"" + strings.Repeat("x", 5<<20) + "\"\n", "1", "larger than 4194304 bytes"},
		"an event that is too large":          {events, strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5), "", "larger than 4194304 bytes"},
		"more than an answer may have":        {lines, strings.Repeat("\""+strings.Repeat("x", 1<<20)+"\"\n", 40), "", "larger than 33554432 bytes"},
		"data of several lines":               {events, "data: a\ndata\ndata:  b\n\n", `{"data":"a\n\n b"}`, ""},
		"comments and unknown fields":         {events, ": c\nx: y\ndata: a\n\n", `{"data":"a"}`, ""},
		"an event without data":               {events, "event: a\n\ndata: b\n\n", `{"data":"b"}`, ""},
		"an id stays, a name does not":        {events, "id: 1\nevent: a\ndata: b\n\ndata: c\n\n", "{\"data\":\"b\",\"event\":\"a\",\"id\":\"1\"}\n{\"data\":\"c\",\"id\":\"1\"}", ""},
		"an id with a zero byte is none":      {events, "id: a\x00\ndata: b\n\n", `{"data":"b"}`, ""},
		"a time that is a number, and others": {events, "retry: 5\ndata: a\n\nretry: soon\ndata: b\n\n", "{\"data\":\"a\",\"retry\":5}\n{\"data\":\"b\"}", ""},
		"an event that is cut off":            {events, "data: a\n\ndata: b\n", `{"data":"a"}`, ""},
		"lines that end in three ways":        {events, "data: a\r\rdata: b\r\n\r\ndata: c\n\n", "{\"data\":\"a\"}\n{\"data\":\"b\"}\n{\"data\":\"c\"}", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			items, err := drain(t, streamTool(t, &says{tt.media, tt.text}))
			if tt.want != "" || tt.fails == "" {
				if got := strings.Join(items, "\n"); got != tt.want {
					t.Errorf("%s, not %s", got, tt.want)
				}
			}
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, not %q", err, tt.fails)
			}
		})
	}
}

// FuzzStream: whatever arrives, every item fits what is published of it, and
// nothing comes after an error.
func FuzzStream(f *testing.F) {
	f.Add(true, "data: a\r\n\nid: 1\r\rretry: 7\n\ndata")
	f.Add(false, "1\n{\"a\":2}\n\n]\n3")
	f.Add(false, "{\r}")
	s := &says{}
	tool := streamTool(f, s)
	c, err := tool.Contract.Contract()
	if err != nil {
		f.Fatal(err)
	}
	list, err := schema.Compile(c.Responses[1].Schema, schema.Options{})
	if err != nil || c.Responses[1].MediaType != "text/event-stream" {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, events bool, text string) {
		s.text, s.media = text, "application/x-ndjson"
		if events {
			s.media = "text/event-stream"
		}
		items, _ := drain(t, tool)
		for _, item := range items {
			breaks := "\n" // a line may have a CR between its tokens
			if events {
				breaks = "\r\n"
			}
			if err := rawjson.Check([]byte(item)); err != nil || strings.ContainsAny(item, breaks) {
				t.Fatalf("%q: %v", item, err)
			}
			if v := list.Validate([]byte("[" + item + "]")); events && len(v) > 0 {
				t.Fatalf("%s: %v", item, v)
			}
		}
	})
}
