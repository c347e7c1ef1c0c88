// Command replicas measures what a second replica adds, and what the store that they
// share costs a call.
//
//	replicas TENON OUT
//
// A replica has one core. Whoever sends and answers on the same machine takes processors
// as well, so what counts is how many calls a replica makes in a second of its own
// processor time; one alone and both together are measured in turns. Round trips are
// counted by a proxy before the store.
//
// It needs Linux and redis-server. It writes one JSON object to OUT and lines for people
// to standard output.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	rounds  = 10
	round   = 2 * time.Second
	callers = 8 // of each replica, at a time
	serial  = 500
)

// report is what OUT holds.
type report struct {
	One   float64 `json:"one"`   // calls in a second of processor time, one replica alone
	Two   float64 `json:"two"`   // the same of both together, added
	Ratio float64 `json:"ratio"` // of the two, the median of the rounds
	Clock float64 `json:"clock"` // the same by the clock, with the load on the same cores

	Limit    stored `json:"limit"`    // a call that is counted
	Asked    stored `json:"asked"`    // one that a person confirms
	Argument stored `json:"argument"` // one that is confirmed by an argument
}

// stored is a kind of call that needs the store, one after the other.
type stored struct {
	MS         float64 `json:"ms"`         // median
	RoundTrips float64 `json:"roundTrips"` // of one call, with the question before it
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: replicas TENON OUT")
		os.Exit(2)
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		fmt.Println("left out: there is no redis-server")
		return
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

func run(tenon, out string) error {
	folder, err := os.MkdirTemp("", "replicas")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":1,"name":"` + strings.Repeat("x", 180) + `"}`))
	}))
	defer service.Close()
	store, err := startStore(folder)
	if err != nil {
		return err
	}
	defer store.stop()
	if err := writeFiles(folder, service.URL, store.addr); err != nil {
		return err
	}
	var both [2]*replica
	for i := range both {
		if both[i], err = startReplica(tenon, folder, i); err != nil {
			return err
		}
		defer both[i].stop()
	}
	r, err := throughput(both)
	if err != nil {
		return err
	}
	for _, k := range []struct {
		into *stored
		name string
		call func(*replica) error
	}{{&r.Limit, "a call that is counted", limited}, {&r.Asked, "a call that a person confirms", asked}, {&r.Argument, "a call that is confirmed by an argument", confirmed}} {
		if *k.into, err = measure(both[0], store, k.call); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		fmt.Printf("%s: %.2f ms, %.2f round trips to the store\n", k.name, k.into.MS, k.into.RoundTrips)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

// throughput compares one replica alone with both, in turns.
func throughput(both [2]*replica) (r report, err error) {
	var one, two, ratio, clock []float64
	for i := range rounds + 1 {
		alone, aloneByClock, err := load(both[:1])
		if err != nil {
			return r, err
		}
		together, togetherByClock, err := load(both[:])
		if err != nil {
			return r, err
		}
		if i == 0 { // warm
			continue
		}
		one, two = append(one, alone), append(two, together)
		ratio, clock = append(ratio, together/alone), append(clock, togetherByClock/aloneByClock)
	}
	r = report{One: middle(one), Two: middle(two), Ratio: middle(ratio), Clock: middle(clock)}
	fmt.Printf("one replica %.0f calls in a second of its processor, two %.0f: %.2f times as many; by the clock, with the load on the same cores, %.2f\n", r.One, r.Two, r.Ratio, r.Clock)
	return r, nil
}

// load calls all replicas for a round. It returns how many calls they make in a second
// of their processors, added, and how many they made in a second.
func load(all []*replica) (perProcessor, perSecond float64, err error) {
	var wait sync.WaitGroup
	var failed atomic.Pointer[error]
	made := make([]atomic.Int64, len(all))
	before := make([]float64, len(all))
	for i, r := range all {
		before[i] = r.processor()
	}
	began := time.Now()
	for i, r := range all {
		for range callers {
			wait.Go(func() {
				for time.Since(began) < round {
					if _, err := r.call("plain", "{}", ""); err != nil {
						failed.Store(&err)
						return
					}
					made[i].Add(1)
				}
			})
		}
	}
	wait.Wait()
	took := time.Since(began).Seconds()
	if e := failed.Load(); e != nil {
		return 0, 0, *e
	}
	for i, r := range all {
		perProcessor += float64(made[i].Load()) / (r.processor() - before[i])
		perSecond += float64(made[i].Load()) / took
	}
	return perProcessor, perSecond, nil
}

// measure makes calls one after the other and counts round trips.
func measure(r *replica, s *store, call func(*replica) error) (stored, error) {
	for range 20 { // connections, and what is made once
		if err := call(r); err != nil {
			return stored{}, err
		}
	}
	before := s.trips.Load()
	var times []float64
	for range serial {
		began := time.Now()
		if err := call(r); err != nil {
			return stored{}, err
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
	}
	return stored{MS: middle(times), RoundTrips: float64(s.trips.Load()-before) / serial}, nil
}

func limited(r *replica) error {
	_, err := r.call("counted", "{}", "")
	return err
}

// asked confirms as a person does: a question, and the call with its answer.
func asked(r *replica) error {
	text, err := r.call("order", "{}", "")
	var q struct {
		Result struct {
			State string `json:"requestState"`
		} `json:"result"`
	}
	if err != nil || json.Unmarshal(text, &q) != nil || q.Result.State == "" {
		return fmt.Errorf("nothing is asked: %.300s %w", text, err)
	}
	text, err = r.call("order", "{}", `"requestState":"`+q.Result.State+`","inputResponses":{"tenon/confirmation":{"action":"accept","content":{"confirm":true}}},`)
	if err == nil && !bytes.Contains(text, []byte("xxxx")) {
		err = fmt.Errorf("not made: %.300s", text)
	}
	return err
}

// confirmed confirms by an argument, as a program does that cannot ask anybody.
func confirmed(r *replica) error {
	if _, err := r.call("sell", "{}", ""); err != nil {
		return err
	}
	text, err := r.call("sell", `{"confirmed":true}`, "")
	if err == nil && !bytes.Contains(text, []byte("xxxx")) {
		err = fmt.Errorf("not made: %.300s", text)
	}
	return err
}

func middle(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// writeFiles writes a description of four tools and the config of all replicas.
func writeFiles(folder, service, store string) error {
	operation := func(path, method, name string) string {
		return fmt.Sprintf(`"/%s":{"%s":{"operationId":%q,"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}}}}}}}`, path, method, name)
	}
	doc := `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"servers":[{"url":"` + service + `"}],"paths":{` + strings.Join([]string{
		operation("plain", "get", "plain"), operation("counted", "get", "counted"), operation("order", "post", "order"), operation("sell", "post", "sell"),
	}, ",") + `}}`
	config := "store: redis://" + store + "\nsecret: env:BENCH_SECRET\nsessions: \"off\"\nallow-private-host: [127.0.0.1]\n" +
		"limit: {everybody counted: rate 1000000/s}\nsources: {shop: {spec: shop.json, tools: {order: {confirm: human}, sell: {confirm: arg}}}}\n"
	if err := os.WriteFile(filepath.Join(folder, "shop.json"), []byte(doc), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "tenon.yaml"), []byte(config), 0o600)
}

// replica is a tenon on a core of its own.
type replica struct {
	cmd    *exec.Cmd
	url    string
	client *http.Client
}

func startReplica(tenon, folder string, core int) (*replica, error) {
	tenon, err := filepath.Abs(tenon)
	if err != nil {
		return nil, err
	}
	addr := freeAddr()
	cmd := exec.Command("taskset", "-c", strconv.Itoa(core), tenon, "serve", "--config", "tenon.yaml", "--http", addr)
	cmd.Dir = folder
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "BENCH_SECRET="+strings.Repeat("0123456789abcdef", 4))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &replica{cmd, "http://" + addr, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}}
	for range 200 {
		if res, err := http.Get(r.url + "/readyz"); err == nil {
			_ = res.Body.Close()
			return r, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.stop()
	return nil, fmt.Errorf("the replica on core %d does not start: %s", core, said.String())
}

func (r *replica) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// processor is the processor time that the replica has used, in seconds.
func (r *replica) processor() float64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(r.cmd.Process.Pid) + "/stat")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// call calls a tool as a client of 2026-07-28 that can ask a person. An error result of
// a tool is an error.
func (r *replica) call(tool, arguments, more string) ([]byte, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,` + more +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
	q, err := http.NewRequest(http.MethodPost, r.url+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
	}
	res, err := r.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK || bytes.Contains(text.Bytes(), []byte(`"isError":true`)) {
		return nil, fmt.Errorf("%d %.300s", res.StatusCode, text.Bytes())
	}
	return text.Bytes(), nil
}
