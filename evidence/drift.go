package evidence

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Described is an operation as its description has it now.
type Described struct {
	Operation

	Source string // name of the description: definitions of the same name in two are two
	Tool   string
	File   string // where it is described; empty: unknown
	Line   int

	DefinitionAt tenon.DefinitionAt // nil: nobody knows
}

// At is where the schema of a pointer is described, as far as that is known: a definition,
// or else the operation.
func (d *Described) At(pointer string) (file string, line int) {
	if d.DefinitionAt != nil {
		if at := d.DefinitionAt(pointer); at.File != "" {
			return at.File, at.Line
		}
	}
	return d.File, d.Line
}

// Drift is what responses were that their descriptions are not. One cause is one entry,
// however many operations share the definition.
type Drift struct {
	ID       string // the same as long as place, keyword and kind are
	Source   string
	Pointer  string // of the schema, in the document of each response; Rest: further places that are not told apart
	Keyword  string
	Declared string    // what the description says there
	Seen     string    // what came
	Count    int64     // responses that differ so
	First    time.Time // of these; zero: unknown
	Last     time.Time
	Places   []Place // in their order in the descriptions
}

// Place is an operation's response in which something was seen.
type Place struct {
	Described *Described
	Status    string
	MediaType string
	Count     int64 // responses that differ so
	Of        int64 // all that came
}

// Unseen is a declared response that never came.
type Unseen struct {
	Described *Described
	Status    string // empty with an empty MediaType: no response at all
	MediaType string
}

// Missing is a place of a schema that no response had of those that were looked into.
// One of a definition is there once, however many operations share it.
type Missing struct {
	Described *Described // the first operation whose responses came
	Status    string
	MediaType string
	Pointer   string // of the schema, as in Drift
}

// Learned is a member that came, and that no schema describes or forbids.
type Learned struct {
	Described *Described // the first operation that has it
	Status    string
	MediaType string
	Pointer   string // that its schema would have, as in Drift
	Kind      string
	Count     int64 // responses that had it
}

// Comparison is what a ledger knows of operations.
type Comparison struct {
	Drifts    []Drift // the most frequent first
	Unseen    []Unseen
	Tools     map[string]*Standing // of all operations, by Described.Tool
	Calls     int64                // responses of operations as they are described now
	Responses int                  // declared responses
	Came      int                  // declared responses that came
	Places    int                  // of the schemas of those that came and were looked into
	Missing   []Missing            // of Places
	Learned   []Learned            // what is not declared, the most frequent first
	Earlier   int                  // operations that are known by other schemas or another origin alone
}

// Standing is what is known of an operation.
type Standing struct {
	Calls, Fits, Violated int64
	Arguments             int64 // about how many different ones
	First, Last           time.Time
}

// Compare holds operations against what is known of exactly these: of the same schemas
// and the same origin.
func Compare(counts map[Key]*Counts, all []Described) *Comparison {
	x := comparison{Comparison: Comparison{Tools: map[string]*Standing{}}, byCause: map[cause]int{}, places: map[cause]bool{}, learned: map[cause]int{}}
	byOperation, names, done := map[Key][]Key{}, map[string]bool{}, map[Key]*Standing{}
	for _, k := range Keys(counts) {
		byOperation[k.ofOperation()] = append(byOperation[k.ofOperation()], k)
		names[k.Operation] = true
	}
	for i := range all {
		d := &all[i]
		of := Key{Schema: Digest(d.Responses), Origin: clip(d.Origin), Operation: clip(d.Name)}
		if s := done[of]; s != nil { // two tools of one operation
			x.Tools[d.Tool] = s
			continue
		}
		keys := byOperation[of]
		if keys == nil && names[clip(d.Name)] {
			x.Earlier++
		}
		x.operation(d, keys, counts)
		done[of] = x.Tools[d.Tool]
	}
	x.missing()
	slices.SortStableFunc(x.Learned, func(a, b Learned) int { return cmp.Compare(b.Count, a.Count) })
	slices.SortStableFunc(x.Drifts, func(a, b Drift) int { return cmp.Compare(b.Count, a.Count) })
	return &x.Comparison
}

type comparison struct {
	Comparison

	byCause map[cause]int  // index into Drifts
	places  map[cause]bool // whether they came
	looked  []Missing      // all of them, in their order
	learned map[cause]int  // index into Learned
}

// placesOf notes the places of a declared response that came.
func (x *comparison) placesOf(d *Described, r tenon.ResponseSchema, came Coverage) {
	p := placesOf(r.Schema)
	if p == nil || came.of != len(p.pointers) {
		return
	}
	for i, pointer := range p.pointers {
		if !strings.HasPrefix(pointer, definitions) && r.Definition != "" {
			pointer = definitions + rawjson.EscapeToken(r.Definition) + pointer
		}
		m := Missing{d, r.Status, r.MediaType, pointer}
		at := m.cause()
		if _, known := x.places[at]; !known {
			x.looked = append(x.looked, m)
		}
		x.places[at] = x.places[at] || came.has(i)
	}
}

func (m *Missing) cause() cause {
	return causeOf(m.Described, Key{Status: m.Status, MediaType: m.MediaType, Pointer: m.Pointer})
}

// learn adds a member that is not declared: of a definition once.
func (x *comparison) learn(d *Described, k Key, c *Counts) {
	why := causeOf(d, k)
	i, known := x.learned[why]
	if !known {
		i = len(x.Learned)
		x.learned[why] = i
		x.Learned = append(x.Learned, Learned{Described: d, Status: k.Status, MediaType: k.MediaType, Pointer: k.Pointer, Kind: k.Kind})
	}
	x.Learned[i].Count = sum(x.Learned[i].Count, c.Calls)
}

// missing sums the places up.
func (x *comparison) missing() {
	x.Places = len(x.looked)
	for _, m := range x.looked {
		if !x.places[m.cause()] {
			x.Missing = append(x.Missing, m)
		}
	}
}

// cause is what one fix of a description removes.
type cause struct {
	source, operation      string // operation: only of what has no definition
	status, media          string
	pointer, keyword, kind string
}

func causeOf(d *Described, k Key) cause {
	why := cause{source: d.Source, pointer: k.Pointer, keyword: k.Keyword, kind: k.Kind}
	if !strings.HasPrefix(k.Pointer, definitions) {
		why.operation, why.status, why.media = d.Name, k.Status, k.MediaType
	}
	return why
}

func (x *comparison) operation(d *Described, keys []Key, counts map[Key]*Counts) {
	s := &Standing{}
	x.Tools[d.Tool] = s
	var arguments Sketch
	came, looked := map[[2]string]int64{}, map[[2]string]Coverage{}
	for _, k := range keys {
		if c := counts[k]; k.Keyword == "" {
			s.Calls, s.Fits, s.Violated = sum(s.Calls, c.Calls), sum(s.Fits, c.Fits), sum(s.Violated, c.Violated)
			arguments = arguments.union(c.Arguments)
			span := Counts{First: s.First, Last: s.Last}
			span.span(c)
			s.First, s.Last = span.First, span.Last
			came[[2]string{k.Status, k.MediaType}] += c.Calls
			looked[[2]string{k.Status, k.MediaType}] = c.Places
		}
	}
	s.Arguments = arguments.Distinct()
	x.Calls = sum(x.Calls, s.Calls)
	for _, k := range keys {
		switch k.Keyword {
		case "":
		case Undeclared:
			x.learn(d, k, counts[k])
		default:
			x.add(d, k, counts[k], came[[2]string{k.Status, k.MediaType}])
		}
	}
	x.Responses += len(d.Responses)
	for _, r := range d.Responses {
		if implied(r, d.Responses) {
			x.Responses--
		}
	}
	if s.Calls == 0 {
		x.Unseen = append(x.Unseen, Unseen{Described: d})
		return
	}
	for _, r := range d.Responses {
		switch {
		case implied(r, d.Responses):
		case came[[2]string{clip(r.Status), clip(r.MediaType)}] > 0:
			x.Came++
			x.placesOf(d, r, looked[[2]string{clip(r.Status), clip(r.MediaType)}])
		default:
			x.Unseen = append(x.Unseen, Unseen{d, r.Status, r.MediaType})
		}
	}
}

// implied reports whether a response is there because a range covers it: 204 and 205
// have no body, whatever 2XX has.
func implied(r tenon.ResponseSchema, all []tenon.ResponseSchema) bool {
	return (r.Status == "204" || r.Status == "205") && r.MediaType == "" &&
		slices.ContainsFunc(all, func(o tenon.ResponseSchema) bool { return strings.EqualFold(o.Status, "2XX") })
}

// add adds a place to the drift of its cause.
func (x *comparison) add(d *Described, k Key, c *Counts, of int64) {
	why := causeOf(d, k)
	i, ok := x.byCause[why]
	if !ok {
		i = len(x.Drifts)
		x.byCause[why] = i
		declared, seen := words(d, k)
		x.Drifts = append(x.Drifts, Drift{ID: why.id(), Source: d.Source, Pointer: k.Pointer, Keyword: k.Keyword, Declared: declared, Seen: seen})
	}
	f := &x.Drifts[i]
	f.Count = sum(f.Count, c.Calls)
	span := Counts{First: f.First, Last: f.Last}
	span.span(c)
	f.First, f.Last = span.First, span.Last
	f.Places = append(f.Places, Place{d, k.Status, k.MediaType, c.Calls, of})
}

func (w *cause) id() string {
	h := sha256.Sum256([]byte(strings.Join([]string{w.source, w.operation, w.status, w.media, w.pointer, w.keyword, w.kind}, "\x00")))
	return hexOf(h[:5])
}

// words say what is declared and what came instead.
func words(d *Described, k Key) (declared, seen string) {
	switch k.Keyword {
	case "status":
		return list(d, func(i int) string { return d.Responses[i].Status }), "status " + orNone(k.Status)
	case "mediaType":
		return list(d, func(i int) string {
			if d.Responses[i].Status != k.Status && statusOf(d, k.Status) {
				return ""
			}
			return orNone(d.Responses[i].MediaType)
		}), orNone(k.MediaType)
	case "syntax", "range", "limit":
		return "JSON", "text that is none or cannot be read"
	case "encoding":
		return "a body that can be read", "an unknown content encoding"
	case Rest:
		return "", "further differences, which are not told apart"
	}
	seen = k.Kind
	switch {
	case k.Keyword == "additionalProperties" || k.Keyword == "unevaluatedProperties":
		seen = "a further member: " + k.Kind
	case seen == "nothing":
		seen = "no member"
	}
	for _, r := range d.Responses {
		if clip(r.Status) == k.Status && clip(r.MediaType) == k.MediaType && r.Schema != nil {
			if r.Definition != "" {
				k.Pointer = strings.TrimPrefix(k.Pointer, definitions+rawjson.EscapeToken(r.Definition))
			}
			return requirement(r.Schema, k), seen
		}
	}
	return k.Keyword, seen
}

func statusOf(d *Described, status string) bool {
	return slices.ContainsFunc(d.Responses, func(r tenon.ResponseSchema) bool { return r.Status == status })
}

func orNone(text string) string {
	if text == "" {
		return "no body"
	}
	return text
}

// list joins words without repeating any.
func list(d *Described, word func(int) string) string {
	var all []string
	for i := range d.Responses {
		if w := word(i); w != "" && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return strings.Join(all, ", ")
}

// maxRequirement bounds what is shown of a keyword.
const maxRequirement = 60

// requirement is what a schema says at a place.
func requirement(schema []byte, k Key) string {
	switch k.Keyword {
	case "required", "dependentRequired":
		return "required"
	case "false":
		return "nothing"
	}
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return k.Keyword
	}
	keyword, _, _ := strings.Cut(k.Keyword, "/")
	value := doc.Get(doc.Pointer(k.Pointer), keyword)
	if value == rawjson.None {
		return k.Keyword
	}
	switch {
	case keyword == "type" && doc.Kind(value) == rawjson.String:
		return doc.Str(value)
	case keyword == "type":
		var types []string
		for n := doc.First(value); n != rawjson.None; n = doc.Next(n) {
			types = append(types, doc.Str(n))
		}
		return rawjson.Alternatives(types)
	case keyword == "additionalProperties" || keyword == "unevaluatedProperties":
		return "no other members"
	}
	switch doc.Kind(value) {
	case rawjson.Object:
		return keyword
	case rawjson.Array:
		if keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf" {
			return fmt.Sprintf("%s of %d schemas", keyword, doc.Len(value))
		}
	}
	return rawjson.Truncate(keyword+" "+string(doc.Raw(value)), maxRequirement)
}
