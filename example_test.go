package tenon_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// The whole of a first server. A real one gives os.Stdin to ServeStdio, or
// mounts the server at a path of net/http: see examples/weather.
func Example() {
	type Place struct {
		City string `json:"city" doc:"Name of the city." check:"example=London"`
	}
	type Weather struct {
		Temperature float64 `json:"temperature" doc:"Degrees Celsius."`
		Humidity    float64 `json:"humidity" doc:"Relative humidity, 0 to 1." check:"min=0,max=1"`
		Conditions  string  `json:"conditions"`
	}
	getWeather := func(_ context.Context, p Place) (Weather, error) {
		if p.City != "London" {
			return Weather{}, fmt.Errorf("there is no station in %s", p.City)
		}
		return Weather{Temperature: 16.2, Humidity: 0.83, Conditions: "Overcast"}, nil
	}

	ctx := context.Background()
	gateway, err := tenon.Load(ctx, tenon.Functions{
		tenon.Func("get_weather", "Current weather for a city.", getWeather),
	}, tenon.GatewayOptions{})
	if err != nil {
		log.Fatal(err)
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"London"}}}`)
	if err := server.New(gateway, server.Options{Name: "weather"}).ServeStdio(ctx, in, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"_meta":{"tenon/contract":{"verdict":"fits","executed":"yes","retry":"unsafe","mediaType":"application/json"}},"content":[{"type":"text","text":"{\n  \"temperature\": 16.2,\n  \"humidity\": 0.83,\n  \"conditions\": \"Overcast\"\n}"}],"structuredContent":{"temperature":16.2,"humidity":0.83,"conditions":"Overcast"}}}
}
