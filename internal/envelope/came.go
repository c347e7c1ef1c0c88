package envelope

import (
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Within is a list with as many of its first items as fit into limit bytes, and
// how many are left out; nil: none fits, or data is no list. Without a limit
// all of it fits.
func Within(data []byte, limit int) (list []byte, left int) {
	if limit <= 0 || len(data) <= limit {
		return data, 0
	}
	doc, err := rawjson.Parse(data)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Array {
		return nil, 0
	}
	list = []byte{'['}
	kept := 0
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		item := doc.Raw(n)
		if len(list)+len(item)+1 > limit {
			break
		}
		if kept > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
		kept++
	}
	if kept == 0 {
		return nil, 0
	}
	return append(list, ']'), doc.Len(doc.Root()) - kept
}

// CameDetails is {"received":…,"data":…} of a stream that broke off: how many
// items came, and what is shown of them.
func CameDetails(items int, data []byte) []byte {
	dst := strconv.AppendInt([]byte(`{"received":`), int64(items), 10)
	return append(append(append(dst, `,"data":`...), data...), '}')
}
