package evidence

import (
	"regexp"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Undeclared is the Keyword of members that no schema describes, nor forbids. Their names
// are kept only where the operator wants to learn them, and of these only those that
// several callers met: what one of them sees could be about that one.

// Undeclared is such a keyword.
const Undeclared = "undeclared"

const (
	learnedResponses = 3
	learnedSubjects  = 2
	maxLearning      = 10_000 // names in memory
)

// memberName is what members are called, and values are not: no address, number or id.
var memberName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_-]*[0-9]{0,2}[A-Za-z_-]*$`)

const maxMemberName = 40

func isMemberName(name string) bool {
	return len(name) <= maxMemberName && memberName.MatchString(name)
}

// undeclared is a member of an object that has declared members, too.
type undeclared struct {
	pointer string // of the object's schema
	name    string
	kind    string
}

// objects are those of a value; nil: nobody wants to know.
type objects struct {
	doc *rawjson.Doc
	at  map[rawjson.Node]*object
}

type object struct {
	pointer  string // of the first schema that describes it
	declared map[string]bool
	free     bool // its further members are described, or it has no declared ones: their names can be data
}

func (o *objects) enter(value rawjson.Node, pointer string) {
	if o != nil && o.doc.Kind(value) == rawjson.Object && o.at[value] == nil {
		o.at[value] = &object{pointer: pointer, declared: map[string]bool{}}
	}
}

// declare notes what a schema says of the members of a value.
func (o *objects) declare(d *rawjson.Doc, schema, value rawjson.Node) {
	if o == nil || o.at[value] == nil {
		return
	}
	at := o.at[value]
	for _, keyword := range []string{"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"} {
		at.free = at.free || d.Get(schema, keyword) != rawjson.None
	}
	properties := d.Get(schema, "properties")
	for m := d.First(properties); m != rawjson.None && d.Kind(properties) == rawjson.Object; m = d.Next(m) {
		at.declared[d.Key(m)] = true
	}
}

func (o *objects) tell(names func(undeclared)) {
	if o == nil {
		return
	}
	for value, at := range o.at {
		if at.free || len(at.declared) == 0 {
			continue
		}
		for m := o.doc.First(value); m != rawjson.None; m = o.doc.Next(m) {
			if name := o.doc.Key(m); !at.declared[name] && isMemberName(name) {
				names(undeclared{at.pointer, strings.Clone(name), kindName(o.doc, m)})
			}
		}
	}
}

// kindName is the type of a value in words of JSON Schema.
func kindName(d *rawjson.Doc, n rawjson.Node) string {
	switch d.Kind(n) {
	case rawjson.Object:
		return "object"
	case rawjson.Array:
		return "array"
	case rawjson.String:
		return "string"
	case rawjson.Number:
		return "number"
	case rawjson.Bool:
		return "boolean"
	}
	return "null"
}

// learning is what is known of a name that is not kept yet.
type learning struct {
	responses int64
	subjects  [learnedSubjects]uint64 // digests; 0: none
}

// learned counts one response, and returns how many are to be added to what is kept.
func (l *learning) learned(subject uint64) int64 {
	known := l.known()
	for i, s := range l.subjects {
		if s == subject {
			break
		}
		if s == 0 {
			l.subjects[i] = subject
			break
		}
	}
	l.responses++
	switch {
	case known:
		return 1
	case l.known():
		return l.responses
	}
	return 0
}

func (l *learning) known() bool {
	return l.responses >= learnedResponses && l.subjects[learnedSubjects-1] != 0
}
