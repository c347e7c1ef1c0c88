package rawjson_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// What looks like structure and stands in a string costs no memory.
func TestStringsReserveLittle(t *testing.T) {
	const size = 4 << 20
	objects := strings.Repeat(`{"a":[1,2]},`, 2000)
	for name, src := range map[string]string{
		"commas":                    `"` + strings.Repeat(",", size) + `"`,
		"braces":                    `{"a":"` + strings.Repeat("{", size) + `"}`,
		"brackets in a key":         `{"` + strings.Repeat("[", size) + `":1}`,
		"commas behind real values": `[` + objects + `"` + strings.Repeat(",", size) + `"]`,
		"what looks like members":   `{"a":"` + strings.Repeat(`},\"b\":`, size/8) + `"}`,
		"a string in the middle":    `[` + objects + `"` + strings.Repeat("[,", size/2) + `",` + objects + `1]`,
	} {
		t.Run(name, func(t *testing.T) {
			for way, parse := range map[string]func([]byte) (*rawjson.Doc, error){
				"plain": rawjson.Parse, "strict": rawjson.ParseStrict,
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := parse([]byte(src))
				runtime.ReadMemStats(&after)
				if err != nil {
					t.Fatal(err)
				}
				used := after.TotalAlloc - before.TotalAlloc - uint64(len(src)) // the copy of src
				if used > 3*uint64(len(src)) {
					t.Errorf("%s: %d bytes allocated for %d bytes of JSON", way, used, len(src))
				}
			}
		})
	}
}

// Documents with more nodes than were reserved are read anyway.
func TestNodesGrow(t *testing.T) {
	for name, src := range map[string]string{
		"dense":            `[` + strings.Repeat(`1,`, 300_000) + `1]`,
		"dense at the end": `["` + strings.Repeat(`a`, 500_000) + `",` + strings.Repeat(`[],`, 100_000) + `{}]`,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := rawjson.Parse([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Len(d.Root()); got < 100_000 || string(d.Raw(d.Root())) != src {
				t.Errorf("got %d items", got)
			}
		})
	}
}
