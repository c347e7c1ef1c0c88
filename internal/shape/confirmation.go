package shape

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
