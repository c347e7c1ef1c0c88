package search

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
)

// synonymTable is described by the comments in it.
//
//go:embed synonyms.txt
var synonymTable string

// synonyms are words with the same meaning, as stems.
type synonyms struct {
	words   map[string]meaning
	phrases map[string][]phrase // by their first word, the longest first
}

// meaning is what a word of a query may also match.
type meaning struct {
	stems []string
	also  []string // a second term: "unsubscribe" is to cancel, and about a subscription
}

// phrase is two or three words with a meaning of their own.
type phrase struct {
	words []string
	meaning
}

func readSynonyms(table string) synonyms {
	all := map[string]meaning{}
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "#")
		left, right, directed := strings.Cut(line, ">")
		if !directed {
			right = left
		}
		right, second, _ := strings.Cut(right, "&")
		written, also := stemFields(right), stemFields(second)
		for _, asked := range stemFields(left) {
			m := all[asked]
			for _, w := range written {
				if w != asked && !strings.Contains(w, " ") { // phrases match only in queries
					m.stems = append(m.stems, w)
				}
			}
			m.also = append(m.also, also...)
			all[asked] = m
		}
	}
	s := synonyms{words: map[string]meaning{}, phrases: map[string][]phrase{}}
	for asked, m := range all {
		if list := strings.Fields(asked); len(list) > 1 {
			s.phrases[list[0]] = append(s.phrases[list[0]], phrase{list, m})
		} else {
			s.words[asked] = m
		}
	}
	for _, list := range s.phrases {
		slices.SortFunc(list, func(a, b phrase) int {
			return cmp.Or(cmp.Compare(len(b.words), len(a.words)), slices.Compare(a.words, b.words))
		})
	}
	return s
}

// stemFields returns the words of a list as stems, those of a phrase separated
// by spaces.
func stemFields(list string) []string {
	names := strings.Fields(list)
	for i, name := range names {
		parts := strings.Split(name, "+")
		for j := range parts {
			parts[j] = stem(parts[j])
		}
		names[i] = strings.Join(parts, " ")
	}
	return names
}

// phraseGap is the maximum distance between words of a phrase: "turn it all
// off".
const phraseGap = 3

// phraseAt returns the longest phrase that starts at stems[i] and the positions
// of its words, or nil.
func (s synonyms) phraseAt(stems []string, i int) (m meaning, at []int) {
	for _, p := range s.phrases[stems[i]] {
		at = []int{i}
		for _, w := range p.words[1:] {
			last := at[len(at)-1] + 1
			n := slices.Index(stems[last:min(len(stems), last+phraseGap)], w)
			if n < 0 {
				break
			}
			at = append(at, last+n)
		}
		if len(at) == len(p.words) {
			return p.meaning, at
		}
	}
	return meaning{}, nil
}
