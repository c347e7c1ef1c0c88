package schema_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// Every sample fits the schema that is inferred.
func TestInferProperty(t *testing.T) { rapid.Check(t, inferHolds) }

func FuzzInfer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(inferHolds)) }

func inferHolds(t *rapid.T) {
	m := maker{T: t}
	var samples [][]byte
	for range rapid.IntRange(0, 5).Draw(t, "samples") {
		samples = append(samples, []byte(m.value(4)))
	}
	doc, err := sample.Infer(samples...)
	if err != nil {
		t.Fatalf("%s: %v", samples, err)
	}
	s, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	for _, sample := range samples {
		if bad := s.Validate(sample); bad != nil || !s.Bytes() {
			t.Fatalf("%s\ninferred of %s rejects %s: %v", doc, samples, sample, bad)
		}
	}
}
