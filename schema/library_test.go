package schema_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/tenon-mcp/tenon/schema"
)

// judge is the library used directly: what our two tiers are held against.
type judge struct{ schema *jsonschema.Schema }

func newJudge(doc []byte, format bool) (judge, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return judge{}, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closedLoader{})
	if format {
		c.AssertFormat()
	}
	if err := c.AddResource("test:///schema", v); err != nil {
		return judge{}, err
	}
	s, err := c.Compile("test:///schema")
	return judge{s}, err
}

type closedLoader struct{}

func (closedLoader) Load(string) (any, error) { return nil, errors.New("nothing is loaded") }

// pointers returns where the library sees the value broken, sorted; empty if
// it fits.
func (j judge) pointers(value []byte) []string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return []string{"not JSON"}
	}
	var broken *jsonschema.ValidationError
	if !errors.As(j.schema.Validate(v), &broken) {
		return nil
	}
	return sortedSet(leaves(nil, broken))
}

func leaves(list []string, err *jsonschema.ValidationError) []string {
	var path strings.Builder
	for _, t := range err.InstanceLocation {
		path.WriteString(pointerToken(t))
	}
	switch k := err.ErrorKind.(type) {
	case *kind.PropertyNames:
		return append(list, path.String())
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			list = append(list, path.String()+pointerToken(name))
		}
		return list
	}
	if len(err.Causes) == 0 {
		return append(list, path.String())
	}
	for _, c := range err.Causes {
		list = leaves(list, c)
	}
	return list
}

func pointerToken(s string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// violated returns the locations of violations, sorted.
func violated(found []schema.Violation) []string {
	var list []string
	for _, v := range found {
		list = append(list, v.Path)
	}
	return sortedSet(list)
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
