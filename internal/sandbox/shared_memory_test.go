package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestBodiesOfEverySize: a body comes as it was given whatever way it takes,
// and nothing of a longer one before it is left.
func TestBodiesOfEverySize(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1})
	ends := program(`export const f = (args, body) => [body.length, body.slice(0, 8), body.slice(-8)]`)
	last := program(`export const f = (args, body) => [body.length, '', body[body.length - 1].n]`)
	for i, size := range []int{
		sandbox.RoomSize + 1, sandbox.RoomSize, sandbox.RoomSize - 1, 1 << 20, sandbox.LeastInRoom + 1, sandbox.LeastInRoom, sandbox.LeastInRoom - 1,
		sandbox.RoomSize, 3, sandbox.LeastInRoom,
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

// TestRoomWithinItsBounds: who speaks of more than the room, or of a room
// where there is none, gets nothing.
func TestRoomWithinItsBounds(t *testing.T) {
	room := []byte("12345678")
	for size, want := range map[string]string{"0": "", "3": "123", "8": "12345678"} {
		if got, err := sandbox.InRoom(room, size); err != nil || string(got) != want {
			t.Errorf("%s bytes are %q, %v", size, got, err)
		}
	}
	for _, size := range []string{"9", "-1", "x", "", "99999999999999999999"} {
		if got, err := sandbox.InRoom(room, size); err == nil {
			t.Errorf("%q bytes are %q", size, got)
		}
	}
	if got, err := sandbox.InRoom(nil, "1"); err == nil {
		t.Errorf("without a room a byte is %q", got)
	}
}
