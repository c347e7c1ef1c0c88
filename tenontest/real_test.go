package tenontest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/functionapp/worker"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/tenontest"
)

const asWorker = "TENONTEST_IS_WORKER"

// handlerWorker is the command of a worker for handlers of schema files.
var handlerWorker []string

// TestMain makes the test binary the worker of handlers and of a function app.
func TestMain(m *testing.M) {
	handlerWorker = flowmcp.WorkerMain()
	if os.Getenv(asWorker) != "" {
		os.Exit(app().Main(context.Background(), worker.Process{Getenv: os.Getenv, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

type place struct {
	City string `json:"city" check:"min=1,example=London"`
}

type weather struct {
	Celsius float64 `json:"celsius"`
	Wind    *string `json:"wind"`
}

func getWeather(_ context.Context, p place) (weather, error) {
	if p.City != "London" {
		return weather{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "there is no station in " + p.City}
	}
	return weather{Celsius: 16.2}, nil
}

func readOnly() gofunc.Options {
	yes := true
	return gofunc.Options{Annotations: tenon.Annotations{ReadOnly: &yes}}
}

func TestFunctions(t *testing.T) {
	underWay := make(chan struct{})
	tenontest.Functions(t, gofunc.Functions{
		gofunc.Func("get_weather", "Current weather for a city.", getWeather).With(readOnly()),
		gofunc.Func("count", "Counts letters.", func(_ context.Context, p place) (int, error) { return len(p.City), nil }).With(readOnly()),
		gofunc.Func("order_sun", "Orders sun.", func(ctx context.Context, _ place) (string, error) {
			close(underWay)
			<-ctx.Done()
			return "", ctx.Err()
		}),
		gofunc.Func("order_rain", "Orders rain.", func(context.Context, place) (string, error) { return "", errors.New("out of stock") }),
	}, tenontest.SourceOptions{Samples: []tenontest.Sample{
		{Tool: "get_weather", Args: `{"city":"Cairo"}`, Code: tenon.CodeNotFound},
		{Tool: "order_sun", Begun: underWay},
		{Tool: "order_rain", Code: tenon.CodeInternal},
	}})
}

func TestOpenAPI(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := `{"name":"Rex"}`
		if r.URL.Path == "/pets" {
			body = `[{"name":"Rex"},{"name":"Kim"}]`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(upstream.Close)
	tenontest.Source(t, func() tenon.Source {
		return openapi.New("../testdata/pets.yaml", openapi.Options{BaseURL: upstream.URL, Client: upstream.Client()})
	}, tenontest.SourceOptions{Samples: []tenontest.Sample{{Tool: "find_pet", Args: `{"name":"Rex"}`}, {Tool: "list_pets"}}})
}

// TestGitHub checks all tools of a large document, and calls those that read; a
// server that has nothing answers them. Under the race detector it is some.
func TestGitHub(t *testing.T) {
	file := os.Getenv("TENON_OPENAPI_GITHUB")
	if file == "" {
		t.Skip("TENON_OPENAPI_GITHUB names no file: GitHub's document is NOT tested")
	}
	upstream := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(upstream.Close)
	o := openapi.Options{BaseURL: upstream.URL, Client: upstream.Client()}
	if raced {
		o.Selection.Include = []string{"tag:issues"}
	}
	tenontest.Source(t, func() tenon.Source { return openapi.New(file, o) }, tenontest.SourceOptions{})
}

func TestFlowMCP(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		result := `"none"`
		if r.URL.Query().Get("action") == "source" {
			result = `[{"Source":"x","Name":"y"}]`
		}
		_, _ = io.WriteString(w, `{"status":"1","result":`+result+`}`)
	}))
	t.Cleanup(upstream.Close)
	for _, file := range []string{"Page", "Handlers", "Requests", "Resources"} {
		t.Run(file, func(t *testing.T) {
			tenontest.Source(t, func() tenon.Source {
				return flowmcp.New("../flowmcp/testdata/"+file+".mjs", flowmcp.Options{
					BaseURL: upstream.URL, Client: upstream.Client(), Worker: handlerWorker, ProjectDir: "../flowmcp/testdata",
					Env: func(string) (string, bool) { return "secret", true },
				})
			}, tenontest.SourceOptions{})
		})
	}
}

// app is a function app, whose worker is this test binary.
func app() *worker.App {
	a := worker.New(worker.Options{Executable: os.Args[0]})
	a.Func(gofunc.Func("get_weather", "Current weather for a city.", getWeather).With(readOnly()))
	a.Resource("weather://stations", "stations").WithMedia("text/plain").Read(func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
		return []tenon.Content{{Type: tenon.EmbeddedResource, URI: uri, Text: []byte("London")}}, nil
	})
	a.Prompt("packing").WithDescription("What to pack.").Get(func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) {
		return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte("What should I pack?")}}}, nil
	})
	return a
}

func TestFunctionApp(t *testing.T) {
	folder := t.TempDir()
	if _, err := app().Emit(folder); err != nil {
		t.Fatal(err)
	}
	tenontest.Source(t, func() tenon.Source {
		own := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "FUNCTIONS_") })
		return host.New(folder, host.Options{Environ: append(own, asWorker+"=1")})
	}, tenontest.SourceOptions{Samples: []tenontest.Sample{
		{Tool: "get_weather", Args: `{"city":"London"}`},
		{Tool: "get_weather", Args: `{"city":"Cairo"}`, Code: tenon.CodeServer},
	}})
}
