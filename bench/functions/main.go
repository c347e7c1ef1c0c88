// Command functions measures what a call of a Go function costs beside
// encoding/json alone, and how long a thousand functions take to register. It
// writes a report.
//
//	functions OUT
//
// The function takes and returns the same struct. A call is all that the
// gateway does: both walls, reading, writing, the text copy for the model. The
// floor is json.Unmarshal and json.Marshal, which check nothing. Both are
// measured in turns, and the fastest turn of each counts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/bench/sample"
)

const (
	turns     = 5
	thousand  = 1000
	smallSize = 5   // stations: 1 KB
	bigSize   = 280 // 50 KB
)

// report is what OUT holds.
type report struct {
	RegisterMS float64 `json:"registerThousandMS"`
	Small      cost    `json:"small"`
	Big        cost    `json:"big"`
}

// cost is a call beside the floor.
type cost struct {
	Bytes       int     `json:"bytes"`
	CallMicros  float64 `json:"callMicros"`
	FloorMicros float64 `json:"floorMicros"`
	Ratio       float64 `json:"ratio"`
	MoreAllocs  float64 `json:"moreAllocs"` // than the floor; below zero: fewer
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: functions OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	var r report
	var err error
	if r.RegisterMS, err = register(); err != nil {
		return err
	}
	if r.Small, err = measure(smallSize); err != nil {
		return err
	}
	if r.Big, err = measure(bigSize); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func echo(_ context.Context, in sample.Forecast) (sample.Forecast, error) { return in, nil }

// register answers the milliseconds of the fastest turn.
func register() (float64, error) {
	best := time.Hour
	for range turns {
		fs := make(tenon.Functions, thousand)
		start := time.Now()
		for i := range fs {
			fs[i] = tenon.Func(fmt.Sprintf("f%d", i), "A forecast.", echo)
		}
		if _, err := tenon.Load(context.Background(), fs, tenon.GatewayOptions{}); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Microseconds()) / 1000, nil
}

func measure(stations int) (cost, error) {
	args, err := json.Marshal(sample.Of(stations))
	if err != nil {
		return cost{}, err
	}
	g, err := tenon.Load(context.Background(), tenon.Functions{tenon.Func("echo", "", echo)}, tenon.GatewayOptions{})
	if err != nil {
		return cost{}, err
	}
	call := func(b *testing.B) {
		for b.Loop() {
			if res, err := g.Call(b.Context(), &tenon.Call{Tool: "echo", Args: args}); err != nil || res.IsError {
				b.Fatal("the call failed")
			}
		}
	}
	floor := func(b *testing.B) {
		for b.Loop() {
			var in sample.Forecast
			if err := json.Unmarshal(args, &in); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(in); err != nil {
				b.Fatal(err)
			}
		}
	}
	c := cost{Bytes: len(args)}
	for range turns {
		a, b := testing.Benchmark(call), testing.Benchmark(floor)
		if a.N == 0 || b.N == 0 {
			return c, fmt.Errorf("a call of %d bytes failed", len(args))
		}
		c.CallMicros = fastest(c.CallMicros, a)
		c.FloorMicros = fastest(c.FloorMicros, b)
		c.MoreAllocs = float64(a.AllocsPerOp() - b.AllocsPerOp())
	}
	c.Ratio = c.CallMicros / c.FloorMicros
	return c, nil
}

func fastest(old float64, r testing.BenchmarkResult) float64 {
	now := float64(r.T.Nanoseconds()) / float64(r.N) / 1000
	if old == 0 {
		return now
	}
	return min(old, now)
}
