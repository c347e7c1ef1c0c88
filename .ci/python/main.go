// Command python serves the tools of server.py, made of Go functions, on stdin
// and stdout. With the argument refused it prints why the one function cannot
// be registered whose type declares nothing.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

type (
	none struct{}
	city struct {
		City string `json:"city"`
	}
	name struct {
		Name string `json:"name"`
	}

	// WeatherData, Place, Station and Node are those of server.py.
	WeatherData struct {
		Temperature float64 `json:"temperature"`
		Humidity    float64 `json:"humidity"`
		Conditions  string  `json:"conditions"`
	}
	Place struct {
		Lat float64 `json:"lat"`
		Lon float64 `json:"lon"`
	}
	Station struct {
		Name     string        `json:"name"`
		Place    Place         `json:"place"`
		Readings []WeatherData `json:"readings"`
	}
	Node struct {
		Value int    `json:"value"`
		Kids  []Node `json:"kids"`
	}

	// Sky is an enum.
	Sky string

	search struct {
		City  string `json:"city"`
		Days  int    `json:"days" doc:"How many days." check:"min=1,max=14,default=3"`
		Unit  string `json:"unit" check:"enum=c|f,default=c"`
		Where *Place `json:"where"`
	}
	mute struct{ name string }
)

// EnumValues lists them.
func (Sky) EnumValues() []Sky { return []Sky{"clear", "overcast"} }

func overcast() WeatherData {
	return WeatherData{Temperature: 16.2, Humidity: 0.83, Conditions: "Overcast"}
}

// gives makes a function that always returns the same.
func gives[In, T any](name, description string, v T) gofunc.Function {
	return gofunc.Func(name, description, func(context.Context, In) (T, error) { return v, nil })
}

func text(f gofunc.Function) gofunc.Function { return f.With(gofunc.Options{TextOnly: true}) }

func getTemperature(_ context.Context, in city) (int, error) {
	t, ok := map[string]int{"London": 17, "Cairo": 34, "Reykjavik": 4}[in.City]
	if !ok {
		return 0, fmt.Errorf("%q", in.City)
	}
	return t, nil
}

func getForecast(_ context.Context, in struct {
	City string `json:"city"`
	Days int    `json:"days"`
},
) ([]WeatherData, error) {
	all := make([]WeatherData, in.Days)
	for i := range all {
		all[i] = overcast()
		all[i].Temperature += float64(i)
	}
	return all, nil
}

func getTemperatures(_ context.Context, in struct {
	Cities []string `json:"cities"`
},
) (map[string]float64, error) {
	readings := map[string]float64{"London": 16.2, "Cairo": 34.1, "Reykjavik": 4.4}
	out := map[string]float64{}
	for _, c := range in.Cities {
		out[c] = readings[c]
	}
	return out, nil
}

func getDetails(_ context.Context, in name) (Station, error) {
	return Station{Name: in.Name, Place: Place{Lat: 51.5, Lon: -0.125}, Readings: []WeatherData{overcast()}}, nil
}

func find(_ context.Context, in search) (string, error) {
	where := "nowhere"
	if in.Where != nil {
		where = fmt.Sprint(in.Where.Lat)
	}
	return fmt.Sprintf("%s %d %s %s", in.City, in.Days, in.Unit, where), nil
}

func fail(_ context.Context, in city) (int, error) {
	return 0, fmt.Errorf("there is no station in %s", in.City)
}

func report(_ context.Context, in city) (string, error) {
	return in.City + ": 17 degrees, overcast, light rain easing by evening.", nil
}

// described is WeatherData with descriptions: another type of the same name.
func described() gofunc.Function {
	type WeatherData struct {
		Temperature float64 `json:"temperature" doc:"Degrees Celsius."`
		Humidity    float64 `json:"humidity" doc:"Relative humidity, 0 to 1." check:"min=0,max=1,example=0.5"`
		Conditions  string  `json:"conditions"`
	}
	return gives[city]("get_weather", "Current weather for a city.", WeatherData(overcast()))
}

func functions() gofunc.Functions {
	w, many := overcast(), "many"
	place := Place{Lat: 51.5, Lon: -0.125}
	raw := func(s string) gofunc.JSON[WeatherData] { return gofunc.JSON[WeatherData]{Raw: json.RawMessage(s)} }
	return gofunc.Functions{
		gofunc.Func("get_temperature", "Current temperature in a city, in whole degrees Celsius.", getTemperature),
		gives[none]("get_name", "", "London"),
		gives[none]("get_ratio", "", 0.25),
		gives[none]("is_raining", "", true),
		gives[none]("get_bytes", "", []byte("rain")),
		gives[none]("reset", "", struct{}{}),
		gives[none]("get_time", "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		gives[none]("get_sky", "", Sky("overcast")),
		gives[none]("count_drops", "In Go an int32, which has bounds.", int32(7)),
		described(),
		gives[city]("get_weather_dict", "", w),
		gives[city]("get_weather_data", "", w),
		gives[city]("get_weather_class", "", w),
		gofunc.Func("get_details", "", getDetails),
		gives[none]("get_tree", "", Node{Value: 1, Kids: []Node{{Value: 2}}}),
		gofunc.Func("get_forecast", "Daily forecast for a city.", getForecast),
		gives[none]("list_cities", "", []string{"London", "Cairo"}),
		gives[none]("list_grid", "", [][]int{{1, 2}, {3}}),
		gives[none]("list_gaps", "", []*int{new(7), nil}),
		gives[none]("get_pair", "", gofunc.Tuple2[int, string]{A: 7, B: "mm"}),
		gives[none]("get_triple", "", gofunc.Tuple3[int, string, WeatherData]{A: 7, B: "mm", C: w}),
		gives[none]("get_either", "", gofunc.OneOf2[int, string]{B: &many}),
		gives[none]("get_model", "", gofunc.OneOf2[WeatherData, Place]{B: &place}),
		gives[none]("get_maybe", "", (*int)(nil)),
		gives[none]("get_maybe_weather", "", &w),
		gofunc.Func("get_temperatures", "Current temperature for each city, in degrees Celsius.", getTemperatures),
		gives[none]("get_history", "", map[string][]WeatherData{"London": {w}}),
		gives[none]("get_by_hour", "", map[int]float64{1: 16.2}),
		gives[city]("get_upstream", "", raw(`{"temperature": 16.2, "conditions": "Overcast"}`)),
		gives[none]("get_upstream_whole", "", raw(`{"temperature": 16.2, "humidity": 0.83, "conditions": "Overcast"}`)),
		gofunc.Func("fail", "", fail),
		gofunc.Func("search", "", find),
		text(gofunc.Func("weather_report", "A human-readable weather report for a city.", report)),
		text(gives[none]("report_model", "", w)),
		text(gives[none]("report_list", "", []int{1, 2})),
		gives[none]("get_picture", "", tenon.Image("image/png", []byte("picture"))),
		gives[none]("get_block", "", tenon.Text("a block")),
		gives[none]("get_link", "", []tenon.Content{tenon.Link("file:///station", "station", "text/plain")}),
		gives[none]("get_whole", "", gofunc.Output[WeatherData]{Value: w, Content: []tenon.Content{tenon.Text("mild")}, Meta: map[string]any{"example.org/station": 7}}),
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "refused" {
		_, err := gives[name]("get_station", "Look up a weather station by name.", mute{name: "Kew"}).Tool()
		fmt.Println(err)
		return
	}
	g, err := gateway.Load(context.Background(), functions(), gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.New(g, server.Options{Name: "weather"}).ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
