// Command limits measures what a hostile caller costs polite ones: fifteen callers with
// keys of their own call a tool of a real tenon over HTTP, in turns alone and beside a
// sixteenth who is limited to a call a second and sends as fast as it can, from a process
// of its own, over many connections.
//
//	limits TENON OUT
//
// It writes one JSON object to OUT and a line for people to standard output.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	polite      = 15
	connections = 128                    // of the hostile caller
	rounds      = 30                     // with, and as many without
	round       = 2 * time.Second        // one
	pause       = 100 * time.Millisecond // of a polite caller between two calls
	upstream    = 5 * time.Millisecond   // what the service takes
)

// report is what OUT holds. Times are in milliseconds, of the calls of all rounds; Ratio
// is the median of the rounds, each compared with the one before it.
type report struct {
	AloneP50  float64 `json:"aloneP50"`
	AloneP99  float64 `json:"aloneP99"`
	BesideP50 float64 `json:"besideP50"`
	BesideP99 float64 `json:"besideP99"`
	Ratio     float64 `json:"ratio"`   // of p99 over all calls
	Rounds    float64 `json:"rounds"`  // the same, the median of rounds
	Refused   float64 `json:"refused"` // calls of the hostile caller a second
	Made      int64   `json:"made"`    // of them, all in all
}

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "hostile":
		err = beHostile(os.Args[2], os.Args[3])
	case len(os.Args) == 3:
		err = run(os.Args[1], os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: limits TENON OUT")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(1)
	}
}

func run(tenon, out string) error {
	folder, err := os.MkdirTemp("", "limits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(upstream)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":1,"name":"one"}`))
	}))
	defer service.Close()
	address, stop, err := start(tenon, folder, service.URL)
	if err != nil {
		return err
	}
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var alone, beside, ratios []float64
	var refused, made int64
	callers := newCallers(address)
	if _, err := callers.round(); err != nil { // connections, caches
		return err
	}
	for range rounds {
		without, err := callers.round()
		if err != nil {
			return err
		}
		r, m, with, err := callers.besideHostile(self, address)
		if err != nil {
			return err
		}
		refused, made = refused+r, made+m
		alone, beside = append(alone, without...), append(beside, with...)
		ratios = append(ratios, percentile(with, 99)/percentile(without, 99))
	}
	sent := refused + made
	rep := report{
		AloneP50: percentile(alone, 50), AloneP99: percentile(alone, 99), BesideP50: percentile(beside, 50), BesideP99: percentile(beside, 99),
		Rounds: percentile(ratios, 50), Refused: float64(refused) / (rounds * round.Seconds()), Made: made,
	}
	rep.Ratio = rep.BesideP99 / rep.AloneP99
	fmt.Printf("%d polite callers: p50 %.1f ms, p99 %.1f ms alone; p50 %.1f ms, p99 %.1f ms beside one who sends %.0f calls a second (%d of %d were made); p99 %.2f times, %.2f in the median of rounds\n",
		polite, rep.AloneP50, rep.AloneP99, rep.BesideP50, rep.BesideP99, rep.Refused, made, sent, rep.Ratio, rep.Rounds)
	b, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o600)
}

// start serves the service with a key for each caller.
func start(tenon, folder, service string) (address string, stop func(), err error) {
	document := fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"s","version":"1"},"servers":[{"url":%q}],"paths":{"/x":{"get":{"operationId":"get","parameters":[{"name":"id","in":"query","schema":{"type":"integer"}}],
"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}}}}}}}}`, service)
	file := filepath.Join(folder, "s.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		return "", nil, err
	}
	args := []string{"serve", "--http", "127.0.0.1:0", "--allow-private-host", "127.0.0.1", "--limit", "key:hostile=rate 1/s concurrent 2", "--limit", "everybody=rate 100/s concurrent 4", "--api-key", "hostile=env:K_hostile"}
	env := []string{"K_hostile=hostile"}
	for i := range polite {
		args = append(args, "--api-key", fmt.Sprintf("h%d=env:K_%d", i, i))
		env = append(env, fmt.Sprintf("K_%d=polite%d", i, i))
	}
	cmd := exec.Command(tenon, append(args, file)...)
	cmd.Env = append(os.Environ(), env...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return url, stop, nil
		}
	}
	stop()
	return "", nil, errors.New("tenon does not listen")
}

// client calls the tool with a key.
type client struct {
	http http.Client
	url  string
	key  string
}

func newClient(url, key string) *client {
	return &client{http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}, url: url, key: key}
}

var message = []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"id":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"limits","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)

// call reports whether the call was made, and not refused.
func (c *client) call() (made bool, err error) {
	r, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(message))
	if err != nil {
		return false, err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "X-Api-Key": {c.key},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"get"},
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return false, err
	case bytes.Contains(b, []byte(`rate_limited`)):
		return false, nil
	case !bytes.Contains(b, []byte(`"name":"one"`)):
		return false, fmt.Errorf("%s: %s", resp.Status, b)
	}
	return true, nil
}

type callers struct{ all []*client }

func newCallers(url string) *callers {
	c := &callers{}
	for i := range polite {
		c.all = append(c.all, newClient(url, "polite"+strconv.Itoa(i)))
	}
	return c
}

// round returns what the calls of a round took, in milliseconds.
func (c *callers) round() ([]float64, error) {
	var mu sync.Mutex
	var took []float64
	var failed error
	var all sync.WaitGroup
	end := time.Now().Add(round)
	for i, one := range c.all {
		all.Go(func() {
			time.Sleep(pause * time.Duration(i) / polite) // not all at once
			for time.Now().Before(end) {
				began := time.Now()
				made, err := one.call()
				d := time.Since(began)
				mu.Lock()
				if took = append(took, float64(d)/1e6); err == nil && !made {
					err = errors.New("a polite caller was refused")
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	all.Wait()
	return took, failed
}

// besideHostile is a round beside the hostile caller.
func (c *callers) besideHostile(self, url string) (refused, made int64, took []float64, err error) {
	cmd := exec.Command(self, "hostile", url, "hostile")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, 0, nil, err
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil { // it is under way
		return 0, 0, nil, err
	}
	took, err = c.round()
	_ = in.Close()
	_, scanned := fmt.Fscan(lines, &refused, &made)
	return refused, made, took, errors.Join(err, scanned, cmd.Wait())
}

// beHostile calls as fast as it can until standard input ends, and writes how many
// calls were refused and how many were made.
func beHostile(url, key string) error {
	var over atomic.Bool
	var refused, made atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Value
	for range connections {
		all.Go(func() {
			c := newClient(url, key)
			for !over.Load() {
				ok, err := c.call()
				if err != nil {
					failed.Store(err)
					return
				}
				if ok {
					made.Add(1)
				} else {
					refused.Add(1)
				}
			}
		})
	}
	fmt.Println("begun")
	_, _ = io.Copy(io.Discard, os.Stdin)
	over.Store(true)
	all.Wait()
	fmt.Println(refused.Load(), made.Load())
	err, _ := failed.Load().(error)
	return err
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
