// Weather is a whole MCP server: two Go functions become two tools. Without
// an argument it serves stdin and stdout, as clients start it; with an address
// it serves HTTP there, at /mcp.
//
// It knows no weather but its table. It stands outside the product, as a
// program that imports it would.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

// Place is what get_weather is asked for.
type Place struct {
	City string `json:"city" doc:"Name of the city." check:"min=1,example=London"`
}

// Weather is what it answers.
type Weather struct {
	Temperature float64 `json:"temperature" doc:"Degrees Celsius."`
	Humidity    float64 `json:"humidity" doc:"Relative humidity, 0 to 1." check:"min=0,max=1"`
	Conditions  string  `json:"conditions"`
}

// Days is what get_forecast is asked for.
type Days struct {
	Place
	Days int `json:"days" doc:"How many days." check:"min=1,max=14,default=3"`
}

func getWeather(_ context.Context, p Place) (Weather, error) {
	switch p.City {
	case "London":
		return Weather{16.2, 0.83, "Overcast"}, nil
	case "Cairo":
		return Weather{34.1, 0.21, "Sunny"}, nil
	}
	return Weather{}, &tenon.Error{Code: tenon.CodeNotFound, Message: fmt.Sprintf("there is no station in %s; try London or Cairo", p.City)}
}

func getForecast(ctx context.Context, d Days) ([]Weather, error) {
	today, err := getWeather(ctx, d.Place)
	if err != nil {
		return nil, err
	}
	forecast := make([]Weather, d.Days)
	for i := range forecast {
		forecast[i] = today
		forecast[i].Temperature += float64(i)
	}
	return forecast, nil
}

func functions() gofunc.Functions {
	yes := true
	reads := gofunc.Options{Annotations: tenon.Annotations{ReadOnly: &yes}}
	return gofunc.Functions{
		gofunc.Func("get_weather", "Current weather for a city.", getWeather).With(reads),
		gofunc.Func("get_forecast", "Daily forecast for a city.", getForecast).With(reads),
	}
}

func main() {
	g, err := gateway.Load(context.Background(), functions(), gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := server.New(g, server.Options{Name: "weather"})
	if len(os.Args) < 2 {
		err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	} else {
		http.Handle("/mcp", s)
		err = (&http.Server{Addr: os.Args[1], ReadHeaderTimeout: 10 * time.Second}).ListenAndServe()
	}
	if err != nil {
		log.Fatal(err)
	}
}
