package openapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// budgeted has a small, a big and a bigger answer, and a big argument.
func budgeted() string {
	object := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"property%d":{"type":"string","minLength":%d}`, i, i)
		}
		return `{"type":"object","properties":{` + b.String()[1:] + `}}`
	}
	return `{"openapi":"3.1.0","paths":{"/a":{"post":{"operationId":"op",
		"requestBody":{"content":{"application/json":{"schema":` + object(50) + `}}},
		"responses":{
			"200":{"content":{"application/json":{"schema":` + object(40) + `}}},
			"201":{"content":{"application/json":{"schema":` + object(3) + `}}},
			"202":{"content":{"application/json":{"schema":` + object(80) + `}}},
			"400":{"content":{"application/json":{"schema":` + object(90) + `}}}}}}}}`
}

func TestSchemaBudgets(t *testing.T) {
	const limit = 1500
	contract := load(t, budgeted(), openapi.Options{MaxInputSchema: limit, MaxOutputSchema: limit}).Tools[0].Contract
	published, diagnostics := contract.PublishedContract()
	full, err := contract.Contract()
	if err != nil {
		t.Fatal(err)
	}
	if len(published.Input) > limit || len(full.Input) <= limit {
		t.Errorf("input of %d bytes published with %d", len(full.Input), len(published.Input))
	}
	size := 0
	for _, v := range published.Responses {
		size += len(v.Schema)
	}
	if size > limit {
		t.Errorf("%d bytes of answers", size)
	}
	if d := cmp.Diff(string(full.Responses[1].Schema), string(published.Responses[1].Schema)); d != "" {
		t.Errorf("the small answer changed: %s", d)
	}
	var what []string
	for _, f := range diagnostics {
		what = append(what, strings.Join(strings.Fields(f.Message)[:5], " "))
	}
	if d := cmp.Diff([]string{"POST /a: input schema of", "POST /a: output schema 200", "POST /a: output schema 202"}, what); d != "" {
		t.Error(d)
	}
}

func TestNoBudget(t *testing.T) {
	contract := load(t, budgeted(), openapi.Options{MaxInputSchema: -1, MaxOutputSchema: -1}).Tools[0].Contract
	published, diagnostics := contract.PublishedContract()
	full, err := contract.Contract()
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(err, diagnostics)
	}
	full.Responses[3].Schema = nil // an error's body is checked, not published
	if d := cmp.Diff(full, published); d != "" {
		t.Error(d)
	}
}

func TestToolsAreUsedFromManyGoroutines(t *testing.T) {
	var paths []string
	for i := range 20 {
		paths = append(paths, fmt.Sprintf(`"/a%d/{id}":{"post":{
			"parameters":[{"$ref":"#/components/parameters/Id"}],
			"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},
			"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}`, i))
	}
	doc := `{"openapi":"3.0.0","servers":[{"url":"https://api.test"}],"paths":{` + strings.Join(paths, ",") + `},"components":{
		"parameters":{"Id":{"name":"id","in":"path","required":true,"schema":{"$ref":"#/components/schemas/B"}}},
		"schemas":{"A":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/B"},"a":{"$ref":"#/components/schemas/A"},"gone":{"$ref":"#/none"}}},"B":{"type":"integer"}}}}`
	o := openapi.Options{Client: &http.Client{Transport: tripper(func(*http.Request) {})}}
	offer := load(t, doc, o)
	var wg sync.WaitGroup
	var mu sync.Mutex
	reported := 0
	for range 8 {
		for _, tool := range offer.Tools {
			wg.Go(func() {
				checkContract(t, tool)
				if _, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"id":1,"body":{}}`)}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, tool := range load(t, doc, o).Tools {
		wg.Go(func() {
			_, diagnostics := tool.Contract.PublishedContract()
			mu.Lock()
			defer mu.Unlock()
			reported += len(diagnostics)
		})
	}
	wg.Wait()
	if reported != 1 {
		t.Errorf("the dangling reference of a shared schema was reported %d times", reported)
	}
}
