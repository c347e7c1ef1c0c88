// Functionapp is a function app in Go: one program and the folder app, which
// the program writes itself. Azure Functions runs it as a custom handler, and
// tenon serves it without Azure:
//
//	go build -o app/weather .
//	app/weather emit app
//	tenon serve app
//
// It stands outside the product, as a program that imports it would.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp/worker"
	"github.com/tenon-mcp/tenon/gofunc"
)

// Days is what get_forecast is asked for.
type Days struct {
	City string `json:"city" doc:"Name of the city." check:"min=1,example=London"`
	Days int    `json:"days" doc:"How many days." check:"min=1,max=14,default=3"`
}

// Forecast is what it answers.
type Forecast struct {
	City    string    `json:"city"`
	Celsius []float64 `json:"celsius" doc:"One value a day."`
}

func stations() map[string]float64 { return map[string]float64{"London": 16.2, "Cairo": 34.1} }

func getForecast(_ context.Context, d Days) (Forecast, error) {
	today, known := stations()[d.City]
	if !known {
		return Forecast{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "there is no station in " + d.City}
	}
	f := Forecast{City: d.City}
	for i := range d.Days {
		f.Celsius = append(f.Celsius, today+float64(i))
	}
	return f, nil
}

// convert has its schemas written by hand, and so reads its arguments itself.
func convert(_ context.Context, c *tenon.Call) (tenon.Response, error) {
	var args struct{ Celsius float64 }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tenon.Response{}, err
	}
	return worker.JSON(map[string]float64{"fahrenheit": args.Celsius*9/5 + 32})
}

// chart answers a picture.
func chart(context.Context, *tenon.Call) (tenon.Response, error) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>`
	return tenon.Response{MediaType: "image/svg+xml", Content: []tenon.Content{
		{Type: tenon.ImageContent, MediaType: "image/svg+xml", Data: []byte(svg)},
	}}, nil
}

func readStation(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
	celsius, known := stations()[strings.TrimPrefix(uri, "weather://station/")]
	if !known {
		return nil, &tenon.Error{Code: tenon.CodeNotFound, Message: "there is no such station"}
	}
	return []tenon.Content{{Type: tenon.EmbeddedResource, Text: fmt.Appendf(nil, "%g °C\n", celsius)}}, nil
}

func readStations(context.Context, string, *tenon.Call) ([]tenon.Content, error) {
	names := slices.Sorted(maps.Keys(stations()))
	return []tenon.Content{{Type: tenon.EmbeddedResource, Text: []byte(strings.Join(names, "\n") + "\n")}}, nil
}

func packing(_ context.Context, args map[string]string, _ *tenon.Call) ([]tenon.PromptMessage, error) {
	text := "What should I pack for " + args["city"] + "? Look at the forecast first."
	return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte(text)}}}, nil
}

func app() *worker.App {
	yes := true
	reads := gofunc.Options{Annotations: tenon.Annotations{ReadOnly: &yes}}
	a := worker.New(worker.Options{Name: "weather", Version: "1.0.0", Executable: "weather"})
	a.Func(gofunc.Func("get_forecast", "Daily forecast for a city.", getForecast).With(reads))
	a.Tool("to_fahrenheit").
		WithDescription("Converts a temperature.").
		WithProperty(worker.Property{Name: "celsius", Type: "number", Description: "Degrees Celsius.", Required: true}).
		WithOutputSchema(`{"type": "object", "properties": {"fahrenheit": {"type": "number"}}, "required": ["fahrenheit"]}`).
		WithMetadata("unit", "°F").
		Handle(convert)
	a.Tool("chart").WithDescription("A picture of the weather.").Handle(chart)
	a.Resource("weather://stations", "stations").WithMedia("text/plain").Read(readStations)
	a.Resource("weather://station/{city}", "station").WithMedia("text/plain").Read(readStation)
	a.Prompt("packing").WithDescription("What to pack.").
		WithArgument(tenon.PromptArgument{Name: "city", Description: "Where to.", Required: true}).
		Get(packing)
	return a
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := app().Main(ctx, worker.Process{Args: os.Args[1:], Getenv: os.Getenv, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
