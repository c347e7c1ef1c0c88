package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// text is what an index knows of one tool.
type text struct {
	name, title, words, body string
	effect                   effect
	past                     bool // nobody should use it any more
}

// The constants of BM25F (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009) and of what is done to its scores.
const (
	saturation = 1.1
	pastFactor = 0.7  // of tools that nobody should use any more
	wishWeight = 0.35 // of the word for what is wished to be done
	bareTitle  = 0.45 // of a tool of whose title nothing was asked
)

// part is one part of a text: how much a word in it counts, and how much less
// in a long one.
type part struct {
	text         func(*text) string
	weight, bias float64
}

func parts() []part {
	return []part{
		{func(t *text) string { return t.name }, 2.2, 0.5},
		{func(t *text) string { return t.title }, 2.6, 0.6},
		{func(t *text) string { return t.words }, 1.2, 0.6},
		{func(t *text) string { return t.body }, 1.0, 0.7},
	}
}

// posting is one tool in which a stem occurs, with its weighted frequency.
type posting struct {
	tool int32
	freq float32
}

// index finds tools by words.
type index struct {
	texts    []text // without the texts themselves
	titles   [][]string
	postings map[string][]posting
	kin      map[string][]string
}

func newIndex(texts []text) *index {
	x := &index{texts: make([]text, len(texts)), postings: map[string][]posting{}, kin: kinship()}
	counts := make([]map[string]float64, len(texts))
	split := splitter{}
	for _, p := range parts() {
		lists := make([][]string, len(texts))
		total := 0
		for i := range texts {
			lists[i] = split.words(p.text(&texts[i]))
			total += len(lists[i])
		}
		mean := max(1, float64(total)/float64(max(1, len(texts))))
		for i, list := range lists {
			if counts[i] == nil {
				counts[i] = map[string]float64{}
			}
			norm := 1 - p.bias + p.bias*float64(len(list))/mean
			for _, w := range list {
				counts[i][w] += p.weight / norm
			}
		}
	}
	for i, c := range counts {
		x.titles = append(x.titles, split.words(or(texts[i].title, texts[i].name)))
		x.texts[i] = text{effect: texts[i].effect, past: texts[i].past}
		for w, f := range c {
			x.postings[w] = append(x.postings[w], posting{int32(i), float32(f)})
		}
	}
	return x
}

// hit is a tool that was found.
type hit struct {
	tool  int
	score float64
}

// find returns the tools that have to do with the query, the best first.
func (x *index) find(query string) []hit {
	scores := map[int]float64{}
	asked := term{}
	for _, t := range x.read(query) {
		for tool, s := range x.term(t) {
			scores[tool] += s
		}
		for stem, weight := range t {
			asked[stem] = max(asked[stem], min(1, weight/kinWeight))
		}
	}
	wish := wishOf(query)
	hits := make([]hit, 0, len(scores))
	for tool, s := range scores {
		s *= fits(wish, x.texts[tool].effect) * (bareTitle + (1-bareTitle)*x.covered(x.titles[tool], asked))
		if x.texts[tool].past {
			s *= pastFactor
		}
		hits = append(hits, hit{tool, s})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool, b.tool))
	})
	return hits
}

// term scores the tools in which one of the term's stems occurs. The best of
// them counts, not their sum.
func (x *index) term(t term) map[int]float64 {
	best := map[int]float64{}
	for stem, weight := range t {
		idf := x.rarity(stem)
		for _, p := range x.postings[stem] {
			f := float64(p.freq)
			best[int(p.tool)] = max(best[int(p.tool)], weight*idf*f*(saturation+1)/(f+saturation))
		}
	}
	return best
}

// covered is how much of a title was asked for: a tool that does just that is
// a better answer than one that does it to something more special.
func (x *index) covered(title []string, asked term) float64 {
	got, all := 0.0, 0.0
	for _, stem := range title {
		r := x.rarity(stem)
		all += r
		got += r * asked[stem]
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// rarity is high for a stem that few tools have.
func (x *index) rarity(stem string) float64 {
	n := float64(len(x.postings[stem]))
	return math.Log(1 + (float64(len(x.texts))-n+0.5)/(n+0.5))
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// isPast tells from the texts of a tool whether it is on its way out.
func isPast(title, body string) bool {
	title, body = strings.ToLower(title), strings.ToLower(body)
	return strings.Contains(title, "legacy") || strings.Contains(title, "closing down") || strings.HasPrefix(body, "deprecated")
}
