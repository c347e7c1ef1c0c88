// Package suggest finds what somebody may have meant who wrote a name that
// there is not: a tool, a key of the config, a member of an answer.
//
// It does not know what the names stand for, nor how the question is put. It
// stands beside the path of a call: whoever refuses a name asks it.
package suggest

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompared is how many bytes of a name are compared letter by letter.
const maxCompared = 64

// Near returns at most the given number of names that are like wish, whatever
// their case: first those with a quarter of the letters wrong or fewer, the
// most alike first, then those of which wish is a part, as they stand. An empty wish
// is like nothing.
func Near(wish string, names []string, most int) []string {
	if wish == "" {
		return nil
	}
	wish = strings.ToLower(wish)
	allowed := (min(len(wish), maxCompared) + 3) / 4
	wrong := map[string]int{}
	var near []string
	for _, name := range names {
		lower := strings.ToLower(name)
		n := distance(wish, lower, allowed)
		if n <= allowed || strings.Contains(lower, wish) {
			wrong[name] = n
			near = append(near, name)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(wrong[a], wrong[b]) })
	return near[:min(len(near), most)]
}

// distance is how many letters are to be changed, added, taken away or swapped
// with the next one to make b of a; allowed+1 stands for all that is more.
func distance(a, b string, allowed int) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	if len(a)-len(b) > allowed || len(b)-len(a) > allowed {
		return allowed + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return min(row[len(b)], allowed+1)
}
