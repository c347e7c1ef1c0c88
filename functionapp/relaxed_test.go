package functionapp_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tenon-mcp/tenon/functionapp"
)

func TestRelaxedFiles(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"JSON":                         {`{"a":[1,2]}`, `{"a":[1,2]}`},
		"a comment to the end of line": {"{//x,}\n\"a\":1}", `{"a":1}`},
		"a comment at the end":         {`{"a":1} // x`, `{"a":1}`},
		"a comment with an end":        {"{/* \" , \n */\"a\":1/**/}", `{"a":1}`},
		"stars":                        {`{/***/"a":1/* **/}`, `{"a":1}`},
		"commas":                       {`{"a":[1,2,],"b":{"c":1,},}`, `{"a":[1,2],"b":{"c":1}}`},
		"a comma before a comment":     {"[1, // one\n /* two */ ]", `[1]`},
		"a string is no comment":       {`{"a//b":"/* x */","c":",}","d":"\"//"}`, `{"a//b":"/* x */","c":",}","d":"\"//"}`},
		"what has no end":              {`{"a":1 /* x`, ""},
		"half a comment":               {`{"a":1 /`, ""},
		"a slash":                      {`{"a":1 / 2}`, ""},
		"two commas":                   {`[1,,]`, ""},
		"only a comma":                 {`[,]`, `[]`}, // Azure's host takes it, too
		"a string without an end":      {`{"a`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := functionapp.Relaxed([]byte(tt.text))
			var compact bytes.Buffer
			err := json.Compact(&compact, got)
			if (err != nil) != (tt.want == "") || err == nil && compact.String() != tt.want {
				t.Errorf("got %s, %v", got, err)
			}
			if len(got) != len(tt.text) || bytes.Count(got, []byte("\n")) != bytes.Count([]byte(tt.text), []byte("\n")) {
				t.Errorf("places moved: %q", got)
			}
		})
	}
}

// FuzzRelaxed: JSON is returned as it is, nothing moves, and what was relaxed
// once is not relaxed again.
func FuzzRelaxed(f *testing.F) {
	f.Add([]byte("{\"a\":[1,], // x\n /* , */ }"))
	f.Add([]byte(`"\`))
	f.Add([]byte(`{"a":"//",}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := functionapp.Relaxed(text)
		if len(got) != len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(got))
		}
		if json.Valid(text) && !bytes.Equal(got, text) {
			t.Fatalf("%q became %q", text, got)
		}
		if json.Valid(got) && !bytes.Equal(functionapp.Relaxed(got), got) {
			t.Fatalf("%q is relaxed twice", text)
		}
	})
}
