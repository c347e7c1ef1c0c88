package envelope

import "github.com/tenon-mcp/tenon/schema"

// Divide splits a value into parts within the limit, except for pieces that
// cannot be split. The text copy takes half of the limit, and more where it is
// indented: then the parts are made smaller, but never smaller than the members
// that every part repeats.
func Divide(against *schema.Schema, value []byte, limit int, sends func(part []byte) int) (best *schema.Split) {
	size, tooSmall, fewest := min(max(limit/2, 1), len(value)-1), 0, 0
	tooLarge := size
	for range 12 {
		cut := against.Split(value, size)
		if cut == nil && best == nil {
			return nil
		}
		if cut == nil {
			tooSmall = size
			size = (tooSmall + tooLarge) / 2
			continue
		}
		over, next := above(cut, value, size, limit, sends)
		if best == nil || over < fewest {
			best, fewest = cut, over
		}
		if over == 0 || size-tooSmall < 2 {
			return best
		}
		tooLarge = size
		if size = next; size <= tooSmall {
			size = (tooSmall + tooLarge) / 2
		}
	}
	return best
}

// above returns how many parts exceed the limit although they are within
// target, and the target at which they would not: each byte of a part is sent at least
// twice. A part that is larger than target cannot be split.
func above(cut *schema.Split, value []byte, target, limit int, sends func(part []byte) int) (over, next int) {
	var part []byte
	next = target - 1
	for i := range cut.Parts {
		size := cut.Size(value, i)
		if size > target {
			continue
		}
		part = cut.AppendPart(part[:0], value, i)
		if n := sends(part); n > limit {
			over++
			next = min(next, size-(n-limit+1)/2) // any target from size on leaves it as it is
		}
	}
	return over, next
}
