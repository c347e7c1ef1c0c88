package flowmcp

import (
	"slices"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// TestCase is one test case of a tool in a schema file.
type TestCase struct {
	Tool        string // name for clients
	ID          string // qualified name
	Namespace   string
	File        string // name of the schema file, without its folder and extension
	Route       string
	Index       int // index among the cases of its tool
	Description string
	Args        []byte // JSON object
	ReadOnly    bool   // the tool is read-only
	Reason      string // why the tool is not served, with a hint; empty: it is
}

// TestCases returns the test cases of all tools at the last Load, including
// tools that are not served.
func (s *Source) TestCases() []TestCase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cases)
}

// testCases returns the test cases of one tool.
func testCases(t *format.Tool, tool string) []TestCase {
	var all []TestCase
	for i, n := range t.Tests.List() {
		if !n.Is(module.Object) {
			continue
		}
		all = append(all, TestCase{
			Tool: tool, ID: t.ID(), Namespace: t.File.Namespace, File: format.FileBase(t.File.Path), Route: t.Name, Index: i,
			Description: n.Get("_description").Str(), Args: withoutDescription(n).AppendJSON(nil), ReadOnly: t.ReadOnly(),
		})
	}
	return all
}
