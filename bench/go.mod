module github.com/tenon-mcp/tenon/bench

go 1.26.0

require github.com/tenon-mcp/tenon v0.0.0

replace github.com/tenon-mcp/tenon => ../
