package search

import (
	"slices"
	"strings"
)

// How much a word counts, in parts of one that was asked for itself.
const (
	kinWeight     = 0.8  // of one of the same root
	contextWeight = 0.75 // of what somebody has rather than wants: "in this project"
	synonymWeight = 0.7  // of one that stands for it
	fillerWeight  = 0.3  // of one that says little: "my", "which"
)

const contextWords = 2 // that follow on "this" and the like

// term is one thing that was asked for: the stems that mean it, with weights.
type term struct {
	asked  string // as it stands in the query; empty: it follows from another
	weight float64
	stems  map[string]float64
}

func newTerm(asked string, weight float64) term { return term{asked, weight, map[string]float64{}} }

func (t term) add(weight float64, stems ...string) {
	for _, s := range stems {
		t.stems[s] = max(t.stems[s], weight)
	}
}

// read makes the terms of a query.
func (x *index) read(query string) []term {
	raw := slices.Collect(words(nameValues(query)))
	stems := make([]string, len(raw))
	for i, w := range raw {
		raw[i] = strings.ToLower(w)
		stems[i] = stem(raw[i])
	}
	var terms []term
	used := make([]bool, len(stems)) // as a part of a phrase
	context := 0                     // words for which a demonstrative still counts
	for i, w := range stems {
		context--
		if isDemonstrative(raw[i]) {
			context = contextWords
		}
		if used[i] {
			continue
		}
		if m, at := x.synonyms.phraseAt(stems, i); at != nil {
			for _, n := range at {
				used[n] = true
			}
			t := newTerm("", 1)
			t.add(1, m.stems...)
			terms = append(terms, t)
			terms = appendTerm(terms, 1, m.also)
			continue
		}
		weight := 1.0
		switch {
		case isFiller(raw[i]):
			weight = fillerWeight
		case isCommon(raw[i]) || slices.Contains(stems[:i], w):
			continue
		case context > 0:
			weight = contextWeight
		}
		terms = append(terms, x.termsOf(raw[i], weight)...)
	}
	return terms
}

// termsOf makes the terms of one word.
func (x *index) termsOf(word string, weight float64) []term {
	w := stem(word)
	m := x.synonyms.words[w]
	t := newTerm(word, weight)
	t.add(synonymWeight, m.stems...)
	t.add(kinWeight, x.kin[root(w)]...)
	t.add(1, w)
	if rest, ok := strings.CutPrefix(w, "un"); ok && len(rest) > 2 && m.stems == nil && x.postings[rest] != nil {
		t.add(kinWeight, rest) // to unpin may be to remove a pin
		m.also = []string{stem("remove"), stem("delete")}
	}
	return appendTerm([]term{t}, weight, m.also)
}

func appendTerm(terms []term, weight float64, stems []string) []term {
	if stems == nil {
		return terms
	}
	t := newTerm("", weight)
	t.add(1, stems...)
	return append(terms, t)
}

func isDemonstrative(w string) bool {
	return w == "this" || w == "our" || w == "my" || w == "your" || w == "its"
}

// isFiller tells the words that say little, and yet something.
func isFiller(w string) bool {
	switch w {
	case "my", "i", "me", "mine", "who", "what", "which", "all":
		return true
	}
	return false
}

// nameValues puts what they are in the place of values that somebody gives: an
// address, a version, a path. A number is nothing to look for.
func nameValues(query string) string {
	tokens := strings.Fields(query)
	for i, token := range tokens {
		tokens[i] = nameValue(strings.Trim(token, `.,;:?!()"'#`))
	}
	return strings.Join(tokens, " ")
}

func nameValue(token string) string {
	name, extension, dotted := cutLast(token, ".")
	number := strings.Trim(token, "v.0123456789") == "" && strings.ContainsAny(token, "0123456789")
	switch {
	case strings.Contains(token, "://"):
		return "url"
	case dotted && strings.Contains(name, "@"):
		return "email"
	case number && strings.Count(token, ".") == 3:
		return "ip"
	case number && dotted:
		return "version"
	case number && token[0] != 'v':
		return ""
	case dotted && (extension == "com" || extension == "org" || extension == "net"):
		return "domain"
	case dotted && len(name) > 1 && len(extension) <= 4 && strings.Trim(extension, "abcdefghijklmnopqrstuvwxyz") == "":
		return "file"
	}
	return token
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
