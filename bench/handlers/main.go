// Command handlers measures calls of a schema file's tool with a postRequest
// handler, upstream and all, beside the format's reference on Node: cold (from
// exec to the first answer) and warm, on answers of 10 KB and 1 MB, on one core
// and on two. Two callers at a time tell what a second core brings. Beside the
// time of a call stands the processor time of all processes of a side, which
// says the same on a machine that others use, too.
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
	"github.com/tenon-mcp/tenon/internal/egress"
)

//go:embed Coins.mjs
var schemaFile []byte

//go:embed reference.mjs
var reference []byte

const (
	rounds = 7
	smalls = 500 // calls
	larges = 40
)

// sample is what one process measured: microseconds a call.
type sample struct {
	Small    float64 `json:"small"` // the median
	Large    float64 `json:"large"`
	Pair     float64 `json:"pair"`     // of 10 KB where two callers go on at a time
	SmallCPU float64 `json:"smallCPU"` // processor time, of all calls together
	LargeCPU float64 `json:"largeCPU"`
	WorkerMB float64 `json:"workerMB"`
}

// side is one implementation: the best of several processes, of processor time
// the median.
type side struct {
	ColdMS   float64 `json:"coldMS"`
	SmallUS  float64 `json:"call10KBus"`
	LargeUS  float64 `json:"call1MBus"`
	PairUS   float64 `json:"pair10KBus"`
	SmallCPU float64 `json:"cpu10KBus"`
	LargeCPU float64 `json:"cpu1MBus"`
	PeakMB   float64 `json:"peakMB"` // of all its processes

	samples []sample
}

// pairs are both sides, and what ours takes to what the reference takes: of
// calls the median over the rounds, each beside the round of the other.
type pairs struct {
	Tenon     side               `json:"tenon"`
	Reference side               `json:"reference"`
	Ratio     map[string]float64 `json:"ratio"`
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
	report := map[string]*pairs{} // by the number of cores
	for _, cores := range []string{"1", "2"} {
		p := &pairs{}
		report[cores] = p
		pinned := []string{"taskset", "-c", map[string]string{"1": "0", "2": "0,1"}[cores]}
		for range rounds {
			for name, s := range map[string]*side{"tenon": &p.Tenon, "reference": &p.Reference} {
				if err := s.round(append(slices.Clip(pinned), commands[name]...)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		p.sum()
		for name, s := range map[string]*side{"tenon": &p.Tenon, "reference": &p.Reference} {
			fmt.Printf("%s cores %-10s cold %6.1f ms, 10 KB %6.0f µs (processor %6.0f), with two callers %6.0f µs, 1 MB %7.0f µs (processor %7.0f), %5.1f MB\n",
				cores, name, s.ColdMS, s.SmallUS, s.SmallCPU, s.PairUS, s.LargeUS, s.LargeCPU, s.PeakMB)
		}
		fmt.Printf("%s cores, tenon to the reference: %v\n", cores, p.Ratio)
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

// sum puts the rounds of both sides together.
func (p *pairs) sum() {
	p.Ratio = map[string]float64{"cold": p.Tenon.ColdMS / p.Reference.ColdMS, "memory": p.Tenon.PeakMB / p.Reference.PeakMB}
	for name, of := range map[string]func(sample) float64{
		"small":    func(s sample) float64 { return s.Small },
		"large":    func(s sample) float64 { return s.Large },
		"pair":     func(s sample) float64 { return s.Pair },
		"smallCPU": func(s sample) float64 { return s.SmallCPU },
		"largeCPU": func(s sample) float64 { return s.LargeCPU },
	} {
		var ratios []float64
		for i, s := range p.Tenon.samples {
			ratios = append(ratios, of(s)/of(p.Reference.samples[i]))
		}
		p.Ratio[name] = middle(ratios)
	}
	for _, s := range []*side{&p.Tenon, &p.Reference} {
		var small, large []float64
		for _, got := range s.samples {
			small, large = append(small, got.SmallCPU), append(large, got.LargeCPU)
		}
		s.SmallCPU, s.LargeCPU = middle(small), middle(large)
	}
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
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
	s.samples = append(s.samples, got)
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
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{strings.TrimPrefix(address, "http://")}})
	if err != nil {
		return err
	}
	source := flowmcp.New(file, flowmcp.Options{Client: client, BaseURL: address, Worker: worker})
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
	if got.Small, got.SmallCPU, err = median(smalls, func() error { return call(10_000) }); err != nil {
		return err
	}
	if got.Pair, err = pair(smalls, func() error { return call(10_000) }); err != nil {
		return err
	}
	if got.Large, got.LargeCPU, err = median(larges, func() error { return call(1_000_000) }); err != nil {
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

// median makes n calls, after some more that warm up, and returns the
// microseconds of the one in the middle and the processor time of each.
func median(n int, f func() error) (took, used float64, err error) {
	var all []float64
	for range n / 10 {
		if err := f(); err != nil {
			return 0, 0, err
		}
	}
	before := processor()
	for range n {
		begun := time.Now()
		if err := f(); err != nil {
			return 0, 0, err
		}
		all = append(all, float64(time.Since(begun).Nanoseconds())/1000)
	}
	return middle(all), (processor() - before) / float64(n), nil
}

// processor is the time that this process and its children had, in
// microseconds.
func processor() float64 {
	var nanos float64
	tasks, _ := filepath.Glob("/proc/self/task/*")
	for _, task := range tasks {
		children, _ := os.ReadFile(filepath.Join(task, "children"))
		for child := range strings.FieldsSeq(string(children)) {
			more, _ := filepath.Glob("/proc/" + child + "/task/*")
			tasks = append(tasks, more...)
		}
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(filepath.Join(task, "schedstat"))
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			n, _ := strconv.ParseFloat(fields[0], 64)
			nanos += n
		}
	}
	return nanos / 1000
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
