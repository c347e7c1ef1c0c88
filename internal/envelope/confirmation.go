package envelope

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Confirmation asks for consent before a call does its work.
type Confirmation struct {
	Message string // what would happen
	Action  string // its kind, for programs
}

// JSON is the structure of the request.
func (c *Confirmation) JSON() []byte {
	dst := []byte(`{"OutputFormat":"structured","OutputType":"json","type":"confirmation_request","confirmation_required":true,"message":`)
	dst = rawjson.AppendString(dst, c.Message)
	dst = append(dst, `,"action":`...)
	return append(rawjson.AppendString(dst, c.Action), '}')
}

// FlowMCP is the request in the envelope of the flowmcp shape: a failure with
// the number of calls that are not permitted, which has the members of the
// structure beside it, so that clients of either page find theirs.
func (c *Confirmation) FlowMCP(tool string) []byte {
	dst := rawjson.AppendString([]byte(`{"status":false,"messages":[`), "E007 "+tool+": "+c.Message)
	return append(append(dst, `],"data":null,`...), c.JSON()[1:]...)
}
