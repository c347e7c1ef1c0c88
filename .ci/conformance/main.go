// Command conformance serves the fixtures of the official conformance suite
// through the exported API alone: what an embedding program could serve too.
//
// It knows nothing of the protocol. The suite's scenarios name the tools,
// resources and prompts, and what they answer.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run serves on the address that is given, or a free port, and prints where.
func run(ctx context.Context, args []string) error {
	addr := "127.0.0.1:0"
	if len(args) > 0 {
		addr = args[0]
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	g := gateway.New(gateway.Build(nil, gateway.BuildOptions{}), gateway.Options{Logger: log})
	g.Swap(catalog(g))
	s := server.New(g, server.Options{Name: "tenon-conformance", Version: "1", Logger: log, PollAfter: 300 * time.Millisecond,
		TaskAfter: 250 * time.Millisecond, TaskTools: []string{"failing_job"}})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Shutdown(context.Background())
		_ = web.Shutdown(context.Background())
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func catalog(g *gateway.Gateway) *gateway.Catalog {
	o := tenon.Features{
		Tools:             slices.Concat(contentTools(), changeTools(g), questionTools(), taskTools()),
		Resources:         resources(),
		ResourceTemplates: templates(),
		Prompts:           prompts(),
	}
	return gateway.Build([]gateway.Mount{{Name: "conformance", Features: o}}, gateway.BuildOptions{})
}
