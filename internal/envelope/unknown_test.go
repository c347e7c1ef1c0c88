package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// TestUnknownArguments: what is unknown is told with what was probably suggested,
// on every level of the arguments.
func TestUnknownArguments(t *testing.T) {
	const pet = `{"type":"object","additionalProperties":false,"properties":{"petId":{"type":"string"},"verbose":{},"x/y":{},"body":{"$ref":"#/$defs/pet"},` +
		`"filter":{"type":"object","additionalProperties":false,"properties":{"color":{},"city":{}}}},"$defs":{` +
		`"pet":{"type":"object","additionalProperties":false,"properties":{"name":{},"color":{},"friend":{"$ref":"#/$defs/pet"},` +
		`"owner":{"type":"object","additionalProperties":false,"properties":{"street":{}}},` +
		`"tags":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"label":{},"look":{"type":"object","additionalProperties":false,"properties":{"shade":{}}}}}}}}}}`
	const open = `{"type":"object","allOf":[{"properties":{"petId":{}}}],"properties":{"body":{"anyOf":[{"properties":{"name":{}}},{"properties":{"name":{},"kind":{}}}]}},"unevaluatedProperties":false}`
	for _, c := range []struct{ name, schema, value, words, suggestion string }{
		{"another case", pet, `{"petid":1}`, `there is no argument "petid"; did you mean "petId"?`, `Use petId instead of petid`},
		{"a letter is wrong", pet, `{"verbos":1}`, `there is no argument "verbos"; did you mean "verbose"?`, `Use verbose instead of verbos`},
		{"a name with a slash", pet, `{"X/y":1}`, `there is no argument "X/y"; did you mean "x/y"?`, `Use x/y instead of X/y`},
		{"a member of the body", pet, `{"name":1}`, `there is no argument "name"; it belongs inside "body"`, `Give name inside "body"`},
		{"a member of two", pet, `{"color":1}`, `there is no argument "color"; it belongs inside "body" or "filter"`, `Give color inside "body" or "filter"`},
		{"further down", pet, `{"street":1}`, `there is no argument "street"; it belongs inside "body.owner"`, `Give street inside "body.owner"`},
		{"a member of the body with a letter wrong", pet, `{"clor":1}`, `there is no argument "clor"; did you mean "body.color" or "filter.color"?`, `Use body.color or filter.color instead of clor`},
		{"the same with another", pet, `{"frend":1}`, `there is no argument "frend"; did you mean "body.friend"?`, `Use body.friend instead of frend`},
		{"in the body", pet, `{"body":{"Name":1}}`, `there is no argument "body.Name"; did you mean "body.name"?`, `Use body.name instead of body.Name`},
		{"in an object of the body", pet, `{"body":{"owner":{"stret":1}}}`, `there is no argument "body.owner.stret"; did you mean "body.owner.street"?`, `Use body.owner.street instead of body.owner.stret`},
		{"in an item", pet, `{"body":{"tags":[{},{"lable":1,"shade":2}]}}`, `there is no argument "body.tags.1.lable"; did you mean "body.tags.1.label"?; there is no argument "body.tags.1.shade"; it belongs inside "body.tags.1.look"`, `Use body.tags.1.label instead of body.tags.1.lable;Give shade inside "body.tags.1.look"`},
		{"a parameter in the body", pet, `{"body":{"petId":1}}`, `there is no argument "body.petId"; it belongs outside of "body", beside it`, `Give petId outside of "body", beside it`},
		{"a member in the wrong object", pet, `{"filter":{"street":1}}`, `there is no argument "filter.street"; it belongs inside "body.owner"`, `Give street inside "body.owner"`},
		{"nothing is like it", pet, `{"weather":1,"7":2}`, `weather: no such field, got 1; 7: no such field, got 2`, `Leave out weather;Leave out 7`},
		{"a short name is not guessed", pet, `{"xz":1}`, `xz: no such field, got 1`, `Leave out xz`},
		{"what nothing has looked at", open, `{"petID":1,"kind":2,"name":3}`, `there is no argument "petID"; did you mean "petId"?; there is no argument "kind"; it belongs inside "body"; there is no argument "name"; it belongs inside "body"`, `Use petId instead of petID;Give kind inside "body";Give name inside "body"`},
		{"what is known and refused", `{"properties":{"name":false,"body":{"properties":{"name":{}}}}}`, `{"name":1}`, `name: expected nothing, got 1`, `Leave out name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(c.schema), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			violations := s.Validate([]byte(c.value))
			suggested := envelope.SuggestFor(s.Doc(), violations)
			if diff := cmp.Diff(c.words, envelope.ViolationText(violations, suggested)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.suggestion, strings.Join(envelope.Suggestions(violations, suggested), ";")); diff != "" {
				t.Errorf("suggestions (-want +got):\n%s", diff)
			}
		})
	}
}

// No more unknown arguments are looked into than are told, however many came.
func TestManyUnknownArguments(t *testing.T) {
	var all []string
	for i := range 5000 {
		all = append(all, fmt.Sprintf(`"nam%d":1`, i))
	}
	s, err := schema.Compile([]byte(`{"properties":{"name":{}},"additionalProperties":false}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	violations := s.Validate([]byte("{" + strings.Join(all, ",") + "}"))
	if suggested := envelope.SuggestFor(s.Doc(), violations); len(suggested) != 5 {
		t.Errorf("%d were looked into", len(suggested))
	}
}
