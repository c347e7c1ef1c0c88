package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// text is what the index contains about one tool.
type text struct {
	name, title, words, body string
	traits
}

// traits are properties of a tool besides its words.
type traits struct {
	intent     intent
	list       bool // it returns several things
	deprecated bool // deprecated
}

// The constants of BM25F (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009) and of the adjustments to its scores. Except for the first
// two, results hardly depend on their exact values.
const (
	uncovered        = 0.4  // of a tool whose title has no word of the query
	ownRarity        = 0.25 // weight of a word's own rarity, relative to that of all its synonyms
	saturation       = 1.0
	boilerplate      = 0.5  // share of descriptions above which a word is ignored
	leadFactor       = 0.8  // of a first sentence that matches, relative to a title
	singleFactor     = 0.85 // of tools that return one thing where several are wanted
	deprecatedFactor = 0.85 // of deprecated tools
)

// field is one part of a text: the weight of its words, and how much that
// decreases with its length.
type field struct {
	text         func(*text) string
	weight, bias float64
	prose        bool
}

func fields() []field {
	return []field{
		{func(t *text) string { return t.name }, 2.2, 0.5, false},
		{func(t *text) string { return t.title }, 2.6, 0.6, false},
		{func(t *text) string { return lead(t.body) }, 1.5, 0.6, false},
		{func(t *text) string { return t.words }, 1.2, 0.6, false},
		{func(t *text) string { return t.body }, 0.6, 0.7, true},
	}
}

// posting is a tool in which a stem occurs, with its weighted frequency.
type posting struct {
	tool int32
	freq float32
}

// index finds tools by words.
type index struct {
	traits        []traits
	titles, leads [][]string // for coverage
	postings      map[string][]posting
	sameRoot      map[string][]string // stems by their root
	synonyms      synonyms
	vocabulary    []string // unstemmed words
}

func newIndex(texts []text, words synonyms) *index {
	x := &index{postings: map[string][]posting{}, sameRoot: map[string][]string{}, synonyms: words}
	split := splitter{}
	for _, t := range texts {
		x.traits = append(x.traits, t.traits)
		x.titles = append(x.titles, split.set(cmp.Or(t.title, t.name)))
		x.leads = append(x.leads, split.set(lead(t.body)))
	}
	counts := make([]map[string]float32, len(texts))
	for i := range counts {
		counts[i] = map[string]float32{}
	}
	for _, f := range fields() {
		f.count(texts, split, counts)
	}
	for i, c := range counts {
		for w, f := range c {
			x.postings[w] = append(x.postings[w], posting{int32(i), f})
		}
	}
	for w := range x.postings {
		x.sameRoot[root(w)] = append(x.sameRoot[root(w)], w)
	}
	for word, stem := range split {
		if x.postings[stem] != nil && strings.ToLower(word) == word {
			x.vocabulary = append(x.vocabulary, word)
		}
	}
	slices.Sort(x.vocabulary)
	return x
}

// count adds the weighted frequencies of a field's words.
func (f *field) count(texts []text, split splitter, counts []map[string]float32) {
	lists, total := make([][]string, len(texts)), 0
	for i := range texts {
		lists[i] = split.words(f.text(&texts[i]))
	}
	if f.prose {
		dropBoilerplate(lists)
	}
	for _, list := range lists {
		total += len(list)
	}
	mean := max(1, float64(total)/float64(max(1, len(texts))))
	for i, list := range lists {
		norm := 1 - f.bias + f.bias*float64(len(list))/mean
		for _, w := range list {
			counts[i][w] += float32(f.weight / norm)
		}
	}
}

// dropBoilerplate removes words that occur in most of the texts.
func dropBoilerplate(lists [][]string) {
	in := map[string]int{} // number of texts per word
	for _, list := range lists {
		for _, w := range distinct(list) {
			in[w]++
		}
	}
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(w string) bool { return float64(in[w]) > boilerplate*float64(len(lists)) })
	}
}

// hit is a tool that was found.
type hit struct {
	tool  int
	score float64
}

// find returns the tools that match the query, best first.
func (x *index) find(query string) []hit {
	scores := make([]float64, len(x.traits))
	asked := map[string]float64{}
	for _, t := range x.read(query) {
		x.addScores(scores, t)
		for stem, weight := range t.stems {
			asked[stem] = max(asked[stem], weight*t.weight)
		}
	}
	want, list := intentOf(query), wantsList(query)
	var hits []hit
	for tool, s := range scores {
		if s == 0 {
			continue
		}
		t := x.traits[tool]
		covered := max(x.covered(x.titles[tool], asked), leadFactor*x.covered(x.leads[tool], asked))
		s *= intentFactor(want, t.intent) * (uncovered + (1-uncovered)*covered)
		if want == reads && t.intent == reads && list && !t.list {
			s *= singleFactor
		}
		if t.deprecated {
			s *= deprecatedFactor
		}
		hits = append(hits, hit{tool, s})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool, b.tool))
	})
	return hits
}

// addScores adds the scores of the tools in which a stem of the term occurs.
// The best stem counts, not the sum.
func (x *index) addScores(scores []float64, t term) {
	best, n := make([]float64, len(scores)), 0
	for stem := range t.stems {
		for _, p := range x.postings[stem] {
			if best[p.tool] == 0 {
				best[p.tool], n = math.SmallestNonzeroFloat64, n+1
			}
		}
	}
	rarity := x.rarity(n)
	for stem, weight := range t.stems {
		r := t.weight * weight * (ownRarity*x.rarity(len(x.postings[stem])) + (1-ownRarity)*rarity)
		for _, p := range x.postings[stem] {
			f := float64(p.freq)
			best[p.tool] = max(best[p.tool], r*f*(saturation+1)/(f+saturation))
		}
	}
	for tool, s := range best {
		scores[tool] += s
	}
}

// covered returns how much of a title the query covers: a tool for exactly that
// is better than one for a more special case.
func (x *index) covered(title []string, asked map[string]float64) float64 {
	got, all := 0.0, 0.0
	for _, stem := range title {
		r := x.rarity(len(x.postings[stem]))
		all += r
		got += r * asked[stem]
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// rarity is high for words of few tools.
func (x *index) rarity(tools int) float64 {
	n := float64(tools)
	return math.Log(1 + (float64(len(x.traits))-n+0.5)/(n+0.5))
}
