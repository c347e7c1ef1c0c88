package search

import (
	"slices"
	"strings"
)

// Weights of words, relative to a word of the query.
const (
	sameRootWeight = 0.8  // same root
	contextWeight  = 0.75 // context and not a goal: "in this project"
	synonymWeight  = 0.7  // synonym
	fillerWeight   = 0.3  // little meaning: "my", "which"
)

const contextWords = 2 // number of words after "this" and the like

// term is one word or phrase of a query: the stems that match it, with weights.
type term struct {
	word   string // as in the query; empty: derived from another term
	weight float64
	stems  map[string]float64
}

func newTerm(asked string, weight float64) term { return term{asked, weight, map[string]float64{}} }

func (t term) add(weight float64, stems ...string) {
	for _, s := range stems {
		t.stems[s] = max(t.stems[s], weight)
	}
}

// read splits a query into terms.
func (x *index) read(query string) []term {
	raw := slices.Collect(words(nameValues(query)))
	stems := make([]string, len(raw))
	for i, w := range raw {
		raw[i] = strings.ToLower(w)
		stems[i] = stem(raw[i])
	}
	var terms []term
	used := make([]bool, len(stems)) // part of a phrase
	context := 0                     // remaining words after a demonstrative
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

// termsOf returns the terms of one word.
func (x *index) termsOf(word string, weight float64) []term {
	w := stem(word)
	m := x.synonyms.words[w]
	t := newTerm(word, weight)
	t.add(synonymWeight, m.stems...)
	t.add(sameRootWeight, x.sameRoot[root(w)]...)
	t.add(1, w)
	if rest, ok := strings.CutPrefix(w, "un"); ok && len(rest) > 2 && m.stems == nil && x.postings[rest] != nil {
		t.add(sameRootWeight, rest) // to unpin may be to remove a pin
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

// isFiller reports whether a word has little meaning, but some.
func isFiller(w string) bool {
	switch w {
	case "my", "i", "me", "mine", "who", "what", "which", "all":
		return true
	}
	return false
}

// nameValues replaces values, such as an address, a version or a path, by their
// kind. Numbers are removed.
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
