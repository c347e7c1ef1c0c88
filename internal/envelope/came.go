package envelope

import (
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Within returns the first items of a list that fit into limit bytes, and how
// many are left out; nil: none fits, or data is not a list. 0: no limit.
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

// CameDetails is {"received":…,"data":…} of an interrupted stream: the number of
// items received, and the items that are shown.
func CameDetails(items int, data []byte) []byte {
	dst := strconv.AppendInt([]byte(`{"received":`), int64(items), 10)
	return append(append(append(dst, `,"data":`...), data...), '}')
}
