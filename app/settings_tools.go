package app

import (
	"slices"
	"time"

	"github.com/tenon-mcp/tenon/internal/config"
)

// toolSettings are the settings that choose tools and say what is published of them.
func toolSettings() []Setting {
	return slices.Concat(
		group("Tool selection", []Setting{
			{Name: "include", source: func(o *SourceOptions) any { return &o.Include }, rebase: besideAt, check: checkSelector, Help: "serve only matching operations and tools: tag:NAME, method:GET, path:/a/**, id:repos_*, 'GET /a/{id}', /regexp/, or @FILE with one of these per line; tools of function apps have only an id (repeatable)"},
			{Name: "exclude", source: func(o *SourceOptions) any { return &o.Exclude }, rebase: besideAt, check: checkSelector, Help: "leave out matching operations and tools; selectors as for --include (repeatable)"},
			{Name: "read-only", source: func(o *SourceOptions) any { return &o.ReadOnly }, Help: "serve only read-only tools"},
			{Name: "trust-marks", source: func(o *SourceOptions) any { return &o.TrustMarks }, Help: "trust descriptions that mark operations as safe whatever their method (x-mcp-safe and similar extensions, meta of schema files); otherwise --read-only and --confirm ignore such marks"},
			{Name: "mark-safe", source: func(o *SourceOptions) any { return &o.MarkSafe }, Help: "matching operations change nothing, whatever their method (repeatable)"},
			{Name: "mark-unsafe", source: func(o *SourceOptions) any { return &o.MarkUnsafe }, Help: "matching operations can change something, whatever their method (repeatable)"},
			{Name: "prefix", whole: func(c *Config) any { return &c.Prefix }, def: "auto", Values: []string{"auto", "always", "never"}, Help: "prefix tool names with the name of their source: auto (only where names collide), always or never"},
			{Name: "tools-mode", whole: func(c *Config) any { return &c.ToolsMode }, def: "list", Values: []string{"list", "search"}, Help: "how clients find tools: list shows all of them, search shows search_tools, describe_tool and call_tool instead"},
			{Name: "list-tokens-warn", whole: func(c *Config) any { return &c.ListTokensWarn }, signed: true, def: 20_000, Help: "suggest --tools-mode search at startup if the tool list has more tokens; negative: never"},
			{Name: "describe", whole: func(c *Config) any { return &c.Describe }, def: "auto", Values: []string{"auto", "on", "off"}, Help: "the tool that describes all other tools: auto (if a tool has the openapi-mcp envelope), on or off"},
		}),
		group("Names and descriptions", []Setting{
			{Name: "names", source: func(o *SourceOptions) any { return &o.Names }, def: "models", Values: []string{"models", "mcp"}, Help: "tool names: models (accepted by every model API: letters, digits, _ and -, up to 64 characters) or mcp (all that the protocol allows: dots too, up to 128)"},
			{Name: "rename", source: func(o *SourceOptions) any { return &o.Rename }, Help: "tool name of an operation, as SELECTOR=NAME; selectors as for --include (repeatable)"},
			{Name: "set-description", source: func(o *SourceOptions) any { return &o.SetDescription }, Help: "description of matching operations, as SELECTOR=TEXT (repeatable)"},
			{Name: "param-rename", source: func(o *SourceOptions) any { return &o.ParamRename }, Help: "name of an argument, as '[SELECTOR ]PARAMETER=NAME'; without SELECTOR in all operations (repeatable)"},
			{Name: "param-description", source: func(o *SourceOptions) any { return &o.ParamDescription }, Help: "description of an argument, as '[SELECTOR ]PARAMETER=TEXT' (repeatable)"},
			{Name: "param-const", source: func(o *SourceOptions) any { return &o.ParamConst }, secret: noSecretArgument, Help: "always send this value and remove the argument, as '[SELECTOR ]PARAMETER=VALUE', JSON or text (repeatable)"},
			{Name: "param-hide", source: func(o *SourceOptions) any { return &o.ParamHide }, Help: "remove an optional argument, as '[SELECTOR ]PARAMETER' (repeatable)"},
			{Name: "mcp-header", source: func(o *SourceOptions) any { return &o.MCPHeader }, single: true, Help: "have clients repeat an argument in the header Mcp-Param-NAME, for gateways that route by it, as TOOL.ARG=NAME or TOOL=ARG=NAME,ARG=NAME (repeatable)"},
		}),
		group("Results", []Setting{
			{Name: "policy", source: func(o *SourceOptions) any { return &o.Policy }, Values: []string{"enforce", "repair", "warn", "off"}, Help: "how to handle responses that violate their schema: enforce, repair, warn or off (default warn); TOOL=POLICY for single tools (repeatable)"},
			{Name: "envelope", source: func(o *SourceOptions) any { return &o.Envelope }, Values: []string{"openapi-mcp", "flowmcp", "native"}, Help: "format of structuredContent: openapi-mcp, flowmcp or native (default: depends on the kind of description); TOOL=ENVELOPE for single tools (repeatable)"},
			{Name: "fields", source: func(o *SourceOptions) any { return &o.Fields }, Values: []string{"on", "off"}, Help: "on: callers can request parts of a result with the argument fields; off (default); TOOL=on for single tools (repeatable)"},
			{Name: "select", source: func(o *SourceOptions) any { return &o.Select }, single: true, Help: "return only these parts of a tool's results, as TOOL=PATH,PATH: items[].id,total (repeatable)"},
			{Name: "jq", source: func(o *SourceOptions) any { return &o.JQ }, single: true, check: checkJQ, Help: "transform a tool's results with this jq filter, as TOOL=FILTER, after --select (repeatable)"},
			{Name: "jq-schema", source: func(o *SourceOptions) any { return &o.JQSchema }, single: true, rebase: config.Beside, Help: "JSON Schema of the filter's output, as TOOL=FILE (default: inferred, published as advice) (repeatable)"},
			{Name: "max-result-bytes", source: func(o *SourceOptions) any { return &o.MaxResultBytes }, check: checkBytes, Help: "bytes of a result's value and text copy together; larger results are split into parts that each validate (default: 204800 for the openapi-mcp envelope; -1: no limit); TOOL=BYTES for single tools (repeatable)"},
			{Name: "follow-pages", source: func(o *SourceOptions) any { return &o.FollowPages }, Help: "join up to this many pages of a paginated list of an OpenAPI document: by links and cursors, and by page numbers if a total or has_more confirms them (0: none)"},
			{Name: "flush-interval", source: func(o *SourceOptions) any { return &o.FlushInterval }, signed: true, def: 5 * time.Second, Help: "return the items of a stream (NDJSON, server-sent events) that arrived within this time; negative: wait for its end"},
			{Name: "max-input-schema", source: func(o *SourceOptions) any { return &o.MaxInputSchema }, signed: true, Help: "bytes of a published input schema; larger ones are relaxed (0: 32768, -1: no limit)"},
			{Name: "max-output-schema", source: func(o *SourceOptions) any { return &o.MaxOutputSchema }, signed: true, Help: "bytes of a published output schema; larger ones are relaxed (0: 16384, -1: no limit)"},
		}),
	)
}
