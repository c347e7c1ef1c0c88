package clients

// Tokenizer is the name of what counts tokens.
const Tokenizer = "estimate of o200k_base"

// Tokens is about how many tokens a text takes. The vocabulary of a tokenizer
// weighs megabytes; this one counts the pieces into which o200k_base cuts a text
// before it looks them up, and adds a token for what of a piece is long. Decision
// 127 has how near that comes.
func Tokens[T ~string | ~[]byte](text T) int {
	n := 0
	for i := 0; i < len(text); {
		var end int
		switch c := classOf(text[i]); c {
		case lower, upper:
			end = wordEnd(text, i)
			n += 1 + (end-i-1)/longWord
		case digit:
			for end = i; end < len(text) && end < i+3 && classOf(text[end]) == digit; end++ {
			}
			n++
		case other:
			for end = i; end < len(text) && classOf(text[end]) == other; end++ {
			}
			n += (end - i + 2) / 3 // letters of other scripts
		case space, mark:
			for end = i; end < len(text) && classOf(text[end]) == c; end++ {
			}
			// One sign before a word belongs to the word.
			if single := end == i+1 && end < len(text) && classOf(text[end]) <= upper; !single {
				n += 1 + (end-i-1)/longRun
			}
		}
		i = end
	}
	return n
}

const (
	longWord = 11 // letters of a word that is one token
	longRun  = 3  // signs in a row that are one token
)

type class uint8

const (
	lower class = iota
	upper
	digit
	space
	mark
	other
)

func classOf(c byte) class {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		return space
	case c >= 0x80:
		return other
	}
	return mark
}

// wordEnd is where a word ends: capitals and then small letters.
func wordEnd[T ~string | ~[]byte](text T, i int) int {
	for i < len(text) && classOf(text[i]) == upper {
		i++
	}
	for i < len(text) && classOf(text[i]) == lower {
		i++
	}
	return i
}
