package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/clients"
)

// asJSON is what a command prints as JSON.
func asJSON[T any](t *testing.T, args ...string) (value T) {
	t.Helper()
	var out, problems strings.Builder
	e := env{in: strings.NewReader(""), out: &out, err: &problems, getenv: func(string) (string, bool) { return "", false }}
	if code := run(t.Context(), e, args); code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, problems.String())
	}
	if err := json.NewDecoder(strings.NewReader(out.String())).Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// listed are the sizes of the schemas that clients get.
type listed struct {
	Tools []struct{ InputSchema, OutputSchema json.RawMessage }
}

func (l *listed) sizes() (input, output int) {
	for _, t := range l.Tools {
		input += len(t.InputSchema)
		output += len(t.OutputSchema)
	}
	return input, output
}

// TestCostsAreThoseOfTheList: the parts of all tools add up to what clients get, also
// in the envelopes and for a client, and a setting saves at least what was told.
func TestCostsAreThoseOfTheList(t *testing.T) {
	documents := map[string][]string{"../../testdata/pets.yaml": {
		"", "--envelope native --policy enforce", "--envelope flowmcp --describe off", "--for gemini-api", "--max-result-bytes -1 --output-schemas off",
	}}
	if file := os.Getenv("TENON_OPENAPI_GITHUB"); file != "" && !raced {
		documents[file] = []string{""}
	} else {
		fmt.Fprintln(t.Output(), "with the race detector, or without TENON_OPENAPI_GITHUB: GitHub's document is NOT weighed")
	}
	for doc, variants := range documents {
		for _, flags := range variants {
			t.Run(doc+" "+flags, func(t *testing.T) {
				args := append(strings.Fields(flags), doc)
				in := asJSON[inspection](t, append([]string{"inspect", "--json", "--evidence", "off"}, args...)...)
				list := asJSON[listed](t, append([]string{"tools", "--json"}, args...)...)
				input, output := list.sizes()
				if got := in.InputCosts.Sum().Bytes; got != input || input == 0 {
					t.Errorf("the parts of input schemas have %d bytes, the list has %d", got, input)
				}
				if got := in.OutputCosts.Sum().Bytes; got != output {
					t.Errorf("the parts of output schemas have %d bytes, the list has %d", got, output)
				}
				var all clients.SchemaCosts
				for _, one := range in.Heaviest {
					if one.OutputCosts != nil {
						all.Add(one.OutputCosts)
					}
				}
				if all != in.OutputCosts {
					t.Errorf("the tools cost %+v, all together %+v", all, in.OutputCosts)
				}
				if around := in.OutputCosts.Envelope.Bytes; (around > 0) != (output > 0 && in.Outputs > 0 && in.Heaviest[0].OutputCosts != nil) {
					t.Errorf("the envelope has %d bytes of %d", around, output)
				}
				for _, s := range in.Savings {
					if s.Tools == 0 || strings.Contains(flags, "--for") { // a profile writes more than the source has
						continue
					}
					list := asJSON[listed](t, append(append([]string{"tools", "--json"}, strings.Fields(s.Flag)...), args...)...)
					if _, now := list.sizes(); output-now < s.Bytes {
						t.Errorf("%s saves %d bytes, told was %d", s.Flag, output-now, s.Bytes)
					}
				}
			})
		}
	}
}

// TestCostsAsPrinted: the table has what weighs, and nothing where there is nothing.
func TestCostsAsPrinted(t *testing.T) {
	for _, tt := range []struct {
		flags, want string
		not         string
	}{
		{"", "envelope ", "--max-output-schema"},
		{"--output-schemas off --describe off --max-result-bytes -1", "structure ", "WOULD SAVE"},
	} {
		var out strings.Builder
		e := env{in: strings.NewReader(""), out: &out, err: io.Discard, getenv: func(string) (string, bool) { return "", false }}
		run(t.Context(), e, append(append([]string{"inspect", "--evidence", "off"}, strings.Fields(tt.flags)...), "../../testdata/pets.yaml"))
		if !strings.Contains(out.String(), "\n"+tt.want) || strings.Contains(out.String(), tt.not) {
			t.Errorf("%s prints\n%s", tt.flags, out.String())
		}
	}
}
