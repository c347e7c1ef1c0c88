package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestBodiesOfEverySize: a body arrives unchanged however it is passed, without
// remains of a longer one before.
func TestBodiesOfEverySize(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1})
	ends := program(`export const f = (args, body) => [body.length, body.slice(0, 8), body.slice(-8)]`)
	last := program(`export const f = (args, body) => [body.length, '', body[body.length - 1].n]`)
	for i, size := range []int{
		sandbox.SharedSize + 1, sandbox.SharedSize, sandbox.SharedSize - 1, 1 << 20, sandbox.MinShared + 1, sandbox.MinShared, sandbox.MinShared - 1,
		sandbox.SharedSize, 3, sandbox.MinShared,
	} {
		text := strings.Repeat(string(rune('a'+i)), size)
		got, err := p.Run(t.Context(), ends, sandbox.Call{Function: "f", Args: []byte("{}"), Body: []byte(text)})
		if want := fmt.Sprintf(`[%d,"%.8s","%.8s"]`, size, text, text); err != nil || string(got) != want {
			t.Errorf("%d bytes of text: got %s, %v; want %s", size, got, err, want)
		}
		list := "[" + strings.Repeat(fmt.Sprintf(`{"n":%d},`, i), size/8) + fmt.Sprintf(`{"n":%d}]`, i)
		got, err = p.Run(t.Context(), last, sandbox.Call{Function: "f", Args: []byte("{}"), Body: []byte(list)})
		if want := fmt.Sprintf(`[%d,"",%d]`, size/8+1, i); err != nil || string(got) != want {
			t.Errorf("a list of %d bytes: got %s, %v; want %s", len(list), got, err, want)
		}
	}
}

// TestSharedMemoryBounds: who speaks of more than the shared, or of a shared
// where there is none, gets nothing.
func TestSharedMemoryBounds(t *testing.T) {
	shared := []byte("12345678")
	for size, want := range map[string]string{"0": "", "3": "123", "8": "12345678"} {
		if got, err := sandbox.SharedBody(shared, size); err != nil || string(got) != want {
			t.Errorf("%s bytes are %q, %v", size, got, err)
		}
	}
	for _, size := range []string{"9", "-1", "x", "", "99999999999999999999"} {
		if got, err := sandbox.SharedBody(shared, size); err == nil {
			t.Errorf("%q bytes are %q", size, got)
		}
	}
	if got, err := sandbox.SharedBody(nil, "1"); err == nil {
		t.Errorf("without a shared a byte is %q", got)
	}
}
