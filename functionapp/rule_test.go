package functionapp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/functionapp"
)

// A verdict's source: it is pinned by a test of the extension, it follows from
// its code, or it follows from the reader of JSON that it uses.
const (
	pinned  = "pinned"
	code    = "code"
	library = "library"
)

// nested is a schema of that depth.
func nested(levels int) string {
	return strings.Repeat(`{"type":"object","properties":{"x":`, (levels-1)/2) + `{"type":"object"` +
		map[bool]string{true: `,"properties":{}`}[levels%2 == 0] + `}` + strings.Repeat(`}}`, (levels-1)/2)
}

// TestSchemaRule is the rule as both sides of Azure have it. An empty verdict
// is acceptance, "none" no schema.
func TestSchemaRule(t *testing.T) {
	const (
		none       = "none"
		empty      = "empty"
		syntax     = "invalid_json"
		noObject   = "not_object"
		badType    = "type_not_object"
		properties = "properties_not_object"
		required   = "required_not_array"
	)
	for _, tt := range []struct{ name, text, worker, host, source string }{
		{"1 a property and its requirement", `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`, "", "", pinned},
		{"2 only the type", `{"type":"object"}`, "", "", pinned},
		{"3 nothing inside", `{"type":"object","properties":{},"required":[]}`, "", "", pinned},
		{"4 two properties", `{"type":"object","properties":{"result":{"type":"string"},"count":{"type":"number"}},"required":["result"]}`, "", "", pinned},
		{"5 escapes", `{"type":"object","properties":{"a\"b\\c":{"type":"string","description":"line\nbreak \u00e9 \"quoted\""}}}`, "", "", pinned},
		{"6 deep and complex", `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"when":{"type":"string","format":"date-time"},"kind":{"enum":["a","b"]}}}}},"required":["list"]}`, "", "", pinned},
		{"7 required holds numbers", `{"type":"object","required":[1,2]}`, "", "", pinned},
		{"8 required holds a boolean", `{"type":"object","required":[true]}`, "", "", pinned},
		{"9 required holds null", `{"type":"object","required":[null]}`, "", "", pinned},
		{"10 required holds an object", `{"type":"object","required":[{}]}`, "", "", pinned},
		{"11, 12 the empty text", ``, empty, none, pinned},
		{"13 blanks", `   `, empty, syntax, pinned},
		{"13 all kinds of blanks", "   \t\n   ", empty, syntax, pinned},
		{"14 no JSON", `{not json`, syntax, syntax, pinned},
		{"15 cut off", `{ "type": "object", "properties": { "x": "string" `, syntax, syntax, pinned},
		{"16 two commas", `{"type":"object",,"properties":{}}`, syntax, syntax, pinned},
		{"17 a comma at the end", `{"type":"object",}`, syntax, syntax, pinned},
		{"18 a comment", `{"type":"object" /* the root */}`, syntax, syntax, pinned},
		{"19 a brace too few", `{"type":"object","properties":{}`, syntax, syntax, pinned},
		{"20 text behind it", `{"type":"object"} and more`, syntax, syntax, library},
		{"20 a byte order mark", "\ufeff" + `{"type":"object"}`, syntax, syntax, library},
		{"21 a list", `[1,2,3]`, noObject, noObject, pinned},
		{"21 an empty list", `[]`, noObject, noObject, pinned},
		{"21 a list of schemas", `[{"type":"string"}]`, noObject, noObject, pinned},
		{"22 a string", `"hello"`, noObject, noObject, pinned},
		{"22 a longer string", `"simple string"`, noObject, noObject, pinned},
		{"23 null", `null`, noObject, noObject, code},
		{"23 a number", `42`, noObject, noObject, code},
		{"23 true", `true`, noObject, noObject, code},
		{"24 no members", `{}`, badType, badType, pinned},
		{"25 no type", `{"properties":{}}`, badType, badType, pinned},
		{"26 another type", `{"type":"string"}`, badType, badType, pinned},
		{"27 the type null", `{"type":null}`, badType, badType, pinned},
		{"28 the type a number", `{"type":5}`, badType, badType, pinned},
		{"29 the type in another case", `{"type":"Object"}`, badType, badType, pinned},
		{"30 the type a list", `{"type":["object"]}`, badType, badType, pinned},
		{"31 the type true", `{"type":true}`, badType, badType, pinned},
		{"32 the type an object", `{"type":{}}`, badType, badType, pinned},
		{"33 the key in another case", `{"Type":"object"}`, badType, badType, code},
		{"34 properties a list", `{"type":"object","properties":[]}`, properties, properties, pinned},
		{"35 properties null", `{"type":"object","properties":null}`, properties, properties, pinned},
		{"36 required a string", `{"type":"object","required":"x"}`, required, required, pinned},
		{"37 required an object", `{"type":"object","required":{}}`, required, required, pinned},
		{"38 required null", `{"type":"object","required":null}`, required, required, pinned},
		{"39 escapes in key and value", `{"\u0074ype":"\u006fbject"}`, "", "", code},
		{"40 type twice, the second is right", `{"type":"string","type":"object"}`, "duplicate_member", "", code},
		{"41 type twice, the first is right", `{"type":"object","type":"string"}`, "duplicate_member", badType, code},
		{"42 nonsense deeper down", `{"type":"object","additionalProperties":"nonsense","properties":{"x":7},"Properties":[]}`, "", "", code},
		{"43 64 levels", nested(64), "", "", library},
		{"43 65 levels", nested(65), "too_deep", syntax, library},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range []functionapp.SchemaKind{functionapp.Input, functionapp.Output} {
				s, err := functionapp.ParseSchema(kind, tt.text)
				if got := verdict(s, err); got != tt.worker {
					t.Errorf("the worker says %q to the %s schema, the contract %q (%s)", got, kind, tt.worker, tt.source)
				}
				s, err = functionapp.ReadSchema(kind, "forecast", tt.text)
				if got := verdict(s, err); got != tt.host {
					t.Errorf("the host says %q to the %s schema, the contract %q (%s)", got, kind, tt.host, tt.source)
				}
				if err == nil && tt.text != "" && !sameJSON(t, s.String(), tt.text) {
					t.Errorf("kept as %s", s)
				}
			}
		})
	}
}

func verdict(s functionapp.Schema, err error) string {
	var e *functionapp.SchemaError
	switch {
	case errors.As(err, &e):
		return string(e.Rule)
	case err != nil:
		return err.Error()
	case s.JSON() == nil:
		return "none"
	}
	return ""
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestSchemaErrorsAreWordedAsTheSideDoes(t *testing.T) {
	for _, tt := range []struct{ text, worker, host string }{
		{"", "Output schema must not be empty", ""},
		{"  ", "Output schema must not be empty", "Failed to parse OutputSchema for tool 'forecast'. Schema must be valid JSON."},
		{"{", "Output schema must be valid JSON", "Failed to parse OutputSchema for tool 'forecast'. Schema must be valid JSON."},
		{"[]", "Output schema must be a JSON object", "The specified document is not a valid MCP tool output JSON schema."},
		{"{}", `Output schema must have a root "type" of "object"`, "The specified document is not a valid MCP tool output JSON schema."},
		{`{"type":"object","properties":1}`, `Output schema "properties" must be a JSON object when present`, "The specified document is not a valid MCP tool output JSON schema."},
		{`{"type":"object","required":1}`, `Output schema "required" must be a JSON array when present`, "The specified document is not a valid MCP tool output JSON schema."},
	} {
		_, worker := functionapp.ParseSchema(functionapp.Output, tt.text)
		if worker == nil || !strings.HasPrefix(worker.Error(), tt.worker) {
			t.Errorf("the worker says %v to %q; want %q", worker, tt.text, tt.worker)
		}
		_, host := functionapp.ReadSchema(functionapp.Output, "forecast", tt.text)
		switch {
		case tt.host == "" && host != nil:
			t.Errorf("the host says %v to %q", host, tt.text)
		case tt.host != "" && (host == nil || !strings.HasPrefix(host.Error(), tt.host)):
			t.Errorf("the host says %v to %q; want %q", host, tt.text, tt.host)
		}
	}
}
