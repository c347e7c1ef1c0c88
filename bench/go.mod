module github.com/tenon-mcp/tenon/bench

go 1.26.0

require github.com/tenon-mcp/tenon v0.0.0

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/tenon-mcp/tenon => ../
