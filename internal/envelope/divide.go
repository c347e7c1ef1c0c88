package envelope

import "github.com/tenon-mcp/tenon/schema"

// Divide finds parts of which no more is sent than the limit allows, wherever
// what cannot be divided lets it. The text copy has half of the limit, and where
// it is indented, more: then the parts are made smaller, but not so small that
// there is no room for what stands in all of them.
func Divide(against *schema.Schema, value []byte, limit int, sends func(part []byte) int) (best *schema.Split) {
	room, tooSmall, fewest := min(max(limit/2, 1), len(value)-1), 0, 0
	tooLarge := room
	for range 12 {
		cut := against.Split(value, room)
		if cut == nil && best == nil {
			return nil
		}
		if cut == nil {
			tooSmall = room
			room = (tooSmall + tooLarge) / 2
			continue
		}
		over, next := above(cut, value, room, limit, sends)
		if best == nil || over < fewest {
			best, fewest = cut, over
		}
		if over == 0 || room-tooSmall < 2 {
			return best
		}
		tooLarge = room
		if room = next; room <= tooSmall {
			room = (tooSmall + tooLarge) / 2
		}
	}
	return best
}

// above tells how many parts of a cut send more than the limit although they
// have room, and the room in which they would not: each byte of a part is sent
// twice at least. A part that is larger than its room cannot be divided.
func above(cut *schema.Split, value []byte, room, limit int, sends func(part []byte) int) (over, next int) {
	var part []byte
	next = room - 1
	for i := range cut.Parts {
		size := cut.Size(value, i)
		if size > room {
			continue
		}
		part = cut.AppendPart(part[:0], value, i)
		if n := sends(part); n > limit {
			over++
			next = min(next, size-(n-limit+1)/2)
		}
	}
	return over, next
}
