package schema

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// The bounds of [Meant]: what it costs hangs on them and on the size of the
// schema, never on how much of a value is unknown.
const (
	maxMeantPaths  = 5       // unknown members that are looked into
	maxMeant       = 3       // places for each
	maxFound       = 64      // places that are found before doubles are left out
	maxMeantDepth  = 3       // objects below one that the value has
	maxMeantNodes  = 4000    // schemas that are looked at, for all of them
	maxMeantSchema = 1 << 20 // bytes of the document
	minGuessed     = 3       // bytes of a name that letters may be wrong in
	maxGuessed     = 256     // bytes of a name that is looked for at all
)

// Meant answers for unknown members of a value, by their JSON Pointers, which
// places the schema declares that may have been meant: members of the same
// object that are spelled alike, or members of that name in an object below,
// beside or around it. They are JSON Pointers, the most likely one first. Only
// the first few members are looked into. A document that is no schema declares
// nothing.
func Meant(doc []byte, unknown []string) map[string][]string {
	if len(unknown) == 0 || len(doc) > maxMeantSchema {
		return nil
	}
	tape, err := rawjson.Parse(doc)
	if err != nil {
		return nil
	}
	g := guesser{sites: findSites(tape), left: maxMeantNodes}
	meant := map[string][]string{}
	for _, at := range unknown[:min(len(unknown), maxMeantPaths)] {
		if places := g.places(at); places != nil {
			meant[at] = places
		}
	}
	return meant
}

// guesser looks for the places that were meant.
type guesser struct {
	*sites
	left int // schemas that may still be looked at
}

// spot is an object of a value, and what the schema says about it.
type spot struct {
	pointer string
	level   level
}

func (g *guesser) spot(pointer string, at []rawjson.Node) spot {
	s := spot{pointer, g.level(at)}
	g.left -= len(s.level.all) + 1
	return s
}

func (g *guesser) places(pointer string) []string {
	if pointer == "" || strings.Count(pointer, "/") > 32 {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	name := plainToken(tokens[len(tokens)-1])
	if name == "" || len(name) > maxGuessed || isIndex(name) {
		return nil
	}
	around := g.path(tokens[:len(tokens)-1])
	if around == nil {
		return nil
	}
	own := around[len(around)-1]
	if own.declares(name) {
		return nil // it is known, and refused for another reason
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
	if len(name) < minGuessed {
		return nil
	}
	near := suggest.Near(name, names, maxMeant)
	places := make([]string, 0, maxMeant)
	for _, n := range near {
		places = append(places, own.member(n))
	}
	if len(places) > 0 {
		return places
	}
	return g.below(own, func(s spot) []string {
		var all []string
		for _, n := range suggest.Near(name, s.level.names(), maxMeant) {
			all = append(all, s.member(n))
		}
		return all
	}, 1)
}

// path is the spots from the value itself down to the object at the tokens;
// nil: the schema does not lead there.
func (g *guesser) path(tokens []string) []spot {
	all := []spot{g.spot("", []rawjson.Node{g.doc.Root()})}
	for _, raw := range tokens {
		from := all[len(all)-1]
		at := from.level.step(token{name: plainToken(raw)})
		if isIndex(raw) {
			at = append(at, from.level.items()...)
		}
		if len(at) == 0 || g.left <= 0 {
			return nil
		}
		all = append(all, g.spot(from.pointer+"/"+raw, at))
	}
	return all
}

// named are the places of that name in s and the objects below it.
func (g *guesser) named(s spot, name string) []string {
	if s.declares(name) {
		return []string{s.member(name)}
	}
	return g.below(s, func(s spot) []string {
		if !s.declares(name) {
			return nil
		}
		return []string{s.member(name)}
	}, maxMeantDepth)
}

// below is what find finds in the objects below s: in those of the least depth
// that have something.
func (g *guesser) below(s spot, find func(spot) []string, depth int) (found []string) {
	for level := []spot{s}; depth > 0 && found == nil && len(level) > 0; depth-- {
		var next []spot
		for _, s := range level {
			for name, at := range s.members() {
				if g.left <= 0 || len(found) >= maxFound {
					break
				}
				inner := g.spot(s.member(name), []rawjson.Node{at})
				found = append(found, find(inner)...)
				next = append(next, inner)
			}
		}
		level = next
	}
	slices.Sort(found) // branches of a union may declare the same
	found = slices.Compact(found)
	return found[:min(len(found), maxMeant)]
}

func (s spot) member(name string) string { return string(appendToken([]byte(s.pointer), name)) }

// declares reports whether a member of that name is spoken of.
func (s spot) declares(name string) bool {
	return slices.ContainsFunc(s.level.all, func(n rawjson.Node) bool {
		return s.level.doc.Get(s.level.doc.Get(n, "properties"), name) != rawjson.None
	})
}

// members are the members that are declared, each with a schema.
func (s spot) members() func(yield func(string, rawjson.Node) bool) {
	return func(yield func(string, rawjson.Node) bool) {
		doc := s.level.doc
		for _, n := range s.level.all {
			for c := doc.First(doc.Get(n, "properties")); c != rawjson.None; c = doc.Next(c) {
				if !yield(doc.Key(c), c) {
					return
				}
			}
		}
	}
}

// plainToken is a reference token of a JSON Pointer without its escapes.
func plainToken(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
}

// isIndex reports whether a token may be that of an item.
func isIndex(token string) bool { return strings.Trim(token, "0123456789") == "" }
