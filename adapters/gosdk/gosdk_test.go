package gosdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/adapters/gosdk"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
)

type question struct {
	City string `json:"city"`
}

type weather struct {
	Station int64  `json:"station"`
	Sky     string `json:"sky"`
}

func forecast(_ context.Context, in question) (weather, error) {
	return weather{Station: 9007199254740993, Sky: "clear <over> " + in.City}, nil
}

func catalog(tools ...tenon.Tool) *gateway.Catalog {
	return gateway.Build([]gateway.Mount{{Name: "test", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
}

// connect joins a real client of the SDK to a server of it.
func connect(ctx context.Context, s *mcp.Server, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	there, here := mcp.NewInMemoryTransports()
	if _, err := s.Connect(ctx, there, nil); err != nil {
		return nil, err
	}
	return mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, o).Connect(ctx, here, nil)
}

func Example() {
	ctx := context.Background()
	s := mcp.NewServer(&mcp.Implementation{Name: "both", Version: "1"}, nil)
	g, err := gateway.Load(ctx, gofunc.Functions{gofunc.Func("forecast", "The weather of a city.", forecast)}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stop, err := gosdk.Add(s, g)
	if err != nil {
		log.Fatal(err)
	}
	defer stop()

	client, err := connect(ctx, s, nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "forecast", Arguments: map[string]any{"city": "Oslo"}})
	if err != nil {
		log.Fatal(err)
	}
	if text, ok := r.Content[0].(*mcp.TextContent); ok {
		fmt.Println(text.Text)
	}
	// Output:
	// {
	//   "station": 9007199254740993,
	//   "sky": "clear <over> Oslo"
	// }
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	b, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%T", r.Content[0])
	}
	return b.Text
}

func open(t *testing.T, g *gateway.Gateway, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "both", Version: "1"}, nil)
	stop, err := gosdk.Add(s, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	c, err := connect(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBothValidationsRun(t *testing.T) {
	liar := tenon.Tool{
		Name: "liar", Contract: tenon.Contract{
			Input:     []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(`{"type":"object","required":["truth"]}`)}},
		},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{MediaType: "application/json", Body: []byte(`{"lie":1}`)}, nil
		},
	}
	c := open(t, gateway.New(catalog(liar), gateway.Options{}), nil)
	for name, call := range map[string]struct {
		args any
		want string
	}{
		"arguments that do not fit": {map[string]any{"n": "x"}, "expected integer"},
		"an answer that does not":   {map[string]any{"n": 1}, "violates its schema"},
	} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "liar", Arguments: call.args})
		if err != nil {
			t.Fatal(err)
		}
		meta, err := json.Marshal(r.Meta["tenon/contract"])
		if !r.IsError || r.StructuredContent != nil || !strings.Contains(text(t, r), call.want) || err != nil || !strings.Contains(string(meta), `"verdict"`) {
			t.Errorf("%s: %v %v %s %s", name, r.IsError, r.StructuredContent, text(t, r), meta)
		}
	}
}

func answered(name string) tenon.Tool {
	return tenon.Tool{Name: name, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: "application/json", Body: []byte(`{}`)}, nil
	}}
}

func TestSwapIsFollowed(t *testing.T) {
	g := gateway.New(catalog(answered("a"), answered("b")), gateway.Options{})
	changed := make(chan struct{}, 10)
	c := open(t, g, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	g.Swap(catalog(answered("b"), answered("c")))
	<-changed
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("the tools are %v", names)
	}
}

func TestClientIsAsked(t *testing.T) {
	ask := tenon.Tool{Name: "ask", Policy: tenon.Off, Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		c.NotifyProgress(1, 2, "asking")
		a, err := c.RequestInput(ctx, tenon.FormRequest("who", "Who?", []byte(`{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}`)))
		if err != nil {
			return tenon.Response{}, err
		}
		if a[0].Action == "accept" { // a second round, in which the first answer has to be there still
			if _, err := c.RequestInput(ctx, tenon.FormRequest("sure", "Sure?", []byte(`{"type":"object","properties":{}}`))); err != nil {
				return tenon.Response{}, err
			}
		}
		return tenon.Response{Content: []tenon.Content{{Text: []byte(a[0].Action + string(a[0].Body))}}}, nil
	}}
	answers := func(r *mcp.ElicitResult) *mcp.ClientOptions {
		return &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return r, nil }}
	}
	for name, c := range map[string]struct {
		options *mcp.ClientOptions
		want    string
	}{
		"yes": {answers(&mcp.ElicitResult{Action: "accept", Content: map[string]any{"age": 7}}), `accept{"age":7}`},
		"no":  {answers(&mcp.ElicitResult{Action: "decline"}), "decline"},
	} {
		t.Run(name, func(t *testing.T) {
			session := open(t, gateway.New(catalog(ask), gateway.Options{}), c.options)
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
			if err != nil || text(t, r) != c.want {
				t.Errorf("%v %+v", err, r)
			}
		})
	}
	session := open(t, gateway.New(catalog(ask), gateway.Options{}), nil)
	if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}); err == nil {
		t.Errorf("nobody can be asked, and it is no error: %+v", r)
	}
}

func TestUnknownToolIsAnErrorOfTheProtocol(t *testing.T) {
	c := open(t, gateway.New(catalog(), gateway.Options{}), nil)
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobody"}); err == nil {
		t.Error("there is no error")
	}
}
