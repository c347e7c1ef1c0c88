package clientconfig

import (
	"bytes"
	"fmt"
	"strings"
)

// Difference is what an edit changes, a line each: those that go with a minus, those
// that come with a plus. Of a line that changes only at its end or beginning, the
// rest is left out: other people's servers have secrets in such files, and a
// difference is shown and copied.
func (e *Edit) Difference() string {
	before, after := lines(e.Before), lines(e.After)
	first := 0
	for first < min(len(before), len(after)) && before[first] == after[first] {
		first++
	}
	last := 0
	for last < min(len(before), len(after))-first && before[len(before)-1-last] == after[len(after)-1-last] {
		last++
	}
	before, after = before[first:len(before)-last], after[first:len(after)-last]
	if len(before) > 0 && len(after) > 0 {
		n := common(before[0], after[0])
		before[0], after[0] = elided(before[0], n), elided(after[0], n)
		b, a := len(before)-1, len(after)-1
		n = commonEnd(before[b], after[a])
		before[b], after[a] = elidedEnd(before[b], n), elidedEnd(after[a], n)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, line %d:\n", e.File, first+1)
	for _, line := range before {
		out.WriteString("-" + line + "\n")
	}
	for _, line := range after {
		out.WriteString("+" + line + "\n")
	}
	return out.String()
}

const elision = "…"

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(bytes.TrimSuffix(text, []byte("\n"))), "\r\n", "\n"), "\n")
}

// common is the length of the beginning that two lines share behind their
// indentation, without the indentation.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonEnd(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// elided is a line without its first n bytes; its indentation stays.
func elided(line string, n int) string {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if n-indent <= len(elision) {
		return line
	}
	return strings.ToValidUTF8(line[:indent]+elision+line[n:], "")
}

// elidedEnd is a line without its last n bytes.
func elidedEnd(line string, n int) string {
	if n <= len(elision) {
		return line
	}
	return strings.ToValidUTF8(line[:len(line)-n]+elision, "")
}
