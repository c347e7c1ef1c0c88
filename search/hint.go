package search

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// Bounds of a hint.
const (
	maxUnknown     = 3  // words
	maxUnknownWord = 40 // bytes of one
	maxAlike       = 2  // words that are spelled like one
)

// hint tells which words of a query no tool has, where those are half of the
// query or more: a name in a question is none, a slip of the pen is.
func (x *index) hint(query string) string {
	var unknown []string
	terms := x.read(query)
	for _, t := range terms {
		if t.asked != "" && !isFiller(t.asked) && !x.known(t) {
			unknown = append(unknown, t.asked)
		}
	}
	if len(unknown) == 0 || 2*len(unknown) < len(terms) {
		return ""
	}
	unknown = unknown[:min(len(unknown), maxUnknown)]
	for i, w := range unknown {
		w = envelope.Excerpt([]byte(w), maxUnknownWord)
		unknown[i] = strconv.Quote(w)
		if near := suggest.Near(w, x.vocabulary, maxAlike); near != nil {
			unknown[i] += " (did you mean " + strings.Join(near, " or ") + "?)"
		}
	}
	return "no tool has the word " + strings.Join(unknown, ", ")
}

// known tells whether a tool has one of a term's stems.
func (x *index) known(t term) bool {
	for stem := range t.stems {
		if x.postings[stem] != nil {
			return true
		}
	}
	return false
}
