// Fuel is an MCP server on stdin and stdout whose functions ask: how much to
// fill in, and whether the tank may be emptied. Its descriptions are the
// comments of its functions and types, which go generate writes to
// doc_comments.go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

//go:generate go run ../../cmd/tenon doc-comments

// Order is what to fill in.
type Order struct {
	Fuel string `json:"fuel" check:"enum=diesel|petrol"` // Kind of fuel.
}

// Amount is what the driver is asked for.
type Amount struct {
	Liters int64 `json:"liters" check:"min=1,max=60"` // Liters to fill in.
}

// Tank is the state of the tank.
type Tank struct {
	Liters int64 `json:"liters"` // Liters in the tank.
}

// Reason says why the tank is to be emptied.
type Reason struct {
	Why string `json:"why"` // Shown to the driver, who has to agree.
}

// station has one tank.
type station struct{ liters atomic.Int64 }

// fill asks the driver how much, fills it in and tells what is in the tank.
func (s *station) fill(ctx context.Context, o Order) (gofunc.Output[Tank], error) {
	amount, err := gofunc.Elicit[Amount](ctx, "amount", "How many liters of "+o.Fuel+"?")
	if err != nil {
		return gofunc.Output[Tank]{}, err // the call may end here, and begin again with the answer
	}
	gofunc.CallFromContext(ctx).NotifyProgress(float64(amount.Liters), float64(amount.Liters), "filled in")
	tank := Tank{Liters: s.liters.Add(amount.Liters)}
	return gofunc.Output[Tank]{Value: tank, Content: []tenon.Content{tenon.Text(fmt.Sprintf("There are %d liters in the tank.", tank.Liters))}}, nil
}

// empty empties the tank, after the driver has agreed.
func (s *station) empty(context.Context, Reason) (Tank, error) {
	s.liters.Store(0)
	return Tank{}, nil
}

func functions() gofunc.Functions {
	var s station
	sure := gofunc.Confirm(func(r Reason) tenon.InputRequest { return gofunc.ConfirmRequest("Empty the tank? " + r.Why) })
	return gofunc.Functions{
		gofunc.Func("fill", docStationFill, s.fill),
		gofunc.Func("empty", docStationEmpty, s.empty).With(gofunc.Options{Confirm: sure}),
	}
}

func main() {
	g, err := gateway.Load(context.Background(), functions(), gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.New(g, server.Options{Name: "fuel"}).ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
