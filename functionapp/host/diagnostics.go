package host

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// place adds the file and line to an error.
func place(file string, text []byte, err error) tenon.Diagnostic {
	f := tenon.Diagnostic{File: file, Message: cut(err.Error())}
	if e := new(functionapp.Error); errors.As(err, &e) {
		f.Line = lineOf(text, e.Offset)
	}
	return f
}

// maxMessage bounds a message, which may repeat what a file says.
const maxMessage = 1000

func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

func (a *App) addDiagnostic(file string, text []byte, err error) {
	a.Diagnostics = append(a.Diagnostics, place(file, text, err))
}

// notes reports what works here but not, or differently, in Azure's host.
func (a *App) notes(file string, line int, function string, notes []functionapp.Diagnostic) {
	for _, n := range notes {
		what := n.String()
		if function != "" {
			what = "function " + function + ": " + what
		}
		a.Diagnostics = append(a.Diagnostics, tenon.Diagnostic{File: file, Line: line, Message: cut(what)})
	}
}

// lineOf returns the line of an offset, starting at 1, or 0 where it is
// unknown.
func lineOf(text []byte, offset int) int {
	if offset <= 0 || offset > len(text) {
		return 0
	}
	return 1 + bytes.Count(text[:offset], []byte{'\n'})
}

// offsetOf returns the offset of an object, derived from its members.
func offsetOf(o functionapp.Object) int {
	if len(o) == 0 {
		return 0
	}
	return o[0].Offset
}
