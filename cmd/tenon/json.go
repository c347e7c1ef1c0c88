package main

import (
	"encoding/json"
	"io"
)

// printJSON prints a value for programs, in lines that people can read too.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
