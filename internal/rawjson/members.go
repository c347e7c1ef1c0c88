package rawjson

import "iter"

// Member is where a member of an object stands.
type Member struct {
	Key        []byte // as the source has it: with escapes, without quotes
	Start      int    // of the key's quote
	Value, End int    // the value
}

// Members yields the members of object, which is known to be JSON and begins
// with its brace. Nothing is made of what is in them, which is several times
// quicker than [Parse]. In anything else the places mean nothing, but lie in
// it.
func Members(object []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for i := 1; i < len(object); {
			if object[i] != '"' { // white space, a comma or the end
				i++
				continue
			}
			m := Member{Start: i}
			m.Value = textEnd(object, i)
			m.Key = object[i+1 : max(i+1, m.Value-1)]
			for m.Value < len(object) && (object[m.Value] <= ' ' || object[m.Value] == ':') {
				m.Value++
			}
			m.End = valueEnd(object, m.Value)
			if !yield(m) {
				return
			}
			i = m.End
		}
	}
}

// valueEnd answers where the value at src[i] ends.
func valueEnd(src []byte, i int) int {
	if i < len(src) && src[i] == '[' {
		return closingEnd(src, i, '[', ']')
	}
	return leafEnd(src, i)
}
