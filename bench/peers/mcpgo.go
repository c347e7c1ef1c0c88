package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// mcpGoPeer serves typed functions with mcp-go; validation is an option there.
func mcpGoPeer(stateless bool) peer {
	s := server.NewMCPServer("bench", "1", server.WithToolCapabilities(false), server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	for name, result := range sample.Results() {
		tool := mcp.NewTool(name, mcp.WithDescription("Forecast of a city."), mcp.WithInputSchema[sample.Args](), mcp.WithOutputSchema[sample.Forecast]())
		s.AddTool(tool, mcp.NewStructuredToolHandler(func(context.Context, mcp.CallToolRequest, sample.Args) (sample.Forecast, error) {
			return result, nil
		}))
	}
	tool := mcp.NewTool(sample.Echo, mcp.WithDescription("Forecast of a city."), mcp.WithInputSchema[sample.Forecast](), mcp.WithOutputSchema[sample.Forecast]())
	s.AddTool(tool, mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in sample.Forecast) (sample.Forecast, error) {
		return in, nil
	}))
	mode := server.WithStateful(true)
	if stateless {
		mode = server.WithStateLess(true)
	}
	return peer{
		configuration: fmt.Sprintf("mcp-go v1.2.1, NewStructuredToolHandler, WithInputSchemaValidation, WithOutputSchemaValidation, stateless: %v; stdio with its own pool of workers", stateless),
		http:          func() (http.Handler, error) { return server.NewStreamableHTTPServer(s, mode), nil },
		stdio:         func(context.Context) error { return server.ServeStdio(s) },
	}
}
