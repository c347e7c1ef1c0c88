package argnames_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

func TestPublish(t *testing.T) {
	const said = `"description":"Its original name is `
	for name, c := range map[string]struct{ in, want string }{
		"nothing to do": {`{"properties":{"a_":{"const":"_x"},"b":{}}}`, `{"properties":{"a_":{"const":"_x"},"b":{}}}`},
		"underscores": {
			`{"properties":{"_id":{"type":"string"},"__type":true},"required":["__type","_id"]}`,
			`{"properties":{"id":{` + said + `_id.","type":"string"},"type":{` + said + `__type."}},"required":["type","id"]}`,
		},
		"a description":    {`{"properties":{"_id":{"type":"string","description":"The key"}}}`, `{"properties":{"id":{"description":"The key. Its original name is _id.","type":"string"}}}`},
		"the name is free": {`{"properties":{"_id":{},"id":{}}}`, `{"properties":{"id_":{` + said + `_id."},"id":{}}}`},
		"three of a kind": {
			`{"properties":{"id":{},"_id":{},"id_":{},"__id":{}}}`,
			`{"properties":{"id":{},"id_2":{` + said + `_id."},"id_":{},"id__":{` + said + `__id."}}}`,
		},
		"a name of its own kind": {`{"properties":{"_":{},"__":{}}}`, `{"properties":{"underscore":{` + said + `_."},"underscore__":{` + said + `__."}}}`},
		"a reserved name":        {`{"properties":{"_fields":{}}}`, `{"properties":{"fields_":{` + said + `_fields."}}}`},
		"a method of a class":    {`{"properties":{"model_config":{},"_model_dump":{},"model_x":{}}}`, `{"properties":{"model_config_":{` + said + `model_config."},"model_dump_":{` + said + `_model_dump."},"model_x":{}}}`},
		"escaped":                {`{"properties":{"\u005fid":{}}}`, `{"properties":{"id":{` + said + `_id."}}}`},
		"at any depth": {
			`{"properties":{"body":{"$ref":"#/$defs/_B"}},"$defs":{"_B":{"allOf":[{"items":{"properties":{"_k":{}},"dependentRequired":{"_k":["_l"]}}}],"default":{"_k":1}}}}`,
			`{"properties":{"body":{"$ref":"#/$defs/_B"}},"$defs":{"_B":{"allOf":[{"items":{"properties":{"k":{` + said + `_k."}},"dependentRequired":{"k":["_l"]}}}],"default":{"_k":1}}}}`,
		},
		"a property called properties": {`{"properties":{"properties":{"properties":{"_a":{}}}}}`, `{"properties":{"properties":{"properties":{"a":{` + said + `_a."}}}}}`},
	} {
		got := argnames.Of([]byte(c.in), "fields").Publish([]byte(c.in))
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

const nested = `{"properties":{"_id":{},"tags":{"type":"object","additionalProperties":{"type":"string"}},
	"body":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]},"list":{"prefixItems":[{"properties":{"_first":{}}}],"items":{"properties":{"_k":{}}}},
	"free":{}},"$defs":{"node":{"properties":{"_v":{},"next":{"$ref":"#/$defs/node"}},"patternProperties":{"^x":{"properties":{"_p":{}}}}}}}`

func TestRestore(t *testing.T) {
	for name, c := range map[string]struct{ in, want, invalid string }{
		"as published":            {in: `{"id":1}`, want: `{"_id":1}`},
		"as it is":                {in: `{"_id":1}`, want: `{"_id":1}`},
		"escaped":                 {in: `{"\u0069d":1}`, want: `{"_id":1}`},
		"both, equal":             {in: `{"_id":1,"id":1}`, want: `{"_id":1}`},
		"both, different":         {in: `{"id":2,"_id":1}`, want: `{"id":2,"_id":1}`, invalid: "id and _id, which differ"},
		"keys of a free object":   {in: `{"tags":{"id":"a","v":"b"},"free":{"id":1,"x":[{"k":1}]}}`, want: `{"tags":{"id":"a","v":"b"},"free":{"id":1,"x":[{"k":1}]}}`},
		"another place's name":    {in: `{"body":{"id":1,"v":2}}`, want: `{"body":{"id":1,"_v":2}}`},
		"recursive":               {in: `{"body":{"next":{"next":{"v":1}}}}`, want: `{"body":{"next":{"next":{"_v":1}}}}`},
		"by a pattern":            {in: `{"body":{"xy":{"p":1}}}`, want: `{"body":{"xy":{"_p":1}}}`},
		"in lists":                {in: `{"list":[{"first":1},{"k":2},{"k":[]}]}`, want: `{"list":[{"_first":1},{"_k":2},{"_k":[]}]}`},
		"nothing of invalid JSON": {in: `{"id":1`, want: `{"id":1`},
		"no object":               {in: `["id"]`, want: `["id"]`},
	} {
		names := argnames.Of([]byte(nested))
		got, invalid := names.Restore([]byte(c.in))
		if string(got) != c.want || invalid != c.invalid {
			t.Errorf("%s: %s %q", name, got, invalid)
		}
	}
}

func TestPointer(t *testing.T) {
	names := argnames.Of([]byte(nested))
	for own, published := range map[string]string{
		"": "", "/_id": "/id", "/body/_v": "/body/v", "/body/next/_v/0": "/body/next/v/0", "/list/0/_first": "/list/0/first", "/list/1/_k": "/list/1/k",
		"/tags/_id": "/tags/_id", "/free/_v": "/free/_v", "/body/_id": "/body/_id", "/nowhere/_k": "/nowhere/_k",
	} {
		if got := names.Pointer(own); got != published {
			t.Errorf("%s: %s, want %s", own, got, published)
		}
	}
	s, err := schema.Compile([]byte(`{"properties":{"_id":{"type":"integer"},"body":{"required":["_v"]},"free":{"required":["_v"]}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args, read, told := names.Validate(s, []byte(`{"id":"x","body":"{\"v\":1}","free":{"v":1}}`))
	want := []schema.Violation{
		{Path: "/id", Keyword: "type", Expected: "integer", Got: `"x"`},
		{Path: "/free", Keyword: "required", Expected: `member "_v"`, Got: "nothing"},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("%s, %v:\n%s", args, read, diff)
	}
}

// TestBounded lets a schema branch so that the closure of each place is all of
// it, and sends very many locations.
func TestBounded(t *testing.T) {
	branches := strings.Repeat(`{"properties":{"_id":{},"a":{"$ref":"#"}}},`, 2000)
	names := argnames.Of([]byte(`{"properties":{"list":{"items":{"$ref":"#"}}},"anyOf":[` + branches + `{}]}`))
	args := `{"list":[` + strings.Repeat(`{"a":{"id":1}},`, 20000) + `{}]}`
	if _, invalid := names.Restore([]byte(args)); invalid == "" {
		t.Error("not rejected")
	}
}

// FuzzNames checks that a published schema stays JSON and has no name that is
// rejected, that restored arguments stay JSON, and that restoring them again
// changes nothing.
func FuzzNames(f *testing.F) {
	f.Add(nested, `{"id":1,"body":{"v":[{"k":1}]}}`)
	f.Add(`{"properties":{"_":{},"model_dump":{"description":1}},"items":[],"$ref":"#/anyOf/0","anyOf":[{"$ref":"#"}]}`, `{"underscore":{}}`)
	f.Add(`{"properties":[{"_a":1}],"required":{"_a":"_a"}}`, `[]`)
	f.Fuzz(func(t *testing.T, input, args string) {
		if rawjson.Check([]byte(input)) != nil || input[0] != '{' {
			t.Skip()
		}
		names := argnames.Of([]byte(input))
		published := names.Publish([]byte(input))
		if err := rawjson.Check(published); err != nil {
			t.Fatalf("%s: %v", published, err)
		}
		if again := argnames.Of(published); again != nil {
			t.Fatalf("%s still has names that are rejected", published)
		}
		restored, invalid := names.Restore([]byte(args))
		if (rawjson.Check(restored) == nil) != (rawjson.Check([]byte(args)) == nil) {
			t.Fatalf("%s became %s", args, restored)
		}
		if again, _ := names.Restore(restored); invalid == "" && string(again) != string(restored) {
			t.Fatalf("%s became %s, then %s", args, restored, again)
		}
		names.Pointer("/a/_b/0")
	})
}
