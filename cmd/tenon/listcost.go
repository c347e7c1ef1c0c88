package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/gateway"
)

const (
	sampled      = 48 // tools of which the size of all is estimated
	samplingTime = 200 * time.Millisecond
)

// tellCost says about how many tokens the list takes. Rendering every tool of a large
// catalog would take longer than the start: of more than a few, some that are
// spread over the catalog stand for all.
func tellCost(w io.Writer, c *gateway.Catalog, o *app.Config) {
	tools := c.Tools()
	if o.ListTokensWarn < 0 || len(tools) == 0 {
		return
	}
	began, bytes, seen := time.Now(), 0, 0
	step := max(1, len(tools)/sampled)
	for i := 0; i < len(tools) && time.Since(began) < samplingTime; i += step {
		bytes += len(tools[i].Definition())
		seen++
	}
	tokens := bytes / seen * len(tools) / bytesPerToken
	text := fmt.Sprintf("tenon: the list of tools takes about %d tokens", rounded(tokens))
	if tokens > o.ListTokensWarn && o.ToolsMode != "search" {
		text += ", which clients may send with every conversation; --tools-mode search shows a few tools in its place, --include and --exclude choose"
	}
	fmt.Fprintln(w, text)
}

// rounded keeps two digits: more would be a lie.
func rounded(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
