package search

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// splitter splits texts into stems and caches them: a catalog has few distinct
// words.
type splitter map[string]string

// words splits a text into stems, without common words.
func (s splitter) words(text string) []string {
	var out []string
	for word := range words(text) {
		if w := s.stem(word); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// set returns the distinct stems of a text.
func (s splitter) set(text string) []string { return distinct(s.words(text)) }

func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// words iterates over the words of a text, unchanged. Names are split where a
// small letter is followed by a capital, so that listPullRequests has three
// words.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, small := -1, false // start of the word, whether its last letter is small
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

// stem is empty for a common word.
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

// isCommon reports whether a word says nothing about what a tool does.
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

// stem removes endings of English words, so that the forms of one verb or noun
// become equal. The result need not be a word.
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

// ending is an ending of words; only the first that matches is replaced.
type ending struct {
	from, to string
	least    int // minimum length of the remainder
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

// root removes from a stem the ending that derives another word class:
// contributor and contribute have the same root.
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
