// Package library has the tools for authors and operators of FlowMCP schema
// files: registries of catalogs, pages of documentation, search, migration,
// entries of shared lists and inferred output blocks.
//
// It does not know calls, credentials or the Model Context Protocol: it sends no
// request and executes no code of a file.
//
// It works on the model of schema files that package flowmcp executes.
package library

import "github.com/tenon-mcp/tenon/flowmcp/internal/format"

type (
	// Options control how schema files are read. The zero value works.
	Options = format.Options
	// Report is the result of flowmcp.Check for one schema file.
	Report = format.Report
	// ToolReport is the part of a Report about one tool.
	ToolReport = format.ToolReport
	// Finding is one violation of the format's rules.
	Finding = format.Finding
	// Severity is the effect of a finding on its file.
	Severity = format.Severity
)
