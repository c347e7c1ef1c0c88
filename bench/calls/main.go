// Command calls measures tools/call of tenon beside what bounds it and beside
// other libraries: every server is a process of its own on one core, the
// client has the other, and in each round the variants of a cell run in
// shuffled order, so that a busy machine slows all of them.
//
//	calls TENON PEERS OUT
//
// It writes one JSON object to OUT and a table in Markdown to standard output.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon/bench/sample"
)

const (
	rounds = 25                     // many and short: what else the machine does then meets both of a pair
	warm   = 60 * time.Millisecond  // before each measurement
	span   = 200 * time.Millisecond // of each measurement
	window = 16                     // messages in flight over stdio
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: calls TENON PEERS OUT")
		os.Exit(2)
	}
	if err := pin(); err != nil {
		fmt.Fprintln(os.Stderr, "calls: not pinned:", err)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

// pin starts this program again on the second core, where there is one: the
// servers get the first.
func pin() error {
	taskset, err := exec.LookPath("taskset")
	if err != nil || runtime.NumCPU() < 2 {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(taskset, append([]string{"taskset", "-c", "1", self}, os.Args[1:]...), os.Environ())
}

// cell is one row of the table: the variants in it differ in nothing but the
// server.
type cell struct {
	Endpoint    string // what the client speaks and what stands behind the tool
	Tool        string
	Connections int
	variants    []*variant
}

// variant is a server and how to talk to it.
type variant struct {
	name     string
	process  *process
	stdio    bool
	stateful bool // a session of 2025-11-25; else 2026-07-28
	session  string
}

func run(tenon, peers, out string) error {
	f := &fleet{peers: peers}
	defer f.stop()
	cells, err := f.start(tenon)
	if err != nil {
		return err
	}
	records := map[*cell]map[string]*record{}
	for _, c := range cells {
		records[c] = map[string]*record{}
		for _, v := range c.variants {
			records[c][v.name] = &record{}
		}
	}
	for range rounds {
		rand.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		for _, c := range cells {
			order := rand.Perm(len(c.variants))
			for _, i := range order {
				v := c.variants[i]
				s, err := measure(c, v)
				if err != nil {
					return fmt.Errorf("%s, %s, %d connections, %s: %w", c.Endpoint, c.Tool, c.Connections, v.name, err)
				}
				records[c][v.name].add(s)
			}
		}
	}
	r := newReport(cells, records, f.configurations())
	r.print(os.Stdout)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// measured is one measurement.
type measured struct {
	requests int
	took     time.Duration
	cpu      time.Duration // of the server
	objects  float64       // allocated by the server; 0: it does not say
}

// measure warms the server up and measures it.
func measure(c *cell, v *variant) (measured, error) {
	l, err := dial(c, v)
	if err != nil {
		return measured{}, err
	}
	defer l.close()
	if _, err := l.run(warm); err != nil {
		return measured{}, err
	}
	objects, cpu := v.process.objects(), v.process.cpu()
	began := time.Now()
	n, err := l.run(span)
	if err != nil {
		return measured{}, err
	}
	m := measured{requests: n, took: time.Since(began), cpu: v.process.cpu() - cpu}
	if objects > 0 {
		m.objects = v.process.objects() - objects
	}
	return m, nil
}

// load is a client that is connected.
type load interface {
	run(time.Duration) (requests int, err error)
	close()
}

func dial(c *cell, v *variant) (load, error) {
	want := sample.Want(c.Tool)
	if v.stdio {
		return dialStdio(v, c.Tool, &want)
	}
	return dialHTTP(v, c.Tool, c.Connections, &want)
}
