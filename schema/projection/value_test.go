package projection_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/projection"
)

func TestProjectValueLeavesOutSpace(t *testing.T) {
	const value = " { \"a\" : 1 ,\n\"b\":{ \"c\" : [ 1, 2 ] , \"d\":\"x y\"}\t, \"e\":[\r] , \"f\" : null , \"g\":{ } } "
	tests := map[string]string{
		"a,f":         `{"a":1,"f":null}`,
		"f":           `{"f":null}`,
		"b.d,g.x":     `{"b":{"d":"x y"},"g":{}}`,
		"b.c":         `{"b":{"c":[ 1, 2 ]}}`, // the value at the end of a path is as it was
		"b.x,e.x,g.x": `{"b":{},"e":[],"g":{}}`,
		"*.c,a":       `{"a":1,"b":{"c":[ 1, 2 ]},"e":[],"f":null,"g":{}}`,
		"x":           `{}`,
	}
	for paths, want := range tests {
		got, err := parsed(t, paths).AppendValue(nil, []byte(value))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", paths, got, err, want)
		}
	}
}

func TestProjectNamesLikeStructure(t *testing.T) {
	for path, want := range map[string]string{`/a":1,"b`: `{"a\":1,\"b":2}`, `b`: `{"b":3}`, `/x\`: `{"x\\":4}`, `/`: `{"":5}`} {
		p, err := projection.ParseProjection(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.AppendValue(nil, []byte(`{"a\":1,\"b":2,"b":3,"x\\":4,"":5,"a":6}`))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
}

// What is selected is what a walk over the decoded value selects.
func FuzzProjectValue(f *testing.F) {
	f.Add(`{"a":[{"b":1,"c":2},{"c":3}],"b":{"c":{"a":null}}}`, "a.b,b.*.a")
	f.Add(` { "x" : 1 , "a" : [ 1 , { "b" : 2 , "\u0061" : 3 } ] } `, "a,a.a,x")
	f.Add(`[[{"a\"b":1,"":2}],"\\",{}]`, `/a"b,/`)
	any1, err := schema.Compile([]byte(`{}`), schema.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value, paths string) {
		p, err := projection.ParseProjection(strings.Split(paths, ",")...)
		if err != nil {
			return
		}
		got, err := p.AppendValue(nil, []byte(value))
		if any1.Validate([]byte(value)) != nil {
			return // bad JSON may be answered by bad JSON, if it ends
		}
		if err != nil {
			t.Fatalf("%s of %s: %v", paths, value, err)
		}
		if found := any1.Validate(got); found != nil {
			t.Fatalf("%s of %s is %s: %v", paths, value, got, found)
		}
		var steps [][]string
		for path := range strings.SplitSeq(paths, ",") {
			steps = append(steps, stepsOf(path))
		}
		want, _ := walked(decoded(t, []byte(value)), steps)
		if diff := cmp.Diff(want, decoded(t, got)); diff != "" {
			t.Fatalf("%s of %s is %s (-want +got):\n%s", paths, value, got, diff)
		}
	})
}

// stepsOf is a path as a list of names, "*" for each of them.
func stepsOf(path string) (steps []string) {
	rest, pointer := strings.CutPrefix(path, "/")
	if pointer {
		steps = strings.Split(rest, "/")
	} else if path = strings.ReplaceAll(path, "[]", ".*"); strings.HasPrefix(path, ".*") {
		steps = strings.Split(path[1:], ".")
	} else {
		steps = strings.Split(path, ".")
	}
	for i, step := range steps {
		if pointer {
			steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		}
	}
	return steps
}

// walked selects by steps, and reports whether there is something.
func walked(v any, steps [][]string) (any, bool) {
	if len(steps) == 0 {
		return nil, false
	}
	for _, s := range steps {
		if len(s) == 0 {
			return v, true
		}
	}
	switch v := v.(type) {
	case map[string]any:
		part := map[string]any{}
		for name, below := range v {
			if kept, ok := walked(below, behind(steps, name)); ok {
				part[name] = kept
			}
		}
		return part, true
	case []any:
		return walkedItems(v, steps), true
	}
	return v, true
}

// walkedItems is walked for items: "*" names them, other names pass through.
func walkedItems(v []any, steps [][]string) any {
	var below [][]string
	for _, s := range steps {
		if s[0] == "*" {
			s = s[1:]
		}
		below = append(below, s)
	}
	part := []any{}
	for _, item := range v {
		kept, _ := walked(item, below)
		part = append(part, kept)
	}
	return part
}

// behind are the steps that go on behind a name.
func behind(steps [][]string, name string) (rest [][]string) {
	for _, s := range steps {
		if s[0] == name || s[0] == "*" {
			rest = append(rest, s[1:])
		}
	}
	return rest
}

func decoded(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}
