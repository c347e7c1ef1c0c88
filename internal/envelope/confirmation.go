package envelope

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Confirmation is a request to confirm a call before it is executed.
type Confirmation struct {
	Message string // the effect of the call
	Action  string // kind of effect, for programs
}

// JSON is the structure of the request.
func (c *Confirmation) JSON() []byte {
	dst := []byte(`{"OutputFormat":"structured","OutputType":"json","type":"confirmation_request","confirmation_required":true,"message":`)
	dst = rawjson.AppendString(dst, c.Message)
	dst = append(dst, `,"action":`...)
	return append(rawjson.AppendString(dst, c.Action), '}')
}

// FlowMCP is the request in the envelope flowmcp: a failure with a number, and the members of the confirmation structure
// beside it, so that clients of either page find what they expect.
func (c *Confirmation) FlowMCP(number int, tool string) []byte {
	dst := rawjson.AppendString([]byte(`{"status":false,"messages":[`), numbered(number, tool, c.Message))
	return append(append(dst, `],"data":null,`...), c.JSON()[1:]...)
}
