package schema

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// finding is a violation before its place has a name.
type finding struct {
	at       int // where the value begins
	keyword  string
	expected string
	missing  bool // nothing is there
}

// note keeps a violation if the run collects them. It answers false, so that
// callers can return it.
func (r *run) note(at int, keyword, expected string) bool {
	if r.collect && r.stop == 0 {
		r.found = append(r.found, finding{at: at, keyword: keyword, expected: expected})
		if len(r.found) >= maxViolations {
			r.stop = full
		}
	}
	return false
}

// doubt notes that it is open whether the value at a place fits.
func (r *run) doubt(at int, keyword, expected string) {
	r.open = true
	if r.collect && len(r.doubts) < maxViolations {
		r.doubts = append(r.doubts, finding{at: at, keyword: keyword, expected: expected})
	}
}

const hangsOnPattern = "what hangs on a pattern that cannot be run: not checked"

// words say what a pattern that cannot be run asks for.
func (m *matcher) words() string {
	return cut(matching(m.source), maxExpected-len(notRun)) + notRun
}

const notRun = " (not checked: it cannot be run)"

func (r *run) noteMissing(at int, name string) {
	if r.collect && r.stop == 0 {
		r.note(at, "required", member(name))
		r.found[len(r.found)-1].missing = true
	}
}

// account answers what is wrong with a value that does not fit. It runs once
// more and collects.
func (r *run) account(root *node) []Violation {
	if v := checkSyntax(r.b); v != nil {
		return v
	}
	if r.stop == limit {
		return tooMuch()
	}
	r.found = r.found[:0]
	r.reset(r.b, true)
	r.value(root)
	if len(r.found) == 0 {
		return tooMuch()
	}
	return r.violations(r.found)
}

// unjudged answers where it is open whether a value fits that breaks nothing else.
func (r *run) unjudged(root *node) []Violation {
	r.doubts = r.doubts[:0]
	r.reset(r.b, true)
	r.value(root)
	if len(r.doubts) == 0 {
		return []Violation{{Keyword: "pattern", Expected: hangsOnPattern, Got: excerpt(r.b)}}
	}
	return r.violations(r.doubts)
}

// violations gives findings their places, in the order of the value.
func (r *run) violations(found []finding) []Violation {
	doc, err := rawjson.Parse(r.b)
	if err != nil {
		return tooMuch() // cannot be: the syntax was checked
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.at, b.at) })
	p := placer{doc: doc, found: found, seen: make(map[Violation]struct{}, len(found))}
	p.visit(doc.Root(), nil)
	return p.placed
}

// placer goes once over a document and gives offsets their pointers.
type placer struct {
	doc    *rawjson.Doc
	found  []finding // by offset; those that are placed are cut off
	placed []Violation
	seen   map[Violation]struct{}
}

func (p *placer) visit(n rawjson.Node, path []byte) {
	for len(p.found) > 0 && p.found[0].at <= p.doc.Offset(n) {
		p.place(p.found[0], n, path)
		p.found = p.found[1:]
	}
	object := p.doc.Kind(n) == rawjson.Object
	index := 0
	for c := p.doc.First(n); c != rawjson.None && len(p.found) > 0; index++ {
		next := p.doc.Next(c)
		if next == rawjson.None || p.found[0].at < p.doc.Offset(next) {
			if p.found[0].at >= p.doc.Offset(n)+len(p.doc.Raw(n)) {
				return // behind this container
			}
			p.visit(c, p.token(path, c, object, index))
		}
		c = next
	}
}

func (p *placer) token(path []byte, c rawjson.Node, object bool, index int) []byte {
	if object {
		return appendToken(path, p.doc.Key(c))
	}
	return strconv.AppendInt(append(path, '/'), int64(index), 10)
}

func (p *placer) place(f finding, n rawjson.Node, path []byte) {
	v := Violation{Path: string(path), Keyword: f.keyword, Expected: cut(f.expected, maxExpected), Got: nothing}
	if !f.missing {
		v.Got = excerpt(p.doc.Raw(n))
	}
	if _, twice := p.seen[v]; !twice {
		p.seen[v] = struct{}{}
		p.placed = append(p.placed, v)
	}
}
