// Package suggest finds similar names for an unknown name: of a tool, a key of
// the config, a member of a response.
//
// It does not know what the names mean, nor how the suggestion is phrased. It
// is beside the path of a call: whatever rejects a name calls it.
package suggest

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompared is how many bytes of a name are compared letter by letter.
const maxCompared = 64

// Near returns at most the given number of names that are similar to wish,
// ignoring case: first those with at most a quarter of the letters wrong, the
// most similar first, then those that contain wish, in their order. An empty
// wish is similar to nothing.
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

// distance returns how many letters are to be changed, added, removed or
// swapped with the next one to turn a into b; allowed+1 if there are more.
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
