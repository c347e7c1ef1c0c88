package evidence

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// tally is what one process counted since it last wrote.
type tally struct {
	describe  func(any) Operation
	key       argumentKey
	known     map[any]*operation // of tools, by Observation.Tool
	places    map[place]string   // pointers of violations
	counts    map[Key]*Counts
	dropped   int64
	canonical []byte
	learning  map[Key]*learning // by the key that a name would have; nil: names are not learnt
}

type operation struct {
	name, origin, schema string
	definitions          map[response]string
	schemas              map[response][]byte
	places               map[response]*places // of those that came
}

// response is a declared one.
type response struct{ status, media string }

// place is a violation whose pointer was looked up.
type place struct {
	against       *schema.Schema
	path, keyword string
	expected      string
	kind          string
}

const (
	maxPlaces = 10_000 // that are remembered
	maxKeys   = 50_000 // that are kept of a writer
)

func newTally(describe func(any) Operation, key []byte) tally {
	if key == nil {
		key = []byte(rand.Text())
	}
	t := tally{describe: describe, key: newArgumentKey(key)}
	t.reset()
	return t
}

// reset forgets what was counted, and tools, of which a reload has others.
func (t *tally) reset() {
	t.known, t.places, t.counts, t.dropped = map[any]*operation{}, map[place]string{}, map[Key]*Counts{}, 0
}

func (t *tally) empty() bool { return len(t.counts) == 0 && t.dropped == 0 }

func (t *tally) operation(tool any) *operation {
	if o := t.known[tool]; o != nil {
		return o
	}
	from := t.describe(tool)
	o := &operation{name: clip(from.Name), origin: clip(from.Origin), schema: Digest(from.Responses), definitions: map[response]string{}, schemas: map[response][]byte{}, places: map[response]*places{}}
	for _, r := range from.Responses {
		o.schemas[response{r.Status, r.MediaType}] = r.Schema
		if r.Definition != "" {
			o.definitions[response{r.Status, r.MediaType}] = definitions + rawjson.EscapeToken(r.Definition)
		}
	}
	t.known[tool] = o
	return o
}

// definitions is where a schema document has what it refers to.
const definitions = "/$defs/"

// clip bounds a text of a description.
func clip(text string) string { return rawjson.Truncate(text, maxText/2) }

// placesOf are those of a declared response; nil: it has none.
func (o *operation) placesOf(r response) *places {
	p, known := o.places[r]
	if !known {
		p = placesOf(o.schemas[r])
		o.places[r] = p
	}
	return p
}

// count counts one response. It reports whether places came that had not before.
func (t *tally) count(w *waiting) (news bool) {
	o := t.operation(w.Tool)
	k := Key{Schema: o.schema, Origin: o.origin, Operation: o.name, Status: clip(w.Status), MediaType: clip(w.MediaType)}
	if !w.Declared {
		k.MediaType = safeMedia(w.SentMediaType)
		if k.Status = ""; w.SentStatus != 0 {
			k.Status = strconv.Itoa(w.SentStatus)
		}
	}
	at := w.At.UTC().Truncate(time.Second)
	if at.Year() < 1970 || at.Year() > 9999 { // a clock that is not set
		at = time.Time{}
	}
	c := t.of(k)
	if c == nil {
		t.dropped++
		return false
	}
	c.Calls++
	switch {
	case len(w.Violations) > 0:
		c.Violated++
	case w.Verdict == tenon.Fits || w.Verdict == tenon.Repaired:
		c.Fits++
	}
	c.span(&Counts{First: at, Last: at})
	c.Arguments = c.Arguments.insert(t.key.id, t.digest(w.args))
	if w.Body != nil {
		if p := o.placesOf(response{w.Status, w.MediaType}); p != nil {
			before := c.Places
			c.Places = before.union(p.in(w.Body, t.learner(w, o, k, at)))
			news = c.Places != before
		}
	}
	met := map[Key]bool{}
	for i, pointer := range t.pointers(w) {
		v := k
		if w.Against != nil && !strings.HasPrefix(pointer, definitions) && kindOf(&w.Violations[i]) != "" { // the document itself is a definition, or none
			pointer = o.definitions[response{w.Status, w.MediaType}] + pointer
		}
		v.Pointer, v.Keyword, v.Kind = pointer, clip(w.Violations[i].Keyword), kindOf(&w.Violations[i])
		if met[v] {
			continue
		}
		met[v] = true
		if c := t.of(v); c != nil {
			c.Calls++
			c.span(&Counts{First: at, Last: at})
		}
	}
	return news
}

// learner is told of members that nothing describes; nil: nobody wants to know.
func (t *tally) learner(w *waiting, o *operation, k Key, at time.Time) func(undeclared) {
	if t.learning == nil || w.Subject == "" { // nobody knows whether two that are not known are two
		return nil
	}
	met := map[Key]bool{} // a name counts once in a response
	return func(u undeclared) {
		if !strings.HasPrefix(u.pointer, definitions) {
			u.pointer = o.definitions[response{w.Status, w.MediaType}] + u.pointer
		}
		n := k
		n.Pointer, n.Keyword, n.Kind = clip(u.pointer+"/properties/"+u.name), Undeclared, u.kind
		l := t.learning[n]
		if met[n] || l == nil && len(t.learning) == maxLearning {
			return
		}
		if met[n] = true; l == nil {
			l = &learning{}
			t.learning[n] = l
		}
		if add := l.learned(max(t.key.digest([]byte(w.Subject)), 1)); add > 0 {
			if c := t.of(n); c != nil {
				c.Calls += add
				c.span(&Counts{First: at, Last: at})
			}
		}
	}
}

// of is what is known of a key; nil: there are too many.
func (t *tally) of(k Key) *Counts {
	c := t.counts[k]
	if c == nil && len(t.counts) < maxKeys {
		c = &Counts{}
		t.counts[k] = c
	}
	return c
}

// kindOf is the kind of a value; empty for what is about the whole response.
func kindOf(v *schema.Violation) string {
	switch v.Keyword {
	case "syntax", "range", "limit", "encoding", "status", "mediaType":
		return ""
	}
	return v.Kind()
}

// pointers locates the violations of a response.
func (t *tally) pointers(w *waiting) []string {
	all := make([]string, len(w.Violations))
	if w.Against == nil {
		return all
	}
	var missing []int
	var look []schema.Violation
	for i, v := range w.Violations {
		pointer, ok := t.places[placeOf(w.Against, v)]
		if all[i] = pointer; !ok {
			missing, look = append(missing, i), append(look, v)
		}
	}
	if look == nil {
		return all
	}
	if len(t.places) > maxPlaces {
		clear(t.places)
	}
	for i, pointer := range w.Against.Locate(look) {
		pointer = clip(pointer)
		all[missing[i]] = pointer
		t.places[placeOf(w.Against, look[i])] = pointer
	}
	return all
}

func placeOf(against *schema.Schema, v schema.Violation) place {
	return place{against, v.Path, v.Keyword, v.Expected, v.Kind()}
}

// digest is one of the arguments of a call: the same for the same arguments, whatever
// their order and white space.
func (t *tally) digest(args []byte) uint64 {
	if len(args) == 0 {
		args = []byte(`{}`)
	}
	canonical, err := rawjson.AppendCanonical(t.canonical[:0], args)
	if err != nil { // they are cut
		canonical = binary.BigEndian.AppendUint64(append(t.canonical[:0], args...), uint64(len(args)))
	}
	t.canonical = canonical[:0]
	return t.key.digest(canonical)
}
