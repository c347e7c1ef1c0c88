package tenontest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/tenontest"
)

// printer stands for the *testing.T of a test: it prints what is wrong.
type printer struct{ testing.TB }

func (printer) Helper()                  {}
func (printer) Context() context.Context { return context.Background() }
func (printer) Log(...any)               {}
func (printer) Error(args ...any)        { fmt.Println(args...) }

// A test of typed functions is one call. What is called beside functions that
// only read stands in Samples.
func ExampleFunctions() {
	type Order struct {
		Fuel   string `json:"fuel" check:"enum=diesel|petrol"`
		Liters int    `json:"liters" check:"min=1,max=60"`
	}
	type Receipt struct {
		Cents int `json:"cents" check:"min=1"`
	}
	fill := func(_ context.Context, o Order) (Receipt, error) {
		if o.Fuel == "petrol" {
			return Receipt{}, nil // a mistake: the amount is missing
		}
		return Receipt{Cents: o.Liters * 170}, nil
	}

	var t printer // in a test: the *testing.T
	tenontest.Functions(t, gofunc.Functions{gofunc.Func("fill", "Fills the tank.", fill)}, tenontest.SourceOptions{
		Samples: []tenontest.Sample{
			{Tool: "fill", Args: `{"fuel":"diesel","liters":40}`},
			{Tool: "fill", Args: `{"fuel":"petrol","liters":40}`},
		},
	})
	// Output:
	// tool "fill" called with {"fuel":"petrol","liters":40}: the answer violates its schema (violated): at /cents: expected at least 1, got 0
}

// echoes is a source somebody wrote: its tool says that it only reads.
type echoes struct{}

func (echoes) Load(context.Context) (tenon.Features, error) {
	yes := true
	return tenon.Features{Tools: []tenon.Tool{{
		Name: "echo", Description: "Repeats what it is told.", Annotations: tenon.Annotations{ReadOnly: &yes},
		Contract: tenon.Contract{
			Input:     []byte(`{"type":"object","properties":{"say":{"type":"string"}},"required":["say"]}`),
			Responses: []tenon.ResponseSchema{{MediaType: "text/plain"}},
		},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			if strings.Contains(string(c.Args), "text") {
				return tenon.Response{}, &tenon.Error{Code: "busy", Message: "Not now."} // a mistake: no client knows this code
			}
			return tenon.Response{MediaType: "text/plain", Body: c.Args}, nil
		},
	}}}, nil
}

func ExampleSource() {
	var t printer // in a test: the *testing.T
	tenontest.Source(t, func() tenon.Source { return echoes{} }, tenontest.SourceOptions{})
	// Output:
	// tool "echo": fails with the code "busy", which no client knows
}
