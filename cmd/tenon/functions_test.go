package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functions/worker"
)

// adder is the worker of the scripts' function app.
func adder() {
	a := worker.New(worker.Options{Name: "adder", Executable: "adder"})
	a.Func(tenon.Func("add", "Adds two numbers.", func(_ context.Context, in struct{ A, B int }) (struct{ Sum int }, error) {
		return struct{ Sum int }{in.A + in.B}, nil
	}))
	a.Tool("lie").
		Handle(func(context.Context, *tenon.Call) (tenon.Reply, error) {
			return tenon.Reply{Blocks: []tenon.Block{{Text: []byte("n is large")}}}, nil
		})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := a.Main(ctx, worker.Process{Args: os.Args[1:], Getenv: os.Getenv, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

func TestTheKeyOfAzuresDoor(t *testing.T) {
	env := env{getenv: func(name string) (string, bool) { return "s3cret", name == "KEY" }}
	d := azureDoor{open: true, key: "${KEY}"}
	if err := d.check(env, "0.0.0.0:80"); err != nil {
		t.Fatal(err)
	}
	web := d.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	tests := []struct {
		name, target, header string
		want                 int
	}{
		{"no key", "/mcp", "", 401},
		{"a wrong key", azurePath, "s3cre", 401},
		{"a wrong key before a right one", azurePath + "?code=s3cret", "other", 401},
		{"the key in the header", azurePath, "s3cret", 200},
		{"the key in the address", azurePath + "?code=s3cret", "", 200},
		{"the plain door", "/jsonrpc", "", 401},
		{"how the server is", "/healthz", "", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, tt.target, http.NoBody)
			if tt.header != "" {
				r.Header.Set("X-Functions-Key", tt.header)
			}
			w := httptest.NewRecorder()
			web.ServeHTTP(w, r)
			if w.Code != tt.want || strings.Contains(w.Body.String(), "s3cret") {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
}

func TestAzuresDoorIsNotOpenToANetwork(t *testing.T) {
	none := env{getenv: func(string) (string, bool) { return "", false }}
	tests := []struct {
		name, addr string
		door       azureDoor
		fails      bool
	}{
		{"loopback without a key", ":8080", azureDoor{open: true}, false},
		{"loopback by address", "[::1]:8080", azureDoor{open: true}, false},
		{"a network without a key", "0.0.0.0:8080", azureDoor{open: true}, true},
		{"stdio", "", azureDoor{open: true}, true},
		{"a key that is not there", ":8080", azureDoor{open: true, key: "${KEY}"}, true},
		{"not wanted", "0.0.0.0:8080", azureDoor{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.door.check(none, tt.addr); (err != nil) != tt.fails {
				t.Error(err)
			}
		})
	}
}
