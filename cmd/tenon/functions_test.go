package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

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
