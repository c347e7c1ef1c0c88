// Package sample holds the tools that every program of the call benchmark
// serves: one with a short argument and a result of about 200 bytes or 50 KB,
// with the OpenAPI document of an upstream that answers the same, and one that
// returns its argument of 1 KB.
package sample

import (
	"encoding/json"
	"fmt"
)

// Args is the argument of the tool.
type Args struct {
	City string `json:"city"`
	Days int    `json:"days"`
}

// Forecast is the result.
type Forecast struct {
	City     string    `json:"city"`
	Count    int       `json:"count"`
	Stations []Station `json:"stations"`
}

// Station is one record of a result.
type Station struct {
	ID       int64    `json:"id"`
	Name     string   `json:"name"`
	Score    float64  `json:"score"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Location Place    `json:"location"`
	Note     string   `json:"note,omitempty"`
}

// Place is where a station stands.
type Place struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// Small is the name of the tool with 200 bytes of result, Big that of the one
// with 50 KB. Echo takes a Forecast and returns it.
const (
	Small = "small"
	Big   = "big"
	Echo  = "echo"
)

// echoed is how many stations make 1 KB.
const echoed = 5

// Want is the result of a call of the tool.
func Want(tool string) Forecast {
	if tool == Echo {
		return forecast(echoed)
	}
	return Results()[tool]
}

// Arguments are what a call of the tool is sent.
func Arguments(tool string) ([]byte, error) {
	if tool == Echo {
		return json.Marshal(forecast(echoed))
	}
	return json.Marshal(Args{City: "Reykjavik", Days: 3})
}

// Results are the tools with a short argument by name. Nobody may change them.
func Results() map[string]Forecast {
	return map[string]Forecast{Small: forecast(1), Big: forecast(280)}
}

// Of returns a result of so many stations.
func Of(n int) Forecast { return forecast(n) }

func forecast(n int) Forecast {
	f := Forecast{City: "Reykjavik", Count: n}
	for i := range n {
		f.Stations = append(f.Stations, Station{
			ID: int64(1000 + i), Name: fmt.Sprintf("station-%04d", i), Score: 0.25 + float64(i)/7, Active: i%2 == 0,
			Tags: []string{"alpha", "beta"}, Location: Place{64.1466 + float64(i)/1000, -21.9426}, Note: "light rain easing by evening",
		})
	}
	return f
}

// Document describes an upstream at base, an URL, in OpenAPI.
func Document(base string) string {
	return `{"openapi":"3.1.0","info":{"title":"forecasts","version":"1"},"servers":[{"url":"` + base + `"}],"paths":{` +
		operation(Small) + `,` + operation(Big) + `},"components":{"schemas":{` +
		`"Forecast":{"type":"object","required":["city","count","stations"],"properties":{"city":{"type":"string"},"count":{"type":"integer"},` +
		`"stations":{"type":"array","items":{"$ref":"#/components/schemas/Station"}}}},` +
		`"Station":{"type":"object","required":["id","name","score","active","tags","location"],"properties":{"id":{"type":"integer","format":"int64"},` +
		`"name":{"type":"string"},"score":{"type":"number"},"active":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},` +
		`"location":{"$ref":"#/components/schemas/Place"},"note":{"type":"string"}}},` +
		`"Place":{"type":"object","required":["lat","lon"],"properties":{"lat":{"type":"number"},"lon":{"type":"number"}}}}}}`
}

func operation(name string) string {
	return `"/` + name + `":{"get":{"operationId":"` + name + `","parameters":[` +
		`{"name":"city","in":"query","required":true,"schema":{"type":"string"}},` +
		`{"name":"days","in":"query","required":true,"schema":{"type":"integer"}}],` +
		`"responses":{"200":{"description":"the forecast","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Forecast"}}}}}}}`
}
