package jq_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/jq"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestRun(t *testing.T) {
	deep := `reduce range(5000) as $i (0; [.])`
	tests := map[string]struct{ filter, value, want string }{
		"a member":                       {`.a.b`, `{"a":{"b":[1,"x",null]}}`, `[1,"x",null]`},
		"a new object":                   {`{id, names: [.items[].name]}`, `{"id":1,"items":[{"name":"a"},{"name":"b"}]}`, `{"id":1,"names":["a","b"]}`},
		"an integer beyond 2^53":         {`.`, `9007199254740993`, `9007199254740993`},
		"arithmetic with big integers":   {`.+1`, `123456789012345678901234567890`, `123456789012345678901234567891`},
		"a decimal keeps its text":       {`.a`, `{"a":1.10}`, `1.10`},
		"a decimal that is calculated":   {`.+0`, `0.1000000000000000055511151231257827`, `0.1`},
		"angle brackets stay":            {`.`, `"<a&b>"`, `"<a&b>"`},
		"no result":                      {`empty`, `1`, `error: jq filter: no result; one value is wanted`},
		"two results":                    {`.[]`, `[1,2]`, `error: jq filter: more than one result; brackets around the filter make a list of them`},
		"an error of its own":            {`error("no such thing")`, `1`, `error: jq filter: error: no such thing`},
		"an error behind a result":       {`1, error("late")`, `1`, `error: jq filter: error: late`},
		"a type that does not go":        {`.a`, `[1]`, `error: jq filter: expected an object but got: array ([1])`},
		"a stop":                         {`halt`, `1`, `error: jq filter: halt error: null`},
		"the environment is empty":       {`[env, $ENV]`, `1`, `[{},{}]`},
		"not strict JSON":                {`.`, `{"a":1,"a":2}`, `error: jq filter: its input is not strict JSON: offset 7: duplicate key`},
		"a result that is too large":     {`[range(1000)]`, `1`, `error: jq filter: a result of more than 1000 bytes, or nested deeper than 1000`},
		"a small one that grows written": {`reduce range(60) as $i (0; [., .])`, `1`, `error: jq filter: a result of more than 1000 bytes, or nested deeper than 1000`},
		"a result that is too deep":      {deep, `1`, `error: jq filter: a result of more than 1000 bytes, or nested deeper than 1000`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := jq.Compile(test.filter)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Run(t.Context(), []byte(test.value), 1000)
			if err != nil {
				got = []byte("error: " + err.Error())
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, filter := range map[string]string{
		"no filter":        `.a | (`,
		"further input":    `input`,
		"more of it":       `[inputs]`,
		"a module":         `import "a" as a; 1`,
		"an included file": `include "a"; 1`,
		"an unknown name":  `nothing_like_it`,
		"a long one":       `"` + strings.Repeat("a", 1<<17) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := jq.Compile(filter); err == nil {
				t.Error("compiles")
			} else {
				t.Log(err)
			}
		})
	}
	_, err := jq.Compile("{\n  a: .a |}\n}")
	if err == nil || !strings.Contains(err.Error(), "line 2, column 10") {
		t.Errorf("%v does not name the place", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	f, err := jq.Compile(`last(range(1e18))`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got, err := f.Run(ctx, []byte(`1`), 100); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %s, %v", got, err)
	}
}

// Whatever a filter that passes its value on is given: what comes out is equal
// to it, numbers included, and is strict JSON.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{`{"b":[1.50,-0,1e400],"a":"\ud83d\ude00\u0000"}`, `123456789012345678901234567890`, `[]`} {
		f.Add([]byte(seed))
	}
	same, err := jq.Compile(`.`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		out, err := same.Run(t.Context(), value, 1<<20)
		if err != nil {
			return
		}
		want, err := rawjson.AppendCanonical(nil, value)
		if err != nil {
			t.Fatalf("%s is accepted: %v", value, err)
		}
		if got, err := rawjson.AppendCanonical(nil, out); err != nil || string(got) != string(want) {
			t.Fatalf("%s became %s (%v)", value, out, err)
		}
		if n, ok := new(big.Int).SetString(string(value), 10); ok && string(value) != "-0" && n.String() != string(out) {
			t.Fatalf("%s became %s", value, out)
		}
	})
}
