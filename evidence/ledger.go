package evidence

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Key says what is counted. Names are those of the description and of the standards.
type Key struct {
	Schema    string // digest of the operation's response schemas: [Digest]
	Origin    string // of the service: scheme://host[:port]; empty: it has none, or it is not known
	Operation string // name in the description
	Status    string // as declared: 200, 2XX, default; of a status that is not declared the status; empty: no HTTP
	MediaType string // as declared; of one that is not declared a well-known one, else "other"; empty: no body

	// Where a response violates its schema; all are empty for the responses themselves.
	Pointer string // JSON Pointer of the schema, in the document of the response; Rest: any further
	Keyword string // the violated keyword, or status, mediaType, encoding, syntax
	Kind    string // of the value: a type of JSON Schema, or nothing
}

// Rest is the Pointer, Keyword and Kind of what an operation has no further keys for.
const Rest = "*"

// Counts are what is known of a Key. All but the times only grow.
type Counts struct {
	Calls    int64 // responses; of a violation those that have it
	Fits     int64 // responses that match their schema
	Violated int64 // responses that do not, or are not declared

	Arguments Sketch    // of the different arguments of the calls
	Places    Coverage  // of the response's schema
	First     time.Time // of the first and last response
	Last      time.Time
}

// merge makes c what is known of the same writer from c and o.
func (c *Counts) merge(o *Counts) {
	c.Calls, c.Fits, c.Violated = max(c.Calls, o.Calls), max(c.Fits, o.Fits), max(c.Violated, o.Violated)
	c.span(o)
	c.Arguments, c.Places = c.Arguments.union(o.Arguments), c.Places.union(o.Places)
}

// add makes c the sum of two that count different responses.
func (c *Counts) add(o *Counts) {
	c.Calls, c.Fits, c.Violated = sum(c.Calls, o.Calls), sum(c.Fits, o.Fits), sum(c.Violated, o.Violated)
	c.span(o)
	c.Arguments, c.Places = c.Arguments.union(o.Arguments), c.Places.union(o.Places)
}

// sum adds counts that may come from a file that somebody made.
func sum(a, b int64) int64 {
	if a > maxCount-b {
		return maxCount
	}
	return a + b
}

// maxCount is the largest number that every reader of JSON keeps.
const maxCount = 1<<53 - 1

func (c *Counts) span(o *Counts) {
	if c.First.IsZero() || !o.First.IsZero() && o.First.Before(c.First) {
		c.First = o.First
	}
	if o.Last.After(c.Last) {
		c.Last = o.Last
	}
}

// Writer is what one writer counted: a file on a machine, whatever processes share it.
type Writer struct {
	Home    string // digest of where it counts; empty: it counts no more
	Dropped int64  // responses that it was too busy to count
	Counts  map[Key]*Counts
}

// Ledger is what writers counted, by their ids.
type Ledger struct {
	Writers map[string]*Writer
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{Writers: map[string]*Writer{}} }

// writer returns the writer of an id, a new one if need be.
func (l *Ledger) writer(id string) *Writer {
	w := l.Writers[id]
	if w == nil {
		w = &Writer{Counts: map[Key]*Counts{}}
		l.Writers[id] = w
	}
	return w
}

// Merge adds what o knows. Of each writer the larger count is right, because writers
// only count up: ledgers can be merged in any order, and the same one again.
func (l *Ledger) Merge(o *Ledger) {
	for id, from := range o.Writers {
		to := l.writer(id)
		to.Home, to.Dropped = max(to.Home, from.Home), max(to.Dropped, from.Dropped)
		for k, c := range from.Counts {
			if known := to.Counts[k]; known != nil {
				known.merge(c)
			} else {
				mine := *c
				to.Counts[k] = &mine
			}
		}
	}
}

// Sum adds up the writers.
func (l *Ledger) Sum() map[Key]*Counts {
	all := map[Key]*Counts{}
	for _, w := range l.Writers {
		for k, c := range w.Counts {
			if all[k] == nil {
				all[k] = &Counts{}
			}
			all[k].add(c)
		}
	}
	return all
}

// Dropped is the number of responses that were not counted.
func (l *Ledger) Dropped() (n int64) {
	for _, w := range l.Writers {
		n = sum(n, w.Dropped)
	}
	return n
}

// Forget removes what is counted under keys, and reports how many. The writers that
// counted it go on under new ids: what they count from now on must not be taken for
// what older copies of the ledger have.
func (l *Ledger) Forget(forget func(Key, *Counts) bool) (n int) {
	for id, w := range l.Writers {
		before := len(w.Counts)
		maps.DeleteFunc(w.Counts, forget)
		if len(w.Counts) < before {
			n += before - len(w.Counts)
			w.Home = ""
		}
		if len(w.Counts) == 0 && w.Home == "" {
			delete(l.Writers, id)
		}
	}
	return n
}

// Keys are the keys of counts in their order.
func Keys(counts map[Key]*Counts) []Key {
	return slices.SortedFunc(maps.Keys(counts), compare)
}

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Schema, b.Schema),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.MediaType, b.MediaType),
		cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Kind, b.Kind))
}
