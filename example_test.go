package tenon_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// stock is a source of its own kind: what it reads becomes tools, and a handler
// answers with the bytes that it got.
type stock struct{ csv string }

func (s stock) Load(context.Context) (tenon.Features, error) {
	yes := true
	var offer tenon.Features
	for line := range strings.Lines(s.csv) {
		name, amount, _ := strings.Cut(strings.TrimSpace(line), ",")
		offer.Tools = append(offer.Tools, tenon.Tool{
			Name:        "count_" + name,
			Description: "How many " + name + " there are.",
			Annotations: tenon.Annotations{ReadOnly: &yes},
			Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{
				MediaType: "application/json",
				Schema:    []byte(`{"type":"object","properties":{"left":{"type":"integer"}},"required":["left"]}`),
			}}},
			Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
				return tenon.Response{MediaType: "application/json", Body: []byte(`{"left":` + amount + `}`)}, nil
			},
		})
	}
	return offer, nil
}

// A source of your own needs one method. The gateway checks what it answers;
// tenontest.Source checks the source.
func ExampleSource() {
	ctx := context.Background()
	g, err := gateway.Load(ctx, stock{"apples,3\npears,none"}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range g.Catalog().Tools() {
		result, err := g.Call(ctx, &tenon.Call{Tool: tool.Name()})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s%s\n", tool.Name(), result.Structured, result.Code)
	}
	// Output:
	// count_apples {"left":3}
	// count_pears contract_violation
}
