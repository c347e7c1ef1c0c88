// Command functions measures what a call of a Go function costs beside
// encoding/json alone, and how long a thousand functions take to register. It
// writes a report.
//
//	functions OUT
//
// The function takes and returns the same struct. A call is all that the
// gateway does: input and output validation, reading, writing, the text copy for the model. The
// floor is json.Unmarshal and json.Marshal, which check nothing. What counts is
// processor time, the collector's included, for others may load the machine;
// both are measured in turns, and the cheapest turn of each counts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/bench/sample"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
)

const (
	turns     = 15
	thousand  = 1000
	smallSize = 5       // stations: 1 KB
	bigSize   = 280     // 50 KB
	aTurn     = 8 << 20 // bytes that the calls of a turn are sent
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

// register answers the milliseconds of the cheapest turn.
func register() (float64, error) {
	best := time.Hour
	for range turns {
		fs := make(gofunc.Functions, thousand)
		start := spent()
		for i := range fs {
			fs[i] = gofunc.Func(fmt.Sprintf("f%d", i), "A forecast.", echo)
		}
		if _, err := gateway.Load(context.Background(), fs, gateway.Options{}); err != nil {
			return 0, err
		}
		best = min(best, spent()-start)
	}
	return float64(best.Microseconds()) / 1000, nil
}

func measure(stations int) (cost, error) {
	args, err := json.Marshal(sample.Of(stations))
	if err != nil {
		return cost{}, err
	}
	g, err := gateway.Load(context.Background(), gofunc.Functions{gofunc.Func("echo", "", echo)}, gateway.Options{})
	if err != nil {
		return cost{}, err
	}
	call := func() {
		if res, err := g.Call(context.Background(), &tenon.Call{Tool: "echo", Args: args}); err != nil || res.IsError {
			panic("the call failed")
		}
	}
	floor := func() {
		var in sample.Forecast
		if err := json.Unmarshal(args, &in); err != nil {
			panic(err)
		}
		if _, err := json.Marshal(in); err != nil {
			panic(err)
		}
	}
	c := cost{Bytes: len(args), CallMicros: math.Inf(1), FloorMicros: math.Inf(1)}
	for range turns {
		c.CallMicros = min(c.CallMicros, micros(call, aTurn/len(args)))
		c.FloorMicros = min(c.FloorMicros, micros(floor, aTurn/len(args)))
	}
	c.MoreAllocs = testing.AllocsPerRun(100, call) - testing.AllocsPerRun(100, floor)
	c.Ratio = c.CallMicros / c.FloorMicros
	return c, nil
}

// micros is the processor time of one of n runs of f.
func micros(f func(), n int) float64 {
	start := spent()
	for range n {
		f()
	}
	return float64((spent() - start).Nanoseconds()) / float64(n) / 1000
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
