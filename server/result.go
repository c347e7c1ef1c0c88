package server

import "github.com/tenon-mcp/tenon"

// AppendResult appends r as the result object of tools/call, in the form of
// the revisions before 2026-07-28, which adds members of its own.
func AppendResult(dst []byte, r *tenon.Result) []byte {
	a := answer{buf: append(dst, '{')}
	a.callResult(r)
	if meta := inside(r.Meta); len(meta) > 0 {
		a.member("_meta")
		a.buf = append(append(append(a.buf, '{'), meta...), '}')
	}
	return append(a.buf, '}')
}
