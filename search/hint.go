package search

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// Limits of a hint.
const (
	maxUnknown     = 3  // words
	maxUnknownWord = 40 // bytes of one
	maxSimilar     = 2  // similar words
)

// hint names the words of a query that occur in no tool, if they are at least
// half of the query: a typing error, not a name in a question.
func (x *index) hint(query string) string {
	var unknown []string
	terms := x.read(query)
	for _, t := range terms {
		if t.word != "" && !isFiller(t.word) && !x.known(t) {
			unknown = append(unknown, t.word)
		}
	}
	if len(unknown) == 0 || 2*len(unknown) < len(terms) {
		return ""
	}
	unknown = unknown[:min(len(unknown), maxUnknown)]
	for i, w := range unknown {
		w = envelope.Excerpt([]byte(w), maxUnknownWord)
		unknown[i] = strconv.Quote(w)
		if near := suggest.Near(w, x.vocabulary, maxSimilar); near != nil {
			unknown[i] += " (did you mean " + strings.Join(near, " or ") + "?)"
		}
	}
	return "not found in any tool: " + strings.Join(unknown, ", ")
}

// known reports whether a tool has one of a term's stems.
func (x *index) known(t term) bool {
	for stem := range t.stems {
		if x.postings[stem] != nil {
			return true
		}
	}
	return false
}
