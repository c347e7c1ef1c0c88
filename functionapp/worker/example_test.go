package worker_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/tenon-mcp/tenon/functionapp/worker"
	"github.com/tenon-mcp/tenon/gofunc"
)

// An app is one program: App.Main serves the host, and "emit FOLDER" writes the
// files by which a host finds the functions. Here a host's call goes straight
// to the handler.
func Example() {
	type Days struct {
		City string `json:"city" check:"min=1"`
	}
	type Forecast struct {
		Celsius []float64 `json:"celsius" doc:"One value a day."`
	}
	app := worker.New(worker.Options{Name: "weather", Executable: "weather"})
	app.Func(gofunc.Func("get_forecast", "Daily forecast for a city.", func(_ context.Context, d Days) (Forecast, error) {
		return Forecast{Celsius: []float64{16.2, 17}}, nil
	}))

	files, err := app.Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Path)
	}
	handler, err := app.Handler()
	if err != nil {
		log.Fatal(err)
	}
	call := httptest.NewRequest("POST", "http://127.0.0.1/get_forecast", strings.NewReader(`{"Data":{"context":{"name":"get_forecast","arguments":{"city":"London"}}}}`))
	call.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, call)
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "16.2"))
	// Output:
	// host.json
	// get_forecast/function.json
	// 200 true
}
