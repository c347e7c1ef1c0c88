package search

import (
	"slices"
	"strings"
)

const (
	kinWeight     = 0.8 // of a word that stands for the one that was asked
	contextWeight = 0.5 // of what somebody has rather than wants: "in this project"
	contextWords  = 2
	phraseWords   = 4
)

// term is one thing that was asked for: the stems that mean it, with weights.
type term map[string]float64

// read makes the terms of a query.
func (x *index) read(query string) []term {
	var terms []term
	raw := strings.FieldsFunc(strings.ToLower(query), isNoLetter)
	stems := make([]string, len(raw))
	for i, w := range raw {
		stems[i] = stem(w)
	}
	context := 0 // words for which a demonstrative still counts
	for i, w := range stems {
		if near := demonstrates(raw[i]); near {
			context = contextWords
		}
		context--
		if at, kin := x.phrase(stems, i); kin != nil {
			stems[at] = "" // used
			terms = append(terms, x.weigh("", kin, 1))
			continue
		}
		if w == "" || isCommon(w) || slices.Contains(stems[:i], w) {
			continue
		}
		weight := 1.0
		if context > 0 {
			weight = contextWeight
		}
		terms = append(terms, x.weigh(w, x.kin[w], weight))
	}
	if w := wishOf(query).word(); w != "" {
		terms = append(terms, term{stem(w): wishWeight})
	}
	return terms
}

func demonstrates(w string) bool {
	return w == "this" || w == "our" || w == "my" || w == "your" || w == "its"
}

// phrase looks for two words that mean something together, such as "turn it
// off": the one at i and one of the next.
func (x *index) phrase(stems []string, i int) (at int, kin []string) {
	for at = i + 1; at < len(stems) && at <= i+phraseWords; at++ {
		if kin = x.kin[stems[i]+" "+stems[at]]; kin != nil {
			return at, kin
		}
	}
	return 0, nil
}

func (x *index) weigh(w string, kin []string, weight float64) term {
	t := term{}
	for _, k := range kin {
		t[k] = kinWeight * weight
	}
	if w != "" {
		t[w] = weight
	}
	return t
}
