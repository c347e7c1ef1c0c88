package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/bench/sample"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

// tenonPeer embeds tenon in a program of typed functions.
func tenonPeer() peer {
	load := func() (*server.Server, error) {
		var functions gofunc.Functions
		for name, result := range sample.Results() {
			functions = append(functions, gofunc.Func(name, "Forecast of a city.", func(context.Context, sample.Args) (sample.Forecast, error) {
				return result, nil
			}))
		}
		functions = append(functions, gofunc.Func(sample.Echo, "Forecast of a city.", func(_ context.Context, in sample.Forecast) (sample.Forecast, error) {
			return in, nil
		}))
		g, err := gateway.Load(context.Background(), functions, gateway.Options{})
		return server.New(g, server.Options{}), err
	}
	return peer{
		configuration: "tenon.Func and server.New without options, both schemas enforced",
		http:          func() (http.Handler, error) { return load() },
		stdio: func(ctx context.Context) error {
			s, err := load()
			if err != nil {
				return err
			}
			return s.ServeStdio(ctx, os.Stdin, os.Stdout)
		},
	}
}

// openAPIPeer is what the tenon binary serves with an OpenAPI document, in a
// program that can be profiled.
func openAPIPeer(upstream string) peer {
	return peer{
		configuration: "openapi, policy enforce, envelope native",
		http: func() (http.Handler, error) {
			client, err := egress.NewClient(egress.Options{AllowHosts: []string{strings.TrimPrefix(upstream, "http://")}})
			if err != nil {
				return nil, err
			}
			offer, err := openapi.Parse("forecasts", []byte(sample.Document(upstream)), openapi.Options{Client: client, Policy: tenon.Enforce, Envelope: tenon.Native})
			if err != nil {
				return nil, err
			}
			c := gateway.Build([]gateway.Mount{{Name: "forecasts", Features: offer}}, gateway.BuildOptions{})
			return server.New(gateway.New(c, gateway.Options{}), server.Options{}), nil
		},
	}
}
