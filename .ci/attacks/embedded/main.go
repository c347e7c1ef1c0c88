// Command embedded is a program with Go functions that do to their server what a
// function can: it serves them on loopback and says where.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

type nothing struct{}

// ring is a value that may contain itself.
type ring struct {
	Next *ring           `json:"next,omitempty"`
	Many []*ring         `json:"many,omitempty"`
	More map[string]ring `json:"more,omitempty"`
}

type number struct {
	N float64 `json:"n"`
}

type raw struct {
	Text gofunc.JSON[map[string]int] `json:"text"`
}

// anything is published with a schema that is written by hand.
type anything map[string]any

type badMarshaler struct{ how string }

func (b badMarshaler) MarshalJSON() ([]byte, error) {
	switch b.how {
	case "panics":
		panic("in MarshalJSON \x1b[31m")
	case "ends":
		runtime.Goexit()
	case "deep":
		return []byte(strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6)), nil
	}
	return []byte(`{"n":]`), nil
}

type unspeakable struct{ text string }

func (e *unspeakable) Error() string { return e.text }

type panicking struct{}

func (panicking) Error() string { panic("in Error") }

func give[T any](name string, f func() (T, error)) gofunc.Function {
	return gofunc.Func(name, "", func(context.Context, nothing) (T, error) { return f() })
}

// loose is a function whose result is checked against no type of Go.
func loose(name string, f func() any) gofunc.Function {
	fn := give(name, func() (anything, error) { return anything{"value": f()}, nil })
	return fn.With(gofunc.Options{Output: []byte(`{"type":"object"}`)})
}

func values() gofunc.Functions {
	return gofunc.Functions{
		give("good", func() (number, error) { return number{1}, nil }),
		give("pointer_ring", func() (*ring, error) { r := &ring{}; r.Next = r; return r, nil }),
		give("list_ring", func() (*ring, error) { r := &ring{}; r.Many = []*ring{r, r, r}; return r, nil }),
		give("map_ring", func() (*ring, error) { r := &ring{More: map[string]ring{}}; r.More["a"] = *r; return r, nil }),
		give("nan", func() (number, error) { return number{math.NaN()}, nil }),
		give("infinity", func() (number, error) { return number{math.Inf(-1)}, nil }),
		loose("loose_ring", func() any { m := map[string]any{}; m["m"] = m; return m }),
		loose("channel", func() any { return make(chan int) }),
		loose("func", func() any { return func() {} }),
		loose("complex", func() any { return complex(1, 2) }),
		loose("loose_nan", func() any { return math.NaN() }),
		loose("marshal_panics", func() any { return badMarshaler{"panics"} }),
		loose("marshal_ends", func() any { return badMarshaler{"ends"} }),
		loose("marshal_deep", func() any { return badMarshaler{"deep"} }),
		loose("marshal_wrong", func() any { return badMarshaler{"wrong"} }),
		give("raw_wrong", func() (raw, error) { return raw{}, nil }),
		give("nil_result", func() (*number, error) { return nil, nil }),
		give("huge", func() (string, error) { return strings.Repeat("x", 32<<20), nil }),
		give("huge_error", func() (number, error) { return number{}, errors.New(strings.Repeat("\x1b[31m", 4<<20)) }),
		give("own_nil", func() (number, error) { return number{}, (*tenon.Error)(nil) }),
		give("typed_nil", func() (number, error) { return number{}, (*unspeakable)(nil) }),
		give("error_panics", func() (number, error) { return number{}, panicking{} }),
	}
}

func acts() gofunc.Functions {
	return gofunc.Functions{
		give("panics", func() (number, error) { panic(strings.Repeat("\x1b[2J\a", 4<<20)) }),
		give("nil_map", func() (number, error) { var m map[string]int; m["a"]++; return number{}, nil }),
		give("index", func() (number, error) { var l []int; return number{float64(l[len(os.Args)])}, nil }),
		give("nil_pointer", func() (number, error) { var p *number; return *p, nil }),
		give("nil_panic", func() (number, error) { panic(any(nil)) }),
		give("ends", func() (number, error) { runtime.Goexit(); return number{}, nil }),
		give("blocks", func() (number, error) { select {} }),
		gofunc.Func("asks", "", asks),
		gofunc.Func("reports", "", reports),
		gofunc.Func("mutates", "", mutates),
	}
}

// asks asks for ever.
func asks(ctx context.Context, _ nothing) (number, error) {
	for i := 0; ; i++ {
		if _, err := gofunc.Elicit[number](ctx, fmt.Sprint("n", i), strings.Repeat("again? ", 1000)); err != nil {
			return number{}, err
		}
	}
}

// reports tells progress as long as it may.
func reports(ctx context.Context, _ nothing) (number, error) {
	c := gofunc.CallFromContext(ctx)
	for i := 0; ctx.Err() == nil; i++ {
		c.NotifyProgress(float64(i), 0, strings.Repeat("far ", 1000))
		c.Log("error", strings.Repeat("\x1b[31mwide ", 1000))
	}
	return number{}, ctx.Err()
}

type texts struct {
	Texts []string `json:"texts"`
}

// mutates goes on to change its arguments and what it returned.
func mutates(_ context.Context, in texts) (gofunc.Output[texts], error) {
	block := []byte(strings.Repeat("block ", 1000))
	for len(in.Texts) < 1000 {
		in.Texts = append(in.Texts, "text")
	}
	go func() {
		for n := range 1_000_000 {
			in.Texts[n%len(in.Texts)] = strings.Repeat("\"\x00", n%10)
			block[n%len(block)] = byte(n)
		}
	}()
	return gofunc.Output[texts]{Value: in, Content: []tenon.Content{tenon.Text("first"), {Text: block}}}, nil
}

func main() {
	functions := append(values(), acts()...)
	if _, err := gofunc.Func("channels", "", func(context.Context, nothing) (chan int, error) { return nil, nil }).Tool(); err == nil {
		log.Fatal("a channel has a schema")
	}
	g, err := gateway.Load(context.Background(), functions, gateway.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Timeout: 2 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(os.Stderr, "http://"+l.Addr().String())
	s := server.New(g, server.Options{Name: "embedded", MaxConcurrent: 64, AllowedHosts: []string{"127.0.0.1"}, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.HandleFunc("/goroutines", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(runtime.NumGoroutine())
	})
	web := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute, IdleTimeout: 2 * time.Second, ErrorLog: log.New(os.Stderr, "", 0)}
	log.Fatal(web.Serve(l))
}
