package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// smallHeap is GOGC of a server whose heap is small, as tenon serve sets it.
const smallHeap = 400

// ours is the inside of a process of ours.
func ours(worker []string, file, address string, once bool) error {
	debug.SetGCPercent(smallHeap)
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{strings.TrimPrefix(address, "http://")}})
	if err != nil {
		return err
	}
	source := flowmcp.New(file, flowmcp.Options{Client: client, BaseURL: address, Worker: worker})
	offer, err := source.Load(context.Background())
	if err != nil {
		return err
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "coins", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	call := func(size int) error {
		res, err := g.Call(context.Background(), &tenon.Call{Tool: "list_coins_bench", Args: []byte(`{"size":` + strconv.Itoa(size) + `}`)})
		if err == nil && res.IsError {
			return fmt.Errorf("%s", res.Structured)
		}
		return err
	}
	if once {
		defer source.Close()
		return call(smallSize)
	}
	if err := obey(call); err != nil {
		return err
	}
	if err := source.Close(); err != nil {
		return err
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"workerMB": float64(used.Maxrss) / 1024})
}

// obey does what stands on the input until it ends.
func obey(call func(size int) error) error {
	orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		d, err := o.run(call)
		if err != nil {
			return err
		}
		if err := answers.Encode(d); err != nil {
			return err
		}
	}
}

// run makes the calls.
func (o order) run(call func(size int) error) (done, error) {
	begun := time.Now()
	took := make([][]float64, o.Callers)
	failed := make(chan error, o.Callers)
	for i := range took {
		go func() {
			var err error
			for range o.Calls / o.Callers {
				one := time.Now()
				if err = call(o.Size); err != nil {
					break
				}
				took[i] = append(took[i], micros(time.Since(one)))
			}
			failed <- err
		}()
	}
	var all []float64
	for range took {
		if err := <-failed; err != nil {
			return done{}, err
		}
	}
	whole := micros(time.Since(begun))
	for _, t := range took {
		all = append(all, t...)
	}
	return done{Middle: middle(all), Each: whole / float64(len(all))}, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
