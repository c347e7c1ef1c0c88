package publish_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/publish"
)

// Each case is what stands in a document of objects, what of it is published,
// and the locations that were changed.
func TestClientSafe(t *testing.T) {
	tests := map[string]struct {
		doc, want string
		changes   []string
	}{
		"nothing to change": {
			doc:  `"properties" : {"a":{ "type":["string","null"],"enum":["x",null],"pattern":"^\\w+$","x-y":{"$ref":"#/z"}}},"required":["a"],"maxProperties":1e1`,
			want: `"properties" : {"a":{ "type":["string","null"],"enum":["x",null],"pattern":"^\\w+$","x-y":{"$ref":"#/z"}}},"required":["a"],"maxProperties":1e1`,
		},
		"names of properties that look like keywords": {
			doc:  `"properties":{"$id":{"type":"string"},"$ref":{},"nullable":{},"required":{}}`,
			want: `"properties":{"$id":{"type":"string"},"$ref":{},"nullable":{},"required":{}}`,
		},
		"boolean schemas directly under the root": {
			doc:     `"properties":{"a":true,"b":false,"c":{"items":false}}`,
			want:    `"properties":{"a":{},"b":{"not":{}},"c":{"items":false}}`,
			changes: []string{"/properties/a", "/properties/b"},
		},
		"values of the wrong type": {
			doc:     `"required":true,"minItems":-1,"maxLength":1.5,"maximum":"3","multipleOf":0,"uniqueItems":1,"pattern":5,"title":[],"examples":{},"$comment":1,"deprecated":"no","properties":[],"allOf":[],"not":5,"items":"x"`,
			want:    ``,
			changes: []string{" required", " minItems", " maxLength", " maximum", " multipleOf", " uniqueItems", " pattern", " title", " examples", " $comment", " deprecated", " properties", " allOf", " not", " items"},
		},
		"types nobody knows": {
			doc:     `"properties":{"a":{"type":"file"},"b":{"type":["string","any"]},"c":{"type":[]},"d":{"type":["string","string"]}}`,
			want:    `"properties":{"a":{},"b":{},"c":{},"d":{"type":["string"]}}`,
			changes: []string{"/properties/a type", "/properties/b type", "/properties/c type", "/properties/d type"},
		},
		"duplicates and strangers in required": {
			doc:     `"required":["a","\u0061",5,"b"],"dependentRequired":{"a":["b","b"],"c":[]}`,
			want:    `"required":["a","b"],"dependentRequired":{"a":["b"],"c":[]}`,
			changes: []string{" required", " dependentRequired"},
		},
		"enums": {
			doc:     `"properties":{"a":{"enum":[]},"b":{"enum":[1,1.0,{"x":1,"y":2},{"y":2,"x":1}]},"c":{"enum":[9007199254740993,9007199254740992]},"d":{"enum":[0,-0]}}`,
			want:    `"properties":{"a":{},"b":{"enum":[1,{"x":1,"y":2}]},"c":{},"d":{"enum":[0]}}`,
			changes: []string{"/properties/a enum", "/properties/b enum", "/properties/c enum", "/properties/d enum"},
		},
		"patterns": {
			doc:     `"properties":{"a":{"pattern":"^[\\w-.]+$"},"b":{"pattern":"(?=x)"}},"patternProperties":{"a\\-b":{},"x{,2}":{}},"additionalProperties":false`,
			want:    `"properties":{"a":{"pattern":"^[\\w\\-.]+$"},"b":{}},"patternProperties":{"a-b":{}}`,
			changes: []string{" patternProperties", " patternProperties", " additionalProperties", "/properties/a pattern", "/properties/b pattern"},
		},
		"references": {
			doc:     `"properties":{"a":{"$ref":"#/$defs/x y"},"b":{"$ref":"#/$defs/none","title":"b"},"c":{"$ref":"other.json"},"d":{"$ref":"#/$defs/x%20y/type"},"e":{"$ref":5}},"$defs":{"x y":{"type":"object"}}`,
			want:    `"properties":{"a":{"$ref":"#/$defs/x%20y"},"b":{"title":"b"},"c":{},"d":{},"e":{}},"$defs":{"x y":{"type":"object"}}`,
			changes: []string{"/properties/a $ref", "/properties/b $ref", "/properties/c $ref", "/properties/d $ref", "/properties/e $ref"},
		},
		"references in a circle": {
			doc:     `"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]},"c":{"items":{"$ref":"#/$defs/c"}},"d":{"$ref":"#/$defs/d/properties/e","properties":{"e":{}}}}`,
			want:    `"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{},{"type":"null"}]},"c":{"items":{"$ref":"#/$defs/c"}},"d":{"$ref":"#/$defs/d/properties/e","properties":{"e":{}}}}`,
			changes: []string{"/$defs/b/anyOf/0 $ref"},
		},
		"identities": {
			doc:     `"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://a/b","properties":{"a":{"$ref":"#n"},"b":{"$dynamicRef":"#n"}},"$defs":{"n":{"$anchor":"n","type":"string"}}`,
			want:    `"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"string"}}`,
			changes: []string{"/properties/a $ref", "/properties/b $dynamicRef", "/properties/b $dynamicRef", " $id", "/$defs/n $anchor", " $schema"},
		},
		"keywords of other dialects": {
			doc:     `"properties":{"a":{"nullable":true,"id":"x","$recursiveRef":"#","$async":true,"formatMinimum":1},"b":{"x-a":{"$id":"y"}},"c":{"items":[{"type":"string"}],"additionalItems":false}}`,
			want:    `"properties":{"a":{},"b":{},"c":{"prefixItems":[{"type":"string"}]}}`,
			changes: []string{"/properties/a nullable", "/properties/a id", "/properties/a $recursiveRef", "/properties/a $async", "/properties/a formatMinimum", "/properties/b x-a", "/properties/c items", "/properties/c additionalItems"},
		},
		"what clients of draft-07 read as something stricter": {
			doc:     `"properties":{"a":{"prefixItems":[{},{}],"items":false},"b":{"prefixItems":[{},{}],"items":false,"maxItems":1},"c":{"prefixItems":[{}],"items":{"type":"null"}},"d":{"contains":{},"minContains":0}}`,
			want:    `"properties":{"a":{"maxItems":2,"prefixItems":[{},{}]},"b":{"prefixItems":[{},{}],"maxItems":1},"c":{"prefixItems":[{}]},"d":{}}`,
			changes: []string{"/properties/a items", "/properties/b items", "/properties/c items", "/properties/d contains", "/properties/d minContains"},
		},
		"what would accept less takes its holder along": {
			doc:     `"properties":{"a":{"not":{"pattern":"\\Z"}},"b":{"oneOf":[{"pattern":"\\Z"},{}]},"c":{"if":{"pattern":"\\Z"},"then":{},"else":{}},"d":{"contains":{"pattern":"\\Z"},"maxContains":1},"e":{"not":{"$ref":"#/$defs/e"}}},"$defs":{"e":{"items":{"pattern":"\\Z"}}}`,
			want:    `"properties":{"a":{},"b":{"anyOf":[{},{}]},"c":{},"d":{},"e":{}},"$defs":{"e":{"items":{}}}`,
			changes: []string{"/properties/a/not pattern", "/properties/a not", "/properties/b/oneOf/0 pattern", "/properties/b oneOf", "/properties/c/if pattern", "/properties/c if", "/properties/c then", "/properties/c else", "/properties/d/contains pattern", "/properties/d contains", "/properties/d maxContains", "/$defs/e/items pattern", "/properties/e not"},
		},
		"duplicate members": {
			doc:     `"title":"a","title":"b"`,
			want:    `"title":"b"`,
			changes: []string{""},
		},
	}
	var before publish.Compatibility // what it learns of one document must not change another
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wrap := func(body string) string { return strings.TrimSuffix(`{"type":"object",`+body, ",") + `}` }
			doc := []byte(wrap(test.doc))
			safe, changes := publish.Compatible(doc)
			if diff := cmp.Diff(wrap(test.want), string(safe)); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
			for range 2 {
				again, told := before.Of(doc)
				if diff := cmp.Diff(string(safe), string(again)) + cmp.Diff(changes, told); diff != "" {
					t.Errorf("after others (-alone +now):\n%s", diff)
				}
			}
			var places []string
			for _, c := range changes {
				if c.Message == "" {
					t.Errorf("change of %s %s says nothing", c.Path, c.Keyword)
				}
				place := c.Path
				if c.Keyword != "" {
					place += " " + c.Keyword
				}
				places = append(places, place)
			}
			if diff := cmp.Diff(test.changes, places); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if len(changes) == 0 && &safe[0] != &doc[0] {
				t.Error("a document without changes was copied")
			}
		})
	}
}

func TestClientSafeRoot(t *testing.T) {
	tests := map[string]struct{ doc, want string }{
		"no type":                          {`{"properties":{}}`, `{"type":"object","properties":{}}`},
		"everything":                       {`true`, `{"type":"object"}`},
		"an empty schema":                  {`{}`, `{"type":"object"}`},
		"an invalid type":                  {`{"type":5}`, `{"type":"object"}`},
		"objects among others":             {`{"type":["null","object"],"title":"x"}`, `{"type":"object","title":"x"}`},
		"a root that is referred to":       {`{"properties":{"a":{"$ref":"#","title":"x"}}}`, `{"type":"object","properties":{"a":{"title":"x"}}}`},
		"an object that is referred to":    {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`},
		"a reference":                      {`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{}}}`},
		"no type and no further items":     {`{"prefixItems":[{}],"items":false}`, `{"type":"object","maxItems":1,"prefixItems":[{}]}`},
		"another type":                     {`{"type":"array"}`, ``},
		"other types":                      {`{"type":["array","null"]}`, ``},
		"nothing":                          {`false`, ``},
		"no schema":                        {`[]`, ``},
		"no JSON":                          {`{"type":"object"`, ``},
		"half of a surrogate pair":         {`{"type":"object","title":"\ud800"}`, ``},
		"a number no client can represent": {`{"type":"object","maximum":1e400}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			safe, changes := publish.Compatible([]byte(test.doc))
			if string(safe) != test.want {
				t.Errorf("ClientSafe(%s) = %s; want %s", test.doc, safe, test.want)
			}
			if safe == nil && len(changes) != 1 {
				t.Errorf("ClientSafe(%s) gives the reasons %v; want one", test.doc, changes)
			}
		})
	}
}
