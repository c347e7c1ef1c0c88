package tenon_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/openapi"
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
	gateway, err := gateway.Load(ctx, gofunc.Functions{
		gofunc.Func("get_weather", "Current weather for a city.", getWeather),
	}, gateway.Options{})
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

// rounds is a client of a revision that cannot be asked in the middle of a
// call: it ends the call with the question and makes it again with the answer.
type rounds struct {
	answered map[string]tenon.InputResponse
}

func (r rounds) RequestInput(_ context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	answers := make([]tenon.InputResponse, len(questions))
	for i, q := range questions {
		answer, ok := r.answered[q.Key]
		if !ok {
			return nil, &tenon.InputRequiredError{Requests: questions}
		}
		answers[i] = answer
	}
	return answers, nil
}

// A function that asks is run again from its beginning when the answer is
// there, under revision 2026-07-28 and later: it asks first, and does its work
// after the last question. What it does twice must do no harm.
func ExampleAskFor() {
	type Order struct {
		Fuel string `json:"fuel" check:"enum=diesel|petrol"`
	}
	type Amount struct {
		Liters int `json:"liters" doc:"How much." check:"min=1,max=60"`
	}
	fill := func(ctx context.Context, o Order) (string, error) {
		fmt.Println("begins")
		amount, err := gofunc.Elicit[Amount](ctx, "amount", "How much "+o.Fuel+"?")
		if err != nil {
			return "", err // the question itself, a no, or that nobody can be asked
		}
		fmt.Println("pumps")
		return fmt.Sprintf("%d liters of %s", amount.Liters, o.Fuel), nil
	}

	ctx := context.Background()
	gateway, err := gateway.Load(ctx, gofunc.Functions{gofunc.Func("fill", "Fills the tank.", fill)}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client := rounds{answered: map[string]tenon.InputResponse{}}
	call := &tenon.Call{Tool: "fill", Args: []byte(`{"fuel":"diesel"}`), Requester: client}
	_, err = gateway.Call(ctx, call)
	if needed := new(tenon.InputRequiredError); errors.As(err, &needed) {
		fmt.Println("asks:", needed.Requests[0].Message())
	}
	client.answered["amount"] = tenon.InputResponse{Action: "accept", Body: []byte(`{"liters":40}`)}
	result, err := gateway.Call(ctx, call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.Structured)
	// Output:
	// begins
	// asks: How much diesel?
	// begins
	// pumps
	// {"result":"40 liters of diesel"}
}

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
		{"pets", openapi.New("testdata/pets.yaml", openapi.Options{})},
		{"shop", flowmcp.New("testdata/shop.mjs", flowmcp.Options{})},
	}
	var offers []gateway.Mount
	for _, s := range sources {
		offer, err := s.source.Load(ctx)
		if err != nil {
			log.Fatal(err)
		}
		offers = append(offers, gateway.Mount{Name: s.name, Features: offer})
	}
	gateway := gateway.New(gateway.Build(offers, gateway.BuildOptions{}), gateway.Options{})
	for _, tool := range gateway.Catalog().Tools() {
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
	gateway, err := gateway.Load(ctx, stock{"apples,3\npears,none"}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range gateway.Catalog().Tools() {
		result, err := gateway.Call(ctx, &tenon.Call{Tool: tool.Name()})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s%s\n", tool.Name(), result.Structured, result.Code)
	}
	// Output:
	// count_apples {"left":3}
	// count_pears contract_violation
}
