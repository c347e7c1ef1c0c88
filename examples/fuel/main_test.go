package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/doccomments"
	"github.com/tenon-mcp/tenon/server"
)

func TestTheCommentsAreUpToDate(t *testing.T) {
	want, err := doccomments.Generate(".", doccomments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(doccomments.File)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go generate (-want +got):\n%s", diff)
	}
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
)

func TestTheToolsAreDescribed(t *testing.T) {
	g, err := gateway.Load(t.Context(), functions(), gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := server.New(g, server.Options{}).ServeStdio(t.Context(), strings.NewReader(hello+list), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"description":"Asks the driver how much, fills it in and tells what is in the tank."`,
		`"fuel":{"description":"Kind of fuel.","enum":["diesel","petrol"],"title":"Fuel","type":"string"}`,
		`"liters":{"description":"Liters in the tank.",`,
		`"description":"Tank is the state of the tank."`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}
