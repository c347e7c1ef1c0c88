package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/audit"
	"github.com/tenon-mcp/tenon/gateway"
)

// A gateway whose calls are written down, and refused while they cannot be.
func Example() {
	dir, _ := os.MkdirTemp("", "audit")
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "audit.jsonl")
	l, err := audit.Open(audit.Options{Path: path, Required: true, Clear: map[string][]string{"greet": {"/name"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	greet := tenon.Tool{Name: "greet", Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Body: []byte(`"hello"`)}, nil
	}}
	catalog := gateway.Build([]gateway.Mount{{Name: "demo", Features: tenon.Features{Tools: []tenon.Tool{greet}}}}, gateway.BuildOptions{})
	g := gateway.New(catalog, gateway.Options{Observers: []gateway.Observer{l}, Admission: []gateway.Admission{l}})
	_, _ = g.Call(context.Background(), &tenon.Call{Tool: "greet", Args: []byte(`{"name":"Ada","mood":"fine"}`), Subject: "alice"})
	fmt.Println(l.Close())
	text, _ := os.ReadFile(path)
	_, line, _ := strings.Cut(string(text), `","subject"`)
	line, _, _ = strings.Cut(line, `,"arguments_digest"`)
	_, args, _ := strings.Cut(string(text), `"arguments":`)
	args, _, _ = strings.Cut(args, `,"executed"`)
	fmt.Println(line, args)
	// Output:
	// <nil>
	// :"alice","tool":"greet","source":"demo" {"/name":"Ada"}
}
