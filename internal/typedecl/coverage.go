package typedecl

import "strconv"

// Coverage is how much of the data of a tool its schema describes. A site is a place
// for a value: the data itself, each member, element and value of a map, and those of
// definitions once for each tool.
type Coverage struct {
	Exact  int // sites whose type is known
	Record int // maps: the names are open, the type of the values is known
	Blob   int // any value, objects and lists of which nothing is said

	Blobs []string // the first of them: data.items[].meta
}

// Bounds of what is counted of a tool.
const (
	maxSites = 100_000 // what is beyond is not counted
	maxBlobs = 20      // that are named
)

// Sites is the number of sites.
func (c *Coverage) Sites() int { return c.Exact + c.Record + c.Blob }

// Coverage returns that of each tool, in their order. A tool that declares no data has
// one blob.
func (s *Set) Coverage() []Coverage {
	all := make([]Coverage, len(s.tools))
	for i, f := range s.briefly().functions {
		w := coverageWalk{c: &all[i], seen: map[*named]bool{}}
		if f.data != nil {
			w.site(f.data, "data")
		} else {
			w.count(blob, "data")
		}
	}
	return all
}

// knowledge is how much of a value a type tells.
type knowledge uint8

const (
	blob knowledge = iota
	record
	exact
)

type coverageWalk struct {
	c    *Coverage
	seen map[*named]bool
}

func (w *coverageWalk) count(k knowledge, at string) {
	switch k {
	case exact:
		w.c.Exact++
	case record:
		w.c.Record++
	case blob:
		if w.c.Blob++; len(w.c.Blobs) < maxBlobs {
			w.c.Blobs = append(w.c.Blobs, at)
		}
	}
}

// site counts the place of a type, and those below it.
func (w *coverageWalk) site(t *Type, at string) {
	w.count(known(t, 0), at)
	w.below(t, at)
}

// known is what a type tells of a value itself: of its alternatives the least, of parts
// that all hold the most.
func known(t *Type, depth int) knowledge {
	if depth > maxHops {
		return exact // a type that refers to nothing but itself has no values
	}
	least := exact
	for i := range t.alts {
		a := &t.alts[i]
		k := exact
		switch a.form {
		case anyForm:
			k = blob
		case objectForm:
			switch {
			case a.object.isPlain(), len(a.object.members) == 0 && a.object.index != nil && a.object.index.isAny():
				k = blob
			case len(a.object.members) == 0 && a.object.index != nil:
				k = record
			}
		case namedForm:
			if a.named.typ != nil {
				k = known(a.named.typ, depth+1)
			}
		case bothForm:
			k = blob
			for _, part := range a.parts {
				k = max(k, known(part, depth+1))
			}
		case nullForm, boolForm, integerForm, numberForm, stringForm, literalForm, arrayForm:
		}
		least = min(least, k)
	}
	return least
}

// maxHops bounds a chain of references.
const maxHops = 64

// below counts the places in the values of a type.
func (w *coverageWalk) below(t *Type, at string) {
	if w.c.Sites() > maxSites {
		return
	}
	for i := range t.alts {
		a := &t.alts[i]
		w.within(a, at)
		if a.named != nil && a.named.typ != nil && !w.seen[a.named] {
			w.seen[a.named] = true
			w.below(a.named.typ, at)
		}
		for _, part := range a.parts {
			w.below(part, at)
		}
	}
}

// within counts the elements and members of an alternative.
func (w *coverageWalk) within(a *alternative, at string) {
	if a.array != nil {
		for j, p := range a.array.prefix {
			w.site(p, at+"["+strconv.Itoa(j)+"]")
		}
		if a.array.rest != nil {
			w.site(a.array.rest, at+"[]")
		}
	}
	if a.object == nil {
		return
	}
	for j := range a.object.members {
		w.site(a.object.members[j].typ, at+"."+a.object.members[j].name)
	}
	if a.object.index != nil && !a.object.index.isAny() {
		w.site(a.object.index, at+".*")
	}
}
