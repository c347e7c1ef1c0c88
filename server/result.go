package server

import "github.com/tenon-mcp/tenon"

// AppendResult appends r as the result object of tools/call, in the form of
// the revisions before 2026-07-28, which adds members of its own. It is for
// who shows results without a client.
func AppendResult(dst []byte, r *tenon.Result) []byte {
	a := answer{buf: dst}
	a.open(&request{era: legacy}, r.Meta)
	a.callResult(r, "")
	a.write("}")
	return a.flat()
}
