package rawjson

import "iter"

// Member is the position of a member in an object.
type Member struct {
	Key        []byte // as in the source: with escapes, without quotes
	Start      int    // of the key's quote
	Value, End int    // the value
}

// Members yields the members of object, which is known to be JSON and begins
// with its brace. Values are not parsed, which is several times faster than
// [Parse]. For other input the positions are meaningless, but within it, and it ends early.
func Members(object []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for i := 1; i < len(object); {
			if object[i] != '"' { // white space, a comma or the end
				i++
				continue
			}
			m := Member{Start: i}
			if m.Value = TextEnd(object, i); m.Value < 0 {
				return
			}
			m.Key = object[i+1 : max(i+1, m.Value-1)]
			for m.Value < len(object) && (object[m.Value] <= ' ' || object[m.Value] == ':') {
				m.Value++
			}
			if m.End = ValueEnd(object, m.Value); m.End < 0 || !yield(m) {
				return
			}
			i = m.End
		}
	}
}

// Elements yields the values in list, which is known to be JSON and begins with
// its bracket. They are not parsed, as in [Members].
func Elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 1; i < len(list); {
			switch list[i] {
			case ']', ',', ' ', '\t', '\n', '\r':
				i++
				continue
			}
			end := ValueEnd(list, i)
			if end < 0 || !yield(list[i:end:end]) {
				return
			}
			i = end
		}
	}
}
