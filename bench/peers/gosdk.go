package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// goSDKPeer serves typed functions with the official library, which validates
// both sides. JSON answers are what its documentation offers beside event
// streams.
func goSDKPeer(stateless bool) peer {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	for name, result := range sample.Results() {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Forecast of a city."},
			func(context.Context, *mcp.CallToolRequest, sample.Args) (*mcp.CallToolResult, sample.Forecast, error) {
				return nil, result, nil
			})
	}
	mcp.AddTool(s, &mcp.Tool{Name: sample.Echo, Description: "Forecast of a city."},
		func(_ context.Context, _ *mcp.CallToolRequest, in sample.Forecast) (*mcp.CallToolResult, sample.Forecast, error) {
			return nil, in, nil
		})
	o := &mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true}
	return peer{
		configuration: fmt.Sprintf("go-sdk v1.8.0, mcp.AddTool, StreamableHTTPOptions{Stateless: %v, JSONResponse: true}", stateless),
		http: func() (http.Handler, error) {
			return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o), nil
		},
		stdio: func(ctx context.Context) error { return s.Run(ctx, &mcp.StdioTransport{}) },
	}
}
