// Host measures what a function app costs under tenon beside its worker alone:
// the same function of the same process, called in turn directly (one POST with
// the same payload, the body read and thrown away) and through the gateway,
// which reads the result, checks it against its schema and puts it into its envelope.
//
//	host [OUT.json]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/gateway"
)

const (
	rounds = 4000
	warm   = 500
	limit  = 150 * time.Microsecond // of the median
	schema = `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"price":{"type":"number"}},"required":["id","name","price"]}}},"required":["items"]}`
)

// result is 1 KB of structured content.
func result() []byte {
	var items []string
	for i := range 18 {
		items = append(items, fmt.Sprintf(`{"id":%d,"name":"%s","price":%d.5}`, i, strings.Repeat("n", 22), i))
	}
	structured := []byte(`{"items":[` + strings.Join(items, ",") + `]}`)
	value := functionapp.AppendResult(nil, functionapp.Result{Blocks: []tenon.Content{{Text: []byte("eighteen items")}}, Structured: structured})
	return functionapp.Response{ReturnValue: value}.Append(nil)
}

func main() {
	log.SetFlags(0)
	if port := os.Getenv(functionapp.EnvPort); port != "" {
		work(port)
		return
	}
	if err := measure(); err != nil {
		log.Fatal(err)
	}
}

// work is the worker: it answers the same 1 KB to every call, and tells where
// it listens.
func work(port string) {
	answer := result()
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("port", []byte(port), 0o600); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})))
}

func measure() error {
	dir, err := os.MkdirTemp("", "host")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeApp(dir); err != nil {
		return err
	}
	ctx := context.Background()
	source := host.New(dir, host.Options{})
	defer func() { _ = source.Close() }()
	offer, err := source.Load(ctx)
	if err != nil {
		return err
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "app", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	args := []byte(`{"city":"Rome","days":2}`)
	through := func() error {
		res, err := g.Call(ctx, &tenon.Call{Tool: "items", Args: args})
		if err == nil && (res.IsError || !bytes.Contains(res.Meta, []byte(`"verdict":"fits"`))) {
			err = fmt.Errorf("%s", res.Meta)
		}
		return err
	}
	if err := through(); err != nil { // the worker answers now
		return err
	}
	directly, err := direct(dir, args)
	if err != nil {
		return err
	}
	return compare(directly, through)
}

func writeApp(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	output, err := functionapp.ParseSchema(functionapp.Output, schema)
	if err != nil {
		return err
	}
	tool := functionapp.Tool{Name: "items", Output: output, Envelope: true, Properties: []functionapp.Property{
		{Name: "city", Type: "string", Required: true}, {Name: "days", Type: "integer"},
	}}
	if err := os.Mkdir(filepath.Join(dir, "Items"), 0o700); err != nil {
		return err
	}
	function := functionapp.Function{Bindings: []functionapp.Object{tool.Object()}}.Append(nil)
	if err := os.WriteFile(filepath.Join(dir, "Items", "function.json"), function, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "host.json"), functionapp.Host{Executable: self}.Append(nil), 0o600)
}

// direct is one call without a host.
func direct(dir string, args []byte) (func() error, error) {
	port, err := os.ReadFile(filepath.Join(dir, "port"))
	if err != nil {
		return nil, err
	}
	body := functionapp.Invocation{
		Function: "Items", Binding: "context", Type: functionapp.ToolTrigger, Time: time.Now(), ID: "0",
		Context: functionapp.Context{Name: "items", Arguments: args},
	}.Append(nil)
	client := &http.Client{}
	return func() error {
		res, err := client.Post("http://127.0.0.1:"+string(port)+"/Items", "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}, nil
}

// compare calls in turn, so that a busy machine is busy for both.
func compare(directly, through func() error) error {
	var alone, hosted []time.Duration
	for i := range warm + rounds {
		for _, way := range []struct {
			call  func() error
			times *[]time.Duration
		}{{directly, &alone}, {through, &hosted}} {
			began := time.Now()
			if err := way.call(); err != nil {
				return err
			}
			if i >= warm {
				*way.times = append(*way.times, time.Since(began))
			}
		}
	}
	median := func(times []time.Duration) time.Duration {
		slices.Sort(times)
		return times[len(times)/2]
	}
	a, h := median(alone), median(hosted)
	fmt.Printf("median of %d calls, 1 KB: worker alone %v, under tenon %v, more by %v (limit %v)\n", rounds, a, h, h-a, limit)
	if len(os.Args) > 1 {
		text, err := json.Marshal(map[string]any{"alone_us": a.Microseconds(), "hosted_us": h.Microseconds(), "more_us": (h - a).Microseconds(), "limit_us": limit.Microseconds()})
		if err != nil {
			return err
		}
		if err := os.WriteFile(os.Args[1], text, 0o600); err != nil {
			return err
		}
	}
	if h-a > limit {
		return fmt.Errorf("the host costs %v, %v are allowed", h-a, limit)
	}
	return nil
}
