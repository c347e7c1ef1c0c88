package flowmcp

import (
	"context"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// The results of Check, and what the format defines. Their fields and methods
// are those of the types behind them.
type (
	// Report is the result of Check for one schema file.
	Report = format.Report
	// ToolReport is the result of Check for one tool.
	ToolReport = format.ToolReport
	// Finding is one violation of the format's rules in a schema file.
	Finding = format.Finding
	// Severity is the effect of a finding on its file.
	Severity = format.Severity
	// SharedList is a table used by several schema files.
	SharedList = format.SharedList
	// ListUse describes how one schema file uses one shared list.
	ListUse = format.ListUse
	// ListedEnum is a parameter with values from a field of a list.
	ListedEnum = format.ListedEnum
	// Bundle describes a library that was bundled ahead of time.
	Bundle = format.Bundle
)

// The severities.
const (
	Fatal   = format.Fatal   // the file, or the tool that it is in, is not loaded
	Warning = format.Warning // loaded, and reported
	Info    = format.Info    // only reported
)

// Check reads the file or the folder at spec and reports on every schema file in
// the order of their paths, then on the files beside them: skills and prompts
// and, in a catalog, its lists, agents and selections. Names that refer to other
// folders are looked up there. It runs no code. The error means that nothing
// could be read.
func Check(ctx context.Context, spec string, o Options) ([]Report, error) {
	return format.Check(ctx, spec, *o.reading())
}

// SharedLists reads the lists in a folder, in the order of their files. spec may
// also be a schema file or a folder of them, for the folder of lists above it.
func SharedLists(spec string) ([]SharedList, error) { return format.SharedLists(spec) }

// ListUses returns the uses of shared lists by the schema files at spec, in the
// order of their paths.
func ListUses(ctx context.Context, spec string) ([]ListUse, error) { return format.ListUses(ctx, spec) }

// Bundles lists the libraries of a folder. A folder without an index has none.
func Bundles(dir string) ([]Bundle, error) { return format.Bundles(dir) }

// AddBundle writes a library into a folder and replaces one of the same name.
// source is the text of a function that takes the environment of a library and
// returns its exports.
func AddBundle(dir, name, version string, source []byte) (Bundle, error) {
	return format.AddBundle(dir, name, version, source)
}

// OnAllowList reports whether schema files may require a library without the
// operator's permission.
func OnAllowList(library string) bool { return format.OnAllowList(library) }

// MatchesID reports whether a name given by a user refers to the tool with this
// id: namespace/schemaFile::routeName itself, or namespace/tool/routeName.
func MatchesID(name, id string) bool { return format.MatchesID(name, id) }

// reading returns the options for reading files.
func (o *Options) reading() *format.Options {
	return &format.Options{
		Strict: o.Strict, ImplicitParameters: o.ImplicitParameters, Lists: o.ListsDir, Libraries: o.Libraries, HandlerReads: o.HandlerReads, HandlerWrites: o.HandlerWrites,
		ProjectDir: o.ProjectDir, GlobalDir: o.GlobalDir, Env: o.Env,
	}
}
