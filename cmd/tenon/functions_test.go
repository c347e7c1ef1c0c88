package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp/worker"
	"github.com/tenon-mcp/tenon/gofunc"
)

// adder is the worker of the scripts' function app.
func adder() {
	a := worker.New(worker.Options{Name: "adder", Version: "7", Instructions: "Adds.", Executable: "adder"})
	a.Func(gofunc.Func("add", "Adds two numbers.", func(_ context.Context, in struct{ A, B int }) (struct{ Sum int }, error) {
		return struct{ Sum int }{in.A + in.B}, nil
	}))
	a.Tool("lie").
		Handle(func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Content: []tenon.Content{{Text: []byte("n is large")}}}, nil
		})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := a.Main(ctx, worker.Process{Args: os.Args[1:], Getenv: os.Getenv, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

func TestTheKeyOfAzuresDoor(t *testing.T) {
	env := env{getenv: func(name string) (string, bool) { return "s3cret", name == "KEY" }}
	for _, inURL := range []bool{false, true} {
		d := doors{plain: "on", sessions: "on", azure: azureDoor{open: true, key: "${KEY}", inURL: inURL}}
		if err := d.check(env, "0.0.0.0:80"); err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name, target, header string
			want                 bool
		}{
			{"no key", "/mcp", "", false},
			{"a wrong key", azurePath, "s3cre", false},
			{"a wrong key before a right one", azurePath + "?code=s3cret", "other", false},
			{"the key in the header", azurePath, "s3cret", true},
			{"the key in the address", azurePath + "?code=s3cret", "", inURL},
			{"the plain door", "/jsonrpc", "", false},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodPost, tt.target, http.NoBody)
				if tt.header != "" {
					r.Header.Set("X-Functions-Key", tt.header)
				}
				if caller, err := d.authenticate()(r); (err == nil) != tt.want || tt.want != (caller == azureCaller) {
					t.Errorf("caller %q, %v", caller, err)
				}
			})
		}
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
