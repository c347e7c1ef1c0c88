package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
)

// canary marks what must not be kept.
const canary = "canary"

// leaky serves a tool that answers with what its caller wants, however that looks.
func leaky(r *evidence.Recorder) *gateway.Gateway {
	schema := []byte(`{"type":"object","required":["id","owner"],"properties":{"id":{"type":"integer"},"owner":{"$ref":"#/$defs/Person"},"list":{"type":"array","items":{"$ref":"#/$defs/Person"},"uniqueItems":true}},
		"additionalProperties":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/Person"}]},"$defs":{"Person":{"type":"object","properties":{"name":{"type":"string","maxLength":5,"pattern":"^[a-z]*$"}},"additionalProperties":false,"propertyNames":{"maxLength":20}}}}`)
	return gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{{
		Name: "get", Policy: tenon.Warn, Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: schema}}},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			res := tenon.Response{Status: 200, MediaType: "application/json", Body: c.Args}
			switch rand.IntN(20) {
			case 0:
				res.MediaType = "application/" + canary
			case 1:
				res.Status, res.MediaType = 500, canary+"/json; x="+canary
			case 2:
				res.Body = res.Body[:len(res.Body)/2]
			}
			return res, nil
		},
	}}}}}, gateway.BuildOptions{}), gateway.Options{Observers: []gateway.Observer{evidenceObserver{r}}})
}

// randomAnswer is an object with canaries as values and names.
func randomAnswer(depth int) string {
	text := func() string { return fmt.Sprintf(`"%s%d"`, canary, rand.IntN(1000)) }
	if depth == 0 {
		return []string{text(), "1", "null", "true", "1.5"}[rand.IntN(5)]
	}
	var members []string
	seen := map[string]bool{}
	for range rand.IntN(5) {
		name := []string{`"id"`, `"owner"`, `"list"`, `"name"`, text(), text()}[rand.IntN(6)]
		if seen[name] {
			continue
		}
		seen[name] = true
		value := randomAnswer(depth - 1)
		if rand.IntN(4) == 0 {
			value = "[" + value + "," + randomAnswer(depth-1) + "]"
		}
		members = append(members, name+":"+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// The ledger has no value of an argument or a response and no name that is not
// declared, and counts every call.
func TestEvidenceHoldsNoValues(t *testing.T) {
	calls := 10_000
	if testing.Short() {
		calls = 1000
	}
	path := filepath.Join(t.TempDir(), "ledger")
	r, err := evidence.Open(evidence.Options{Path: path, Describe: describeTool, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	g := leaky(r)
	for i := range calls {
		if _, err := g.Call(context.Background(), &tenon.Call{Tool: "get", Args: []byte(randomAnswer(1 + i%3))}); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(strings.ToLower(line), canary) {
			t.Error(line)
		}
	}
	l, err := evidence.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var counted, places int64
	for k, c := range l.Sum() {
		if k.Keyword == "" {
			counted += c.Calls
		} else {
			places++
		}
	}
	if counted+l.Dropped() != int64(calls) || places < 10 {
		t.Errorf("%d calls counted, %d dropped, %d places", counted, l.Dropped(), places)
	}
}
