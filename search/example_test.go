package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/search"
)

// A client sees three tools instead of all: it searches, asks how a tool is
// called, and calls it through another.
func ExampleWrap() {
	type Book struct {
		ID int `json:"id"`
	}
	borrow := func(_ context.Context, b Book) (string, error) { return fmt.Sprintf("book %d is yours", b.ID), nil }
	ctx := context.Background()
	offer, err := gofunc.Functions{
		gofunc.Func("borrow_book", "Borrows a book.", borrow),
		gofunc.Func("return_book", "Gives a book back.", borrow),
		gofunc.Func("list_shelves", "Lists the shelves.", borrow),
	}.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	all := gateway.Build([]gateway.Mount{{Name: "library", Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOn})
	g := gateway.New(search.Wrap(all), gateway.Options{})
	for _, tool := range g.Catalog().Tools() {
		fmt.Println(tool.Name())
	}
	for _, call := range []tenon.Call{
		{Tool: "search_tools", Args: []byte(`{"query":"borrow a book","limit":1}`)},
		{Tool: "call_tool", Args: []byte(`{"tool":"borrow_book","arguments":{"id":7}}`)},
	} {
		result, err := g.Call(ctx, &call)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", result.Structured)
	}
	// Output:
	// search_tools
	// describe_tool
	// call_tool
	// {"tools":[{"tool":"borrow_book","description":"Borrows a book.","required":["id"],"optional":[]}],"of":3}
	// {"result":"book 7 is yours"}
}
