package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestGains: of a library that lacks many keys the report names those that serve most,
// and counts the others.
func TestGains(t *testing.T) {
	all := []flowmcp.Availability{{Served: true}, {Needs: []flowmcp.Need{{Kind: flowmcp.NeedKey, Name: "A_KEY"}, {Kind: flowmcp.NeedKey, Name: "A_SECRET"}}}}
	for i := range 12 {
		for range i + 2 {
			all = append(all, flowmcp.Availability{Needs: []flowmcp.Need{{Kind: flowmcp.NeedKey, Name: fmt.Sprintf("KEY_%d", i)}}})
		}
	}
	var short, whole strings.Builder
	printGains(&short, all, false)
	printGains(&whole, all, true)
	if lines := strings.Count(short.String(), "\n"); lines != maxGainsShown+1 || !strings.HasPrefix(short.String(), "set KEY_11 in the environment: 13 tools more\n") ||
		!strings.HasSuffix(short.String(), "\n5 other things like these: 15 tools more; --verbose names them\n") {
		t.Errorf("%d lines:\n%s", lines, short.String())
	}
	if strings.Count(whole.String(), "\n") != 13 || !strings.HasSuffix(whole.String(), "\nset A_KEY and A_SECRET in the environment: 1 tool more\n") {
		t.Errorf("in full:\n%s", whole.String())
	}
}
