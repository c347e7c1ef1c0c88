package schema_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// TestSampleFits has no sample that the fallback validator's library rejects.
func TestSampleFits(t *testing.T) {
	found, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := &maker{T: t}
		doc := m.document("")
		s, err := schema.Compile([]byte(doc), schema.Options{})
		if err != nil {
			return
		}
		all++
		value, ok := sample.Of(s)
		if !ok {
			return
		}
		found++
		if again, _ := sample.Of(s); string(again) != string(value) || !json.Valid(value) {
			t.Errorf("%s: %s and %s", doc, value, again)
		}
		if o, err := oracle(doc); err == nil && !fits(t, o, string(value)) {
			t.Errorf("%s does not fit %s", value, doc)
		}
	})
	t.Logf("%d of %d schemas have a sample", found, all)
	if found*2 < all {
		t.Errorf("only %d of %d schemas have a sample", found, all)
	}
}
