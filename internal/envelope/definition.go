package envelope

import (
	"encoding/json"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Definition is a tool as clients list it.
type Definition struct {
	Name, Title, Description string
	Input, Output            []byte // schemas; nil output: none is published
	Meta                     []byte // JSON object; anything else is left out

	// The annotations of MCP; nil ones are left out.
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// JSON writes the tool's object for tools/list.
func (d *Definition) JSON() []byte {
	const rest = 256 // bytes of keys and annotations
	dst := make([]byte, 0, rest+len(d.Name)+len(d.Title)+len(d.Description)*9/8+len(d.Input)+len(d.Output)+len(d.Meta))
	dst = append(dst, `{"name":`...)
	dst = rawjson.AppendString(dst, d.Name)
	if d.Title != "" {
		dst = append(dst, `,"title":`...)
		dst = rawjson.AppendString(dst, d.Title)
	}
	if d.Description != "" {
		dst = append(dst, `,"description":`...)
		dst = rawjson.AppendString(dst, d.Description)
	}
	dst = append(dst, `,"inputSchema":`...)
	dst = append(dst, d.Input...)
	if d.Output != nil {
		dst = append(dst, `,"outputSchema":`...)
		dst = append(dst, d.Output...)
	}
	dst = d.appendHints(dst)
	if json.Valid(d.Meta) {
		dst = append(dst, `,"_meta":`...)
		dst = append(dst, d.Meta...)
	}
	return append(dst, '}')
}

func (d *Definition) appendHints(dst []byte) []byte {
	hints := []struct {
		name string
		set  *bool
	}{
		{"readOnlyHint", d.ReadOnly},
		{"destructiveHint", d.Destructive},
		{"idempotentHint", d.Idempotent},
		{"openWorldHint", d.OpenWorld},
	}
	var list []byte
	for _, hint := range hints {
		if hint.set != nil {
			list = append(list, `,"`+hint.name+`":`...)
			list = strconv.AppendBool(list, *hint.set)
		}
	}
	if list == nil {
		return dst
	}
	dst = append(dst, `,"annotations":{`...)
	dst = append(dst, list[1:]...)
	return append(dst, '}')
}
