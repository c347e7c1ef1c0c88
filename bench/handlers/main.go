// Command handlers measures calls of a schema file's tool with a postRequest
// handler, upstream and all, beside the format's reference on Node: cold (from
// exec to the first answer) and warm, on answers of 10 KB and 1 MB, on one core
// and on two. Two callers at a time tell what a second core brings.
//
//	handlers REFERENCE OUT
//
// REFERENCE is a folder with flowmcp-core and its packages. It writes one JSON
// object to OUT and a line for people per measurement. Both sides are run in
// turn, as processes of their own, against one upstream.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

//go:embed Coins.mjs
var schemaFile []byte

//go:embed reference.mjs
var reference []byte

const rounds = 5

// sample is what one process measured.
type sample struct {
	Small    float64 `json:"small"` // microseconds a call, median
	Large    float64 `json:"large"`
	Pair     float64 `json:"pair"` // microseconds a call of 10 KB where two callers go on at a time
	WorkerMB float64 `json:"workerMB"`
}

// side is one implementation's best of several processes.
type side struct {
	ColdMS  float64 `json:"coldMS"`
	SmallUS float64 `json:"call10KBus"`
	LargeUS float64 `json:"call1MBus"`
	PairUS  float64 `json:"pair10KBus"`
	PeakMB  float64 `json:"peakMB"` // of all its processes
}

func main() {
	worker := flowmcp.WorkerMain()
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "tenon":
		err = measure(worker, os.Args[2], os.Args[3], os.Args[4] == "once")
	case len(os.Args) == 3:
		err = compare(os.Args[1], os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: handlers REFERENCE OUT")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "handlers:", err)
		os.Exit(1)
	}
}

func compare(core, out string) error {
	address, stop, err := upstream()
	if err != nil {
		return err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "bench-handlers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, script := filepath.Join(dir, "Coins.mjs"), filepath.Join(dir, "reference.mjs")
	if err := os.WriteFile(file, schemaFile, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(script, reference, 0o600); err != nil {
		return err
	}
	core, err = filepath.Abs(core)
	if err != nil {
		return err
	}
	commands := map[string][]string{"tenon": {os.Args[0], "tenon", file, address}, "reference": {"node", script, core, file, address}}
	sides := map[string]map[string]*side{} // by the number of cores
	for _, cores := range []string{"1", "2"} {
		sides[cores] = map[string]*side{"tenon": {}, "reference": {}}
		pinned := []string{"taskset", "-c", map[string]string{"1": "0", "2": "0,1"}[cores]}
		for range rounds {
			for name, s := range sides[cores] {
				if err := s.round(append(slices.Clip(pinned), commands[name]...)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		for _, name := range []string{"tenon", "reference"} {
			s := sides[cores][name]
			fmt.Printf("%s cores %-10s cold %6.1f ms, 10 KB %6.0f µs, with two callers %6.0f µs, 1 MB %7.0f µs, %5.1f MB\n", cores, name, s.ColdMS, s.SmallUS, s.PairUS, s.LargeUS, s.PeakMB)
		}
	}
	text, err := json.MarshalIndent(sides, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

// round runs a side cold and warm, and keeps what is better than before.
func (s *side) round(command []string) error {
	begun := time.Now()
	if out, err := exec.Command(command[0], append(command[1:], "once")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	least(&s.ColdMS, float64(time.Since(begun).Microseconds())/1000)
	cmd := exec.Command(command[0], append(command[1:], "warm")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var got sample
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	least(&s.SmallUS, got.Small)
	least(&s.LargeUS, got.Large)
	least(&s.PairUS, got.Pair)
	least(&s.PeakMB, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024+got.WorkerMB)
	return nil
}

func least(to *float64, v float64) {
	if *to == 0 || v < *to {
		*to = v
	}
}

// measure is the inside of a process of ours.
func measure(worker []string, file, address string, once bool) error {
	source := flowmcp.New(file, flowmcp.Options{Client: http.DefaultClient, BaseURL: address, Worker: worker})
	offer, err := source.Load(context.Background())
	if err != nil {
		return err
	}
	gateway := tenon.NewGateway(tenon.Build([]tenon.Named{{Name: "coins", Offer: offer}}, tenon.BuildOptions{}), tenon.GatewayOptions{})
	call := func(size int) error {
		res, err := gateway.Call(context.Background(), &tenon.Call{Tool: "list_coins_bench", Args: []byte(`{"size":` + strconv.Itoa(size) + `}`)})
		if err == nil && res.IsError {
			return fmt.Errorf("%s", res.Structured)
		}
		return err
	}
	if once {
		defer source.Close()
		return call(10_000)
	}
	var got sample
	if got.Small, err = median(300, func() error { return call(10_000) }); err != nil {
		return err
	}
	if got.Pair, err = pair(300, func() error { return call(10_000) }); err != nil {
		return err
	}
	if got.Large, err = median(12, func() error { return call(1_000_000) }); err != nil {
		return err
	}
	if err := source.Close(); err != nil {
		return err
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return err
	}
	got.WorkerMB = float64(used.Maxrss) / 1024
	return json.NewEncoder(os.Stdout).Encode(got)
}

func median(n int, f func() error) (float64, error) {
	var all []float64
	for range n + n/10 {
		begun := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, float64(time.Since(begun).Nanoseconds())/1000)
	}
	all = all[n/10:]
	slices.Sort(all)
	return all[len(all)/2], nil
}

// pair makes n calls with two callers and returns the microseconds that one
// took of the whole.
func pair(n int, f func() error) (float64, error) {
	begun := time.Now()
	failed := make(chan error, 2)
	for range 2 {
		go func() {
			for range n / 2 {
				if err := f(); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	err := errors.Join(<-failed, <-failed)
	return float64(time.Since(begun).Microseconds()) / float64(n), err
}

// upstream answers lists of coins of about the bytes that are asked for.
func upstream() (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		const coin = `{"id":"coin","symbol":"c","name":"Stable","current_price":0.991,"market_cap":1000000,"market_cap_rank":7,"roi":null,"ath_date":"2018-07-24T00:00:00.000Z","c":true,"pad":"`
		one := coin + strings.Repeat("x", 450) + `"}`
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[" + one + strings.Repeat(","+one, size/len(one)) + "]"))
	})}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}
