package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// answer is what the stand-in of a public service sends next.
type answer struct {
	status int
	media  string
	body   string
}

// Of public documents, as large as they come: operations whose stand-in tells the truth
// have no drift, and of the twenty that lie each has its own and no other.
func TestDriftOfPublicDocuments(t *testing.T) {
	folder := filepath.Join("..", ".cache", "data")
	for _, name := range []string{"directory/api/stripe.com.json", "directory/api/slack.com.json", "directory/api/hetzner.cloud.json", "directory/api/atlassian.com/jira.json", "api.github.com.json"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file := filepath.Join(folder, filepath.FromSlash(name))
			if _, err := os.Stat(file); err != nil {
				t.Skip("there are no public documents: '.ci/run data' fetches them")
			}
			if !slowDocuments && strings.Contains(name, "stripe") {
				t.Skip("its schemas take minutes with the race detector")
			}
			driftOfPublic(t, withoutSecurity(t, file))
		})
	}
}

// withoutSecurity is a copy of a document whose operations need no credential.
func withoutSecurity(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	var paths map[string]map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &doc), json.Unmarshal(doc["paths"], &paths)); err != nil {
		t.Fatal(err)
	}
	delete(doc, "security")
	for _, item := range paths {
		for method, text := range item {
			var operation map[string]json.RawMessage
			if json.Unmarshal(text, &operation) == nil {
				delete(operation, "security")
				item[method], _ = json.Marshal(operation)
			}
		}
	}
	doc["paths"], _ = json.Marshal(paths)
	text, _ = json.Marshal(doc)
	open := filepath.Join(t.TempDir(), "open.json")
	if err := os.WriteFile(open, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return open
}

func driftOfPublic(t *testing.T, file string) {
	var next atomic.Pointer[answer]
	ledger := filepath.Join(t.TempDir(), "ledger")
	c := NewConfig()
	c.Evidence, c.Defaults.Confirm.All, c.Defaults.Retries = ledger, "off", 0
	c.AddSpec("public=" + file)
	a, err := New(t.Context(), c, Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Intercept(roundTripper(func(r *http.Request) (*http.Response, error) {
		s := next.Load()
		return &http.Response{
			StatusCode: s.status, Header: http.Header{"Content-Type": {s.media}}, Body: io.NopCloser(strings.NewReader(s.body)),
			ContentLength: int64(len(s.body)), ProtoMajor: 1, ProtoMinor: 1, Request: r,
		}, nil
	}))
	const lying = 20
	want := map[string]string{} // keyword by tool
	told := map[string]int{}    // of each way
	truths := 0
	for _, tool := range a.Gateway.Catalog().Tools() {
		if len(want) == lying && truths >= 50 {
			break
		}
		truth, args, ok := trueAnswer(tool)
		if !ok {
			continue
		}
		call := func(s answer) *tenon.Result {
			next.Store(&s)
			res, err := a.Gateway.Call(context.Background(), &tenon.Call{Tool: tool.Name(), Args: args})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if res := call(truth); res.Outcome.Verdict != tenon.Fits { // a credential is missing, or the arguments are not what it takes
			continue
		}
		if truths++; truths%2 == 0 || len(want) == lying {
			continue
		}
		way := leastTold(told, waysToLie(EvidenceOf(tool).Responses, truth))
		call(way.answer)
		want[tool.Name()] = way.keyword
		told[way.name]++
	}
	if err := a.evidence.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(want) < lying {
		t.Fatalf("%d operations lie, %d tell the truth", len(want), truths)
	}
	got := map[string]string{}
	for _, f := range compareWith(t, a, ledger).Drifts {
		for _, p := range f.Places {
			if got[p.Described.Tool] != "" {
				t.Errorf("%s: %s and %s", p.Described.Tool, got[p.Described.Tool], f.Keyword)
			}
			got[p.Described.Tool] = f.Keyword
		}
	}
	for tool, keyword := range want {
		if got[tool] != keyword {
			t.Errorf("%s: found %q, want %s", tool, got[tool], keyword)
		}
		delete(got, tool)
	}
	for tool, keyword := range got {
		t.Errorf("%s: found, and no lie: %s", tool, keyword)
	}
	if len(told) < 8 {
		t.Errorf("only %d ways to lie: %v", len(told), told)
	}
	t.Logf("%d of %d operations lied: %v", len(want), truths, told)
}

// trueAnswer is a success of an operation with a JSON object or list, and arguments for
// it.
func trueAnswer(tool *gateway.Tool) (truth answer, args []byte, ok bool) {
	input, _ := tool.Schemas()
	in, err := schema.Compile(input, schema.Options{})
	if tool.BuiltIn() || err != nil {
		return truth, nil, false
	}
	if args, ok = sample.Of(in); !ok {
		return truth, nil, false
	}
	for _, r := range EvidenceOf(tool).Responses {
		if r.Status != "200" || r.MediaType != "application/json" || r.Schema == nil {
			continue
		}
		s, err := schema.Compile(r.Schema, schema.Options{})
		if err != nil {
			return truth, nil, false
		}
		body, ok := sample.Of(s)
		found := s.Validate([]byte(`"a text"`))
		return answer{200, r.MediaType, string(body)}, args, ok && len(body) > 1 && (body[0] == '{' || body[0] == '[') && len(found) == 1 && found[0].Keyword == "type"
	}
	return truth, nil, false
}
