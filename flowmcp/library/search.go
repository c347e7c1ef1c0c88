package library

import (
	"slices"
	"strings"
	"unicode"
)

// Found is a match of Search.
type Found struct {
	Tool   ToolReport `json:"tool"`
	File   string     `json:"file"`
	Missed []string   `json:"missing,omitempty"` // unset server parameters
	Score  int        `json:"score"`
}

// Search returns the tools in reports that match every word of the query, best
// first: by names, namespaces, tags, schemas and descriptions.
func Search(reports []Report, query string, most int) []Found {
	words := strings.Fields(strings.ToLower(query))
	var all []Found
	for _, r := range reports {
		for _, t := range r.Tools {
			if score := scored(r, t, words); score > 0 {
				all = append(all, Found{Tool: t, File: r.File, Missed: r.Missing, Score: score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return b.Score - a.Score })
	return all[:min(len(all), most)]
}

// scored rates a tool; 0 where a word does not match.
func scored(r Report, t ToolReport, words []string) int {
	total := 0
	for _, w := range words {
		score := scoreOf(r, t, w)
		if score == 0 {
			return 0
		}
		total += score
	}
	return total
}

func scoreOf(r Report, t ToolReport, word string) int {
	_, route, _ := strings.Cut(t.ID, "::")
	name, score := strings.ToLower(t.Name), 0
	switch {
	case word == name || word == strings.ToLower(route) || word == strings.ToLower(t.ID):
		score += 100
	case slices.Contains(strings.Split(name, "_"), word):
		score += 15
	case strings.Contains(name, word):
		score += 8
	}
	if word == r.Namespace {
		score += 20
	}
	if slices.Contains(r.Tags, word) {
		score += 12
	}
	if strings.Contains(strings.ToLower(r.Name), word) {
		score += 8
	}
	text := strings.ToLower(t.Description + " " + r.Description)
	switch {
	case slices.Contains(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), word):
		score += 5
	case strings.Contains(text, word):
		score += 3
	}
	return score
}
