package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon/app"
)

// A program serves a config file.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	config, err := app.ReadFile(exampleConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := app.New(ctx, config, app.Env{Getenv: os.LookupEnv})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	defer a.Watch(ctx)()
	l, err := app.Listen(ctx, config.HTTP)
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() { served <- a.Serve(ctx, l) }()

	fmt.Println(call("http://"+l.Addr().String()+"/jsonrpc", "getBook", `{"id":7}`))
	stop()
	fmt.Println(<-served)
	// Output:
	// {"id":7,"title":"Emma"}
	// <nil>
}

// exampleConfig is a config file with one source: the description of a service,
// which runs in this process.
func exampleConfig() string {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":7,"title":"Emma"}`)
	}))
	dir, _ := os.MkdirTemp("", "tenon")
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		_ = os.WriteFile(file, []byte(text), 0o600)
		return file
	}
	write("shop.yaml", `
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "`+shop.URL+`"}]
paths:
  /books/{id}:
    get:
      operationId: getBook
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        "200":
          description: A book
          content: {application/json: {schema: {type: object, required: [id, title], properties: {id: {type: integer}, title: {type: string}}}}}
`)
	return write("tenon.yaml", `
http: 127.0.0.1:0
policy: enforce
envelope: native
allow-private-host: `+strings.TrimPrefix(shop.URL, "http://")+`
sources:
  shop: shop.yaml
`)
}

// call calls a tool and returns its structured content.
func call(url, tool, arguments string) string {
	res, err := http.Post(url, "application/json", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	_, value, _ := strings.Cut(string(body), `"structuredContent":`)
	value, _, _ = strings.Cut(value, "}")
	return value + "}"
}
