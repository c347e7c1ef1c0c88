// Command requests prints what tenon sends: for every line of standard input,
// {"doc": an OpenAPI document with one operation, "args": its arguments}, one
// line with the request that left, or with the reason why none did.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

type request struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Refused string            `json:"refused,omitempty"`
}

// recorder keeps the last request in the place of sending it.
type recorder struct{ last *request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.last = &request{Method: req.Method, URL: req.URL.String(), Headers: map[string]string{}}
	for name, values := range req.Header {
		r.last.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.last.Body = string(body)
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
}

func send(line []byte) (*request, error) {
	var c struct {
		Doc  json.RawMessage `json:"doc"`
		Args string          `json:"args"`
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	r := &recorder{}
	offer, err := openapi.Parse("case.json", c.Doc, openapi.Options{Client: &http.Client{Transport: r}})
	if err != nil {
		return nil, err
	}
	if len(offer.Tools) != 1 || len(offer.Diagnostics) > 0 {
		return nil, fmt.Errorf("%d tools, diagnostics %v", len(offer.Tools), offer.Diagnostics)
	}
	_, err = offer.Tools[0].Handler(context.Background(), &tenon.Call{Args: []byte(c.Args)})
	if r.last == nil {
		return &request{Refused: err.Error()}, nil
	}
	return r.last, err
}

func run() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		r, err := send(in.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", in.Bytes(), err)
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
