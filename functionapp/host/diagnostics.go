package host

import (
	"bytes"
	"errors"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// place says what is wrong with a file, and in which line.
func place(file string, text []byte, err error) tenon.Diagnostic {
	f := tenon.Diagnostic{File: file, Message: err.Error()}
	if e := new(functionapp.Error); errors.As(err, &e) {
		f.Line = lineOf(text, e.Offset)
	}
	return f
}

func (a *App) fault(file string, text []byte, err error) {
	a.Faults = append(a.Faults, place(file, text, err))
}

// notes reports what works here and not, or not so, under Azure's host.
func (a *App) notes(file string, line int, function string, notes []functionapp.Diagnostic) {
	for _, n := range notes {
		what := n.String()
		if function != "" {
			what = "function " + function + ": " + what
		}
		a.Faults = append(a.Faults, tenon.Diagnostic{File: file, Line: line, Message: what})
	}
}

// lineOf returns the line of a byte, counted from 1; 0 where it is not known.
func lineOf(text []byte, offset int) int {
	if offset <= 0 || offset > len(text) {
		return 0
	}
	return 1 + bytes.Count(text[:offset], []byte{'\n'})
}

// offsetOf is where an object begins, as far as its members tell.
func offsetOf(o functionapp.Object) int {
	if len(o) == 0 {
		return 0
	}
	return o[0].Offset
}
