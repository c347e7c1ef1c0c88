module github.com/tenon-mcp/tenon/.ci/types

go 1.26.0

require (
	github.com/gofrs/uuid/v5 v5.5.1
	github.com/google/uuid v1.6.0
	github.com/shopspring/decimal v1.6.0
	github.com/tenon-mcp/tenon v0.0.0
)

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/tenon-mcp/tenon => ../..
