package gofunc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
)

// BenchmarkLoad registers a thousand functions with types that have tags,
// defaults and definitions; one op is all of them.
func BenchmarkLoad(b *testing.B) {
	type arguments struct {
		City  string   `json:"city" doc:"Name of the city."`
		Days  int      `json:"days" doc:"How many days" check:"min=1,max=14,default=3"`
		Where *loc     `json:"where"`
		Tags  []string `json:"tags,omitempty"`
	}
	for b.Loop() {
		fs := make(gofunc.Functions, 1000)
		for i := range fs {
			fs[i] = gofunc.Func(fmt.Sprintf("f%d", i), "Daily forecast for a city.", func(context.Context, arguments) ([]WeatherData, error) { return nil, nil })
		}
		if _, err := gateway.Load(b.Context(), fs, gateway.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall compares a call through input and output validation with encoding/json alone.
func BenchmarkCall(b *testing.B) {
	type arguments struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}
	args := []byte(`{"city":"London","days":7}`)
	for _, n := range []int{1, 500} {
		forecast := func(context.Context, arguments) ([]WeatherData, error) { //nolint:unparam // the form of a function
			days := make([]WeatherData, n)
			for i := range days {
				days[i] = weather()
			}
			return days, nil
		}
		b.Run(fmt.Sprintf("days=%d/tenon", n), func(b *testing.B) {
			g := gatewayOf(b, gofunc.Func("f", "", forecast))
			b.ReportAllocs()
			for b.Loop() {
				if res := callFunc(b, g, string(args)); res.IsError {
					b.Fatal(texts(res))
				}
			}
		})
		b.Run(fmt.Sprintf("days=%d/handler", n), func(b *testing.B) {
			tool, err := gofunc.Func("f", "", forecast).Tool()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tool.Handler(b.Context(), &tenon.Call{Args: args}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("days=%d/json", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var in arguments
				if err := json.Unmarshal(args, &in); err != nil {
					b.Fatal(err)
				}
				out, err := forecast(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
