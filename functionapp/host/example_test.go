package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon/functionapp/host"
)

// Read looks at the folder of an app and starts nothing.
func ExampleRead() {
	app, err := host.Read("../../examples/functionapp/app", nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range app.Functions {
		f := &app.Functions[i]
		fmt.Println(f.Name, "serves", f.Serves())
	}
	// Output:
	// chart serves tool chart
	// get_forecast serves tool get_forecast
	// prompt_packing serves prompt packing
	// resource_station serves resource weather://station/{city}
	// resource_stations serves resource weather://stations
	// to_fahrenheit serves tool to_fahrenheit
}

// A source over the folder starts the worker with Load or, as here, with the
// first call. Close ends it.
func ExampleNew() {
	source := host.New("../../examples/functionapp/app", host.Options{OnDemand: true})
	defer func() { _ = source.Close() }()
	offer, err := source.Load(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range offer.Tools {
		fmt.Println("tool", t.Name)
	}
	for _, r := range offer.Resources {
		fmt.Println("resource", r.URI)
	}
	// Output:
	// tool chart
	// tool get_forecast
	// tool to_fahrenheit
	// resource weather://stations
}
