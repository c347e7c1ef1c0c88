package search

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// splitter splits texts into stems and remembers them: a catalog has few words
// many times.
type splitter map[string]string

// words splits a text into stems, without those that say nothing.
func (s splitter) words(text string) []string {
	var out []string
	for word := range words(text) {
		if w := s.stem(word); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// set is the stems of a text without repetition.
func (s splitter) set(text string) []string { return distinct(s.words(text)) }

func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// words are the words of a text as they stand there. Names are split where a
// small letter meets a capital, so that listPullRequests has three.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, small := -1, false // where the word began, whether its last letter is a small one
		for i, r := range text {
			none := isNoLetter(r)
			if start >= 0 && (none || small && unicode.IsUpper(r)) {
				if !yield(text[start:i]) {
					return
				}
				start = -1
			}
			if start < 0 && !none {
				start = i
			}
			small = unicode.IsLower(r)
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// stem is empty for a word that says nothing.
func (s splitter) stem(word string) string {
	stemmed, known := s[word]
	if !known {
		if lower := strings.ToLower(word); !isCommon(lower) {
			stemmed = stem(lower)
		}
		s[word] = stemmed
	}
	return stemmed
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// isCommon tells the words that say nothing about what a tool does.
func isCommon(w string) bool {
	switch w {
	case "a", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for", "from",
		"has", "have", "how", "if", "in", "into", "is", "it", "its", "like", "may", "must", "no", "not", "of", "on", "onto", "or",
		"our", "please", "s", "should", "so", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
		"to", "want", "was", "we", "were", "will", "with", "would", "you", "your",
		"already", "another", "currently", "different", "exist", "exists", "immediately", "just", "later", "more", "now", "other", "some", "soon", "still":
		return true
	}
	return false
}

// stem takes the endings of English words away, so far that those of one verb
// or noun are equal. What is left need not be a word.
func stem(w string) string {
	if len(w) <= 3 {
		return strings.TrimSuffix(w, "'")
	}
	for _, r := range endings() {
		if rest, ok := strings.CutSuffix(w, r.from); ok && len(rest) >= r.least {
			w = rest + r.to
			break
		}
	}
	n := len(w)
	switch {
	case n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])):
		w = w[:n-1] // stopped, stop
	case n > 3 && w[n-1] == 'e':
		w = w[:n-1] // created, create
	}
	return w
}

// ending is one way in which a word ends; the first that fits is taken away.
type ending struct {
	from, to string
	least    int // letters that must be left before it
}

func endings() []ending {
	return []ending{
		{"izations", "iz", 4},
		{"ization", "iz", 4},
		{"isations", "iz", 4},
		{"isation", "iz", 4},
		{"sses", "ss", 1},
		{"ies", "y", 2},
		{"ied", "y", 2},
		{"ations", "at", 3},
		{"ation", "at", 3},
		{"ings", "", 3},
		{"ing", "", 3},
		{"eed", "eed", 1},
		{"ed", "", 3},
		{"ss", "ss", 1},
		{"us", "us", 1},
		{"is", "is", 1},
		{"es", "e", 3},
		{"s", "", 3},
		{"ly", "", 4},
	}
}

// root takes the ending off a stem that makes another kind of word of it:
// contributor and contribute have one root.
func root(w string) string {
	for _, end := range [...]string{"ement", "ment", "ition", "ion", "at", "or", "er", "al", "anc", "enc", "iv", "abl", "ity", "e"} {
		if r, ok := strings.CutSuffix(w, end); ok && len(r) >= 4 {
			if n := len(r); r[n-1] == r[n-2] {
				r = r[:n-1]
			}
			return r
		}
	}
	return w
}
