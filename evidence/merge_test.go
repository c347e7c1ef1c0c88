package evidence

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// copyOf is a ledger with nothing in common with l.
func copyOf(l *Ledger) *Ledger {
	c := New()
	c.Merge(l)
	return c
}

func merged(all ...*Ledger) *Ledger {
	sum := New()
	for _, l := range all {
		sum.Merge(l)
	}
	return sum
}

func text(t interface{ Fatal(...any) }, l *Ledger) string {
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func drawLedger(t *rapid.T, label string) *Ledger {
	l := New()
	for range rapid.IntRange(0, 3).Draw(t, label+" writers") {
		w := l.writer(fmt.Sprintf("%016x", rapid.IntRange(0, 3).Draw(t, "id")))
		w.Dropped = rapid.Int64Range(0, 9).Draw(t, "dropped")
		w.Home = rapid.SampledFrom([]string{"", "00000000", "0000000f"}).Draw(t, "home")
		for range rapid.IntRange(0, 4).Draw(t, "keys") {
			k := Key{Schema: strings.Repeat("0", 24), Operation: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "operation"), Status: "200"}
			if rapid.Bool().Draw(t, "violation") {
				k.Keyword, k.Kind = "type", "string"
			}
			at := func(label string) time.Time {
				return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, label), 0).UTC()
			}
			c := &Counts{Calls: rapid.Int64Range(0, maxCount).Draw(t, "calls"), Fits: rapid.Int64Range(0, 9).Draw(t, "fits"), First: at("first"), Last: at("last")}
			for range rapid.IntRange(0, 12).Draw(t, "sketches") {
				key := fmt.Sprintf("%08x", rapid.IntRange(0, 11).Draw(t, "key"))
				c.Arguments = c.Arguments.union(Sketch{key: smallest(rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "digests"))})
			}
			if of := rapid.IntRange(0, 12).Draw(t, "places"); of > 0 {
				bits := rapid.Uint64Range(0, 1<<of-1).Draw(t, "came")
				c.Places = Coverage{of, string([]byte{byte(bits), byte(bits >> 8)}[:(of+7)/8])}
			}
			w.Counts[k] = c
		}
	}
	return l
}

// Ledgers can be merged in any order and the same one again, and a file holds all of
// one. Two files written one behind the other are their merge.
func TestMergeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawLedger(t, "a"), drawLedger(t, "b"), drawLedger(t, "c")
		same := func(what string, x, y *Ledger) {
			if d := cmp.Diff(text(t, x), text(t, y)); d != "" {
				t.Fatalf("%s: %s", what, d)
			}
		}
		same("a+b, b+a", merged(a, b), merged(b, a))
		same("(a+b)+c, a+(b+c)", merged(merged(a, b), c), merged(a, merged(b, c)))
		same("a+b+a+b, a+b", merged(a, b, a, b), merged(a, b))
		both, err := Read(strings.NewReader(text(t, a) + text(t, b)))
		if err != nil {
			t.Fatal(err)
		}
		same("the file of a and b", both, merged(a, b))
	})
}

// What writers count is added, whatever else a ledger was merged with meanwhile.
func TestSumsOfWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Key{Schema: strings.Repeat("0", 24), Operation: "a"}
		writers := map[string]int64{}
		ledgers := []*Ledger{New(), New(), New()}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			l := rapid.SampledFrom(ledgers).Draw(t, "ledger")
			if rapid.Bool().Draw(t, "merge") {
				l.Merge(copyOf(rapid.SampledFrom(ledgers).Draw(t, "from")))
				continue
			}
			// A writer has one home: it counts where all that it counted is.
			id := fmt.Sprintf("%016x", indexOf(ledgers, l))
			if l.writer(id).Counts[k] == nil {
				l.writer(id).Counts[k] = &Counts{}
			}
			l.writer(id).Counts[k].Calls++
			writers[id]++
		}
		var want int64
		for _, n := range writers {
			want += n
		}
		got := merged(ledgers...).Sum()[k]
		if got == nil && want > 0 || got != nil && got.Calls != want {
			t.Fatalf("%v calls, want %d", got, want)
		}
	})
}

func indexOf(all []*Ledger, l *Ledger) int {
	for i := range all {
		if all[i] == l {
			return i
		}
	}
	return -1
}

func TestTornAndForeignFiles(t *testing.T) {
	whole := text(t, &Ledger{Writers: map[string]*Writer{"0123456789abcdef": {Counts: map[Key]*Counts{{Schema: strings.Repeat("a", 24), Operation: "get"}: {Calls: 3}}}}})
	for _, c := range []struct{ name, text, want string }{
		{"torn", whole[:len(whole)-9], "line 3: not JSON, or only the beginning of a line"},
		{"foreign", "{\"openapi\":\"3.1.0\"}\n", "line 1: this is not evidence of tenon"},
		{"text", "hello", "line 1: not JSON"},
		{"blank", "\n", "line 1: not JSON"},
		{"newer", `{"tenon":"evidence","version":2}`, "line 1: evidence of version 2; this tenon reads version 1, a newer one may read it"},
		{"conflict", whole + "<<<<<<< ours\n", "line 4: not JSON"},
		{"unknown", whole + `{"writer":"0123456789abcdef","color":1}`, `line 4: not a line of evidence of version 1: json: unknown field "color"`},
		{"negative", whole + `{"writer":"0123456789abcdef","dropped":-1}`, "line 4: -1 is not a count"},
		{"long", whole + strings.Repeat(" ", maxLine+1), "line 4: longer than"},
		{"writer", whole + `{"writer":"../../etc"}`, "line 4: writer is not an id"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if l, err := Read(strings.NewReader("")); err != nil || len(l.Writers) != 0 {
		t.Error(l, err)
	}
}

// What is read can be written and is then the same; merged with itself it is what it
// was.
func FuzzRead(f *testing.F) {
	f.Add(`{"tenon":"evidence","version":1}` + "\n" + `{"writer":"0123456789abcdef","home":"01234567"}` + "\n" +
		`{"writer":"0123456789abcdef","schema":"aaaaaaaaaaaaaaaaaaaaaaaa","operation":"get","status":"200","pointer":"","keyword":"type","kind":"null","calls":2,"arguments":{"01234567":["00000000000000ff"]},"first":"2026-01-02T03:04:05Z","last":"2026-01-02T03:04:05+02:00"}`)
	f.Fuzz(func(t *testing.T, input string) {
		l, err := Read(strings.NewReader(input))
		if err != nil {
			return
		}
		first := text(t, l)
		again, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("%q is not read again: %v", first, err)
		}
		again.Merge(l)
		if second := text(t, again); first != second {
			t.Fatalf("%q became %q", first, second)
		}
		l.Sum()
	})
}
