package gateway_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/openapi"
)

// One catalog of many sources: Go functions beside an OpenAPI document and a
// FlowMCP schema file. Names that two sources share get the source's name.
func ExampleBuild() {
	ctx := context.Background()
	sources := []struct {
		name   string
		source tenon.Source
	}{
		{"own", gofunc.Functions{gofunc.Func("find_pet", "Finds a pet by its name.", func(_ context.Context, in struct{ Name string }) (string, error) {
			return in.Name + " sleeps", nil
		})}},
		{"pets", openapi.New("../testdata/pets.yaml", openapi.Options{})},
		{"shop", flowmcp.New("../testdata/shop.mjs", flowmcp.Options{})},
	}
	var offers []gateway.Mount
	for _, s := range sources {
		offer, err := s.source.Load(ctx)
		if err != nil {
			log.Fatal(err)
		}
		offers = append(offers, gateway.Mount{Name: s.name, Features: offer})
	}
	g := gateway.New(gateway.Build(offers, gateway.BuildOptions{}), gateway.Options{})
	for _, tool := range g.Catalog().Tools() {
		fmt.Println(tool.Name())
	}
	// Output:
	// own_find_pet
	// pets_find_pet
	// list_pets
	// list_food_shop
	// next_part
	// describe
}
