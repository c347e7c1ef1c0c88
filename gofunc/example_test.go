package gofunc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
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
	g, err := gateway.Load(ctx, gofunc.Functions{
		gofunc.Func("get_weather", "Current weather for a city.", getWeather),
	}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"London"}}}`)
	if err := server.New(g, server.Options{Name: "weather"}).ServeStdio(ctx, in, os.Stdout); err != nil {
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
func ExampleElicit() {
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
	g, err := gateway.Load(ctx, gofunc.Functions{gofunc.Func("fill", "Fills the tank.", fill)}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client := rounds{answered: map[string]tenon.InputResponse{}}
	call := &tenon.Call{Tool: "fill", Args: []byte(`{"fuel":"diesel"}`), Requester: client}
	_, err = g.Call(ctx, call)
	if needed := new(tenon.InputRequiredError); errors.As(err, &needed) {
		fmt.Println("asks:", needed.Requests[0].Message())
	}
	client.answered["amount"] = tenon.InputResponse{Action: "accept", Body: []byte(`{"liters":40}`)}
	result, err := g.Call(ctx, call)
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
