// Package markup writes HTML: text as the program has it between values that are
// escaped.
//
// It does not know pages or what is in them. It is in place of html/template, which
// finds methods by their names while it runs: the linker then keeps each exported
// method of each type in the program, a fifth of its size (decision 124).
//
// Whatever makes pages stands above it.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// literal is text that stands in the source of the program: no variable of another
// package converts to it, so that only a constant can be markup.
type literal string

// Writer gathers a page. The zero value is empty.
type Writer struct{ text []byte }

// Add writes markup with a value in place of each %s. Values are escaped for text and
// for attributes in quotation marks; nowhere else, as in a script, may one stand. The
// scheme of an address is the caller's to check.
func (w *Writer) Add(markup literal, values ...string) {
	rest := string(markup)
	for _, value := range values {
		before, after, found := strings.Cut(rest, "%s")
		if !found {
			panic(fmt.Sprintf("markup: %d values are too many for %q", len(values), string(markup)))
		}
		w.text = append(append(w.text, before...), html.EscapeString(value)...)
		rest = after
	}
	if strings.Contains(rest, "%s") {
		panic(fmt.Sprintf("markup: %d values are too few for %q", len(values), string(markup)))
	}
	w.text = append(w.text, rest...)
}

// AddIf writes markup around a value unless it is empty.
func (w *Writer) AddIf(value string, markup literal) {
	if value != "" {
		w.Add(markup, value)
	}
}

// Bytes returns the page.
func (w *Writer) Bytes() []byte { return w.text }
