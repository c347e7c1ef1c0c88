package gateway_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// panicsOnce is a contract whose first reading of a kind panics.
type panicsOnce struct {
	tenon.Contract

	published, contract *atomic.Bool // false: the next reading panics
}

func (p panicsOnce) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	if p.published != nil && p.published.CompareAndSwap(false, true) {
		panic("published")
	}
	return p.Contract, nil
}

func (p panicsOnce) read() (tenon.Contract, error) {
	if p.contract != nil && p.contract.CompareAndSwap(false, true) {
		panic("read")
	}
	return p.Contract, nil
}

// contractOf is a ContractProvider by its two readings: a struct that embeds a Contract
// cannot have a method of that name.
type contractOf struct{ panicsOnce }

func (p contractOf) Contract() (tenon.Contract, error) { return p.read() }

// A part that panicked while it was made is missing for good, and a tool that
// lacks one is not called: without its contract nothing would be checked.
func TestAPanicWhileAToolIsMadeFailsClosed(t *testing.T) {
	for name, part := range map[string]panicsOnce{
		"what is published": {published: new(atomic.Bool)}, "what is checked": {contract: new(atomic.Bool)},
	} {
		for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			for _, through := range []string{"get_book", "another"} {
				t.Run(name+", "+string(env)+", "+through, func(t *testing.T) {
					p := part
					if p.published != nil {
						p.published = new(atomic.Bool)
					} else {
						p.contract = new(atomic.Bool)
					}
					p.Contract = objectContract()
					called := 0
					tool := tenon.Tool{Name: "get_book", Envelope: env, Contract: contractOf{p}, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
						called++
						return jsonResponse(200, `{"stock":"breaks the contract"}`), nil
					}}
					var e *gateway.Tool
					other := tenon.Tool{Name: "another"}
					forward := map[string]gateway.Forward{"another": func([]byte) (*gateway.Tool, []byte, error) { return e, []byte(`{"id":"no integer"}`), nil }}
					c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool, other}}, Forward: forward}}, gateway.BuildOptions{})
					e = c.Find("get_book")
					if p.published != nil && e.Definition() != nil {
						t.Fatalf("a definition came out of a panic: %s", e.Definition())
					}
					g := gateway.New(c, gateway.Options{})
					for range 3 {
						res, err := g.Call(t.Context(), &tenon.Call{Tool: through, Args: []byte(`{"id":"no integer"}`)})
						if err != nil || !res.IsError {
							t.Fatalf("%+v, %v", res, err)
						}
						if res.Code == tenon.CodeInternal && verdictOf(t, res).Executed != "no" {
							t.Errorf("executed: %s", res.Meta)
						}
					}
					if called > 0 {
						t.Errorf("the tool was called %d times without its checks", called)
					}
					diagnostics := e.Diagnostics()
					if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Message, "panic: ") || strings.Contains(diagnostics[0].Message, "goroutine") {
						t.Errorf("diagnostics: %v", diagnostics)
					}
				})
			}
		}
	}
}
