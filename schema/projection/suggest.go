package projection

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// The bounds of [SuggestMembers]. The cost depends on them and on the size of the
// schema, never on how many members of a value are unknown.
const (
	maxUnknown      = 5       // unknown members that are considered
	maxSuggestions  = 3       // suggestions for each
	maxCandidates   = 64      // candidates before duplicates are dropped
	maxSearchDepth  = 3       // levels searched below an object of the value
	maxSearchNodes  = 4000    // schemas visited in all
	maxSearchSchema = 1 << 20 // bytes of the document
	minSimilarName  = 3       // shortest name that is compared by similarity, in bytes
	maxSearchName   = 256     // longest name that is considered, in bytes
)

// SuggestMembers returns which declared members match unknown members
// of a value. The keys are JSON Pointers of unknown members; the values are
// JSON Pointers, the most likely one first, to members of the same object with
// a similar name, or of the same name in an object below, beside or around it.
// Only the first few unknown members are considered. A document that is not a
// schema declares nothing.
func SuggestMembers(doc []byte, unknown []string) map[string][]string {
	if len(unknown) == 0 || len(doc) > maxSearchSchema {
		return nil
	}
	tape, err := rawjson.Parse(doc)
	if err != nil {
		return nil
	}
	g := memberSearch{Locations: schemadoc.FindLocations(tape), left: maxSearchNodes}
	suggested := map[string][]string{}
	for _, at := range unknown[:min(len(unknown), maxUnknown)] {
		if places := g.suggestions(at); places != nil {
			suggested[at] = places
		}
	}
	return suggested
}

// memberSearch searches for declared members.
type memberSearch struct {
	*schemadoc.Locations
	left int // schemas that may still be visited
}

// objectLocation is an object of a value with the schemas that apply to it.
type objectLocation struct {
	pointer string
	level   level
}

func (g *memberSearch) object(pointer string, at []rawjson.Node) objectLocation {
	s := objectLocation{pointer, levelOf(g.Locations, at)}
	g.left -= len(s.level.all) + 1
	return s
}

func (g *memberSearch) suggestions(pointer string) []string {
	if pointer == "" || strings.Count(pointer, "/") > 32 {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	name := plainToken(tokens[len(tokens)-1])
	if name == "" || len(name) > maxSearchName || isIndex(name) {
		return nil
	}
	around := g.path(tokens[:len(tokens)-1])
	if around == nil {
		return nil
	}
	own := around[len(around)-1]
	if own.declares(name) {
		return nil // it is declared, and invalid for another reason
	}
	names := own.level.names()
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return []string{own.member(n)}
		}
	}
	for _, s := range slices.Backward(around) {
		if places := g.named(s, name); places != nil {
			return places
		}
	}
	if len(name) < minSimilarName {
		return nil
	}
	near := suggest.Near(name, names, maxSuggestions)
	places := make([]string, 0, maxSuggestions)
	for _, n := range near {
		places = append(places, own.member(n))
	}
	if len(places) > 0 {
		return places
	}
	return g.searchBelow(own, func(s objectLocation) []string {
		var all []string
		for _, n := range suggest.Near(name, s.level.names(), maxSuggestions) {
			all = append(all, s.member(n))
		}
		return all
	}, 1)
}

// path returns the spots from the value itself down to the object at the
// tokens; nil: the schema has no such path.
func (g *memberSearch) path(tokens []string) []objectLocation {
	all := []objectLocation{g.object("", []rawjson.Node{g.Doc.Root()})}
	for _, raw := range tokens {
		from := all[len(all)-1]
		at := from.level.step(token{name: plainToken(raw)})
		if isIndex(raw) {
			at = append(at, from.level.items()...)
		}
		if len(at) == 0 || g.left <= 0 {
			return nil
		}
		all = append(all, g.object(from.pointer+"/"+raw, at))
	}
	return all
}

// named returns the locations of that name in s and the objects below it.
func (g *memberSearch) named(s objectLocation, name string) []string {
	if s.declares(name) {
		return []string{s.member(name)}
	}
	return g.searchBelow(s, func(s objectLocation) []string {
		if !s.declares(name) {
			return nil
		}
		return []string{s.member(name)}
	}, maxSearchDepth)
}

// searchBelow returns the results of find for the objects below s: for those of the
// least depth that has any.
func (g *memberSearch) searchBelow(s objectLocation, find func(objectLocation) []string, depth int) (found []string) {
	for level := []objectLocation{s}; depth > 0 && found == nil && len(level) > 0; depth-- {
		var next []objectLocation
		for _, s := range level {
			for name, at := range s.members() {
				if g.left <= 0 || len(found) >= maxCandidates {
					break
				}
				inner := g.object(s.member(name), []rawjson.Node{at})
				found = append(found, find(inner)...)
				next = append(next, inner)
			}
		}
		level = next
	}
	slices.Sort(found) // branches of a union may declare the same
	found = slices.Compact(found)
	return found[:min(len(found), maxSuggestions)]
}

func (s objectLocation) member(name string) string {
	return string(rawjson.AppendToken([]byte(s.pointer), name))
}

// declares reports whether a member of that name is declared.
func (s objectLocation) declares(name string) bool {
	return slices.ContainsFunc(s.level.all, func(n rawjson.Node) bool {
		return s.level.Doc.Get(s.level.Doc.Get(n, "properties"), name) != rawjson.None
	})
}

// members yields the declared members and their schemas.
func (s objectLocation) members() func(yield func(string, rawjson.Node) bool) {
	return func(yield func(string, rawjson.Node) bool) {
		doc := s.level.Doc
		for _, n := range s.level.all {
			for c := doc.First(doc.Get(n, "properties")); c != rawjson.None; c = doc.Next(c) {
				if !yield(doc.Key(c), c) {
					return
				}
			}
		}
	}
}

// plainToken unescapes a reference token of a JSON Pointer.
func plainToken(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
}

// isIndex reports whether a token may be that of an item.
func isIndex(token string) bool { return strings.Trim(token, "0123456789") == "" }
