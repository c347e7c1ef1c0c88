package schema

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// pendingViolation is a violation at an offset, before its JSON Pointer is known.
type pendingViolation struct {
	at       int // where the value begins
	keyword  string
	expected string
	missing  bool // a member is absent
}

// note records a violation if the validation collects them. It returns false, so that
// callers can return it.
func (r *validation) note(at int, keyword, expected string) bool {
	if r.collect && r.Stop == 0 {
		r.found = append(r.found, pendingViolation{at: at, keyword: keyword, expected: expected})
		if len(r.found) >= maxViolations {
			r.Stop = full
		}
	}
	return false
}

// noteOpen records that it is unknown whether the value at an offset is valid.
func (r *validation) noteOpen(at int, keyword, expected string) {
	r.open = true
	if r.collect && len(r.foundOpen) < maxViolations {
		r.foundOpen = append(r.foundOpen, pendingViolation{at: at, keyword: keyword, expected: expected})
	}
}

const dependsOnPattern = "not checked: it depends on a pattern that cannot be run"

// words describes the requirement of a pattern that cannot be run.
func (m *matcher) words() string {
	return rawjson.Truncate(matching(m.source), maxExpected-len(notChecked)) + notChecked
}

const notChecked = " (not checked: it cannot be run)"

func (r *validation) noteMissing(at int, name string) {
	if r.collect && r.Stop == 0 {
		r.note(at, "required", member(name))
		r.found[len(r.found)-1].missing = true
	}
}

// collectViolations returns the violations of an invalid value. It runs once more and
// collects.
func (r *validation) collectViolations(root *node) []Violation {
	if v := checkSyntax(r.B); v != nil {
		return v
	}
	if r.Stop == limit {
		return limitViolation()
	}
	r.found = r.found[:0]
	r.reset(r.B, true)
	r.value(root)
	if len(r.found) == 0 {
		return limitViolation()
	}
	return r.violations(r.found)
}

// collectOpen returns where it is unknown whether a value without violations is
// valid.
func (r *validation) collectOpen(root *node) []Violation {
	r.foundOpen = r.foundOpen[:0]
	r.reset(r.B, true)
	r.value(root)
	if len(r.foundOpen) == 0 {
		return []Violation{{Keyword: "pattern", Expected: dependsOnPattern, Got: rawjson.Excerpt(r.B)}}
	}
	return r.violations(r.foundOpen)
}

// violations turns pending violations into violations, in document order.
func (r *validation) violations(found []pendingViolation) []Violation {
	doc, err := rawjson.Parse(r.B)
	if err != nil {
		return limitViolation() // unreachable: the syntax was checked
	}
	slices.SortStableFunc(found, func(a, b pendingViolation) int { return cmp.Compare(a.at, b.at) })
	p := locator{doc: doc, found: found, seen: make(map[Violation]struct{}, len(found))}
	p.visit(doc.Root(), nil)
	return p.violations
}

// locator computes the JSON Pointers of offsets in one pass over a document.
type locator struct {
	doc        *rawjson.Doc
	found      []pendingViolation // sorted by offset; done ones are cut off
	violations []Violation
	seen       map[Violation]struct{}
}

func (p *locator) visit(n rawjson.Node, path []byte) {
	for len(p.found) > 0 && p.found[0].at <= p.doc.Offset(n) {
		p.add(p.found[0], n, path)
		p.found = p.found[1:]
	}
	object := p.doc.Kind(n) == rawjson.Object
	index := 0
	for c := p.doc.First(n); c != rawjson.None && len(p.found) > 0; index++ {
		next := p.doc.Next(c)
		if next == rawjson.None || p.found[0].at < p.doc.Offset(next) {
			if p.found[0].at >= p.doc.Offset(n)+len(p.doc.Raw(n)) {
				return // after this container
			}
			p.visit(c, p.token(path, c, object, index))
		}
		c = next
	}
}

func (p *locator) token(path []byte, c rawjson.Node, object bool, index int) []byte {
	if object {
		return rawjson.AppendToken(path, p.doc.Key(c))
	}
	return strconv.AppendInt(append(path, '/'), int64(index), 10)
}

func (p *locator) add(f pendingViolation, n rawjson.Node, path []byte) {
	v := Violation{Path: string(path), Keyword: f.keyword, Expected: rawjson.Truncate(f.expected, maxExpected), Got: nothing}
	if !f.missing {
		v.Got = rawjson.Excerpt(p.doc.Raw(n))
	}
	if _, twice := p.seen[v]; !twice {
		p.seen[v] = struct{}{}
		p.violations = append(p.violations, v)
	}
}
