module github.com/tenon-mcp/tenon/.ci/conformance

go 1.26.0

require github.com/tenon-mcp/tenon v0.0.0

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/tenon-mcp/tenon => ../..
