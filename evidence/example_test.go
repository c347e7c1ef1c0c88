package evidence_test

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/evidence"
)

// The ledgers of two machines, one of which has an older copy of the other's.
func ExampleLedger_Merge() {
	const first = `{"tenon":"evidence","version":1}
{"writer":"00000000000000aa","schema":"0123456789abcdef01234567","operation":"getBook","status":"200","calls":60,"fits":60}
`
	const second = `{"tenon":"evidence","version":1}
{"writer":"00000000000000aa","schema":"0123456789abcdef01234567","operation":"getBook","status":"200","calls":20,"fits":20}
{"writer":"00000000000000bb","schema":"0123456789abcdef01234567","operation":"getBook","status":"200","calls":3,"fits":2,"violated":1}
`
	l := evidence.New()
	for _, text := range []string{first, second, first} {
		one, err := evidence.Read(strings.NewReader(text))
		if err != nil {
			fmt.Println(err)
			return
		}
		l.Merge(one)
	}
	for k, c := range l.Sum() {
		fmt.Printf("%s %s: %d calls, %d fit\n", k.Operation, k.Status, c.Calls, c.Fits)
	}
	// Output:
	// getBook 200: 63 calls, 62 fit
}
