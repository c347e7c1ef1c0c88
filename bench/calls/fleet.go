package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// The endpoints, in the order of the table.
const (
	withUpstream = "HTTP, an OpenAPI upstream"
	functions    = "HTTP, a Go function"
	overStdio    = "stdio, a Go function"
)

// fleet is every server that runs.
type fleet struct {
	peers     string
	processes []*process
	folder    string
}

// process is a server that runs.
type process struct {
	name          string
	url           string
	configuration string
	in            io.WriteCloser
	out           *bufio.Reader
	cmd           *exec.Cmd
}

// start starts all servers and says what is to be measured.
func (f *fleet) start(tenon string) ([]*cell, error) {
	upstream, err := f.run("1", true, f.peers, "upstream")
	if err != nil {
		return nil, err
	}
	if f.folder, err = os.MkdirTemp("", "calls"); err != nil {
		return nil, err
	}
	document := filepath.Join(f.folder, "forecasts.json")
	if err := os.WriteFile(document, []byte(sample.Document(upstream.url)), 0o600); err != nil {
		return nil, err
	}
	behind := []*variant{{name: "limit"}, {name: "limit-alike"}, {name: "tenon"}, {name: "tenon-GOGC=100"}}
	for _, v := range behind[:2] {
		if v.process, err = f.run("0", true, f.peers, v.name, upstream.url); err != nil {
			return nil, err
		}
	}
	args := []string{"serve", "--http", "127.0.0.1:0", "--policy", "enforce", "--envelope", "native", "--allow-private-host", strings.TrimPrefix(upstream.url, "http://"), document}
	if behind[2].process, err = f.run("0", true, tenon, args...); err != nil {
		return nil, err
	}
	const configuration = "tenon serve (binary): policy enforce, envelope native; GOMAXPROCS=1, "
	behind[2].process.configuration = configuration + "GOGC not set: heap of 16 MiB for a small heap"
	if behind[3].process, err = f.run("0", true, "env", append([]string{"GOGC=100", tenon}, args...)...); err != nil {
		return nil, err
	}
	behind[3].process.configuration = configuration + "GOGC=100"
	plain, err := f.variants(false, "floor", "alike", "tenon", "go-sdk-stateless", "go-sdk-stateful", "mcp-go-stateless", "mcp-go-stateful")
	if err != nil {
		return nil, err
	}
	lines, err := f.variants(true, "floor", "tenon", "go-sdk-stateful", "mcp-go-stateful")
	if err != nil {
		return nil, err
	}
	var cells []*cell
	for _, tool := range []string{sample.Small, sample.Big} {
		for _, n := range []int{1, 16, 64} {
			cells = append(cells, &cell{withUpstream, tool, n, behind}, &cell{functions, tool, n, plain})
		}
	}
	for _, n := range []int{1, 16, 64} {
		cells = append(cells, &cell{functions, sample.Echo, n, plain})
	}
	return append(cells, &cell{overStdio, sample.Small, window, lines}), nil
}

func (f *fleet) variants(stdio bool, names ...string) ([]*variant, error) {
	var vs []*variant
	for _, name := range names {
		args := []string{name}
		if stdio {
			args = []string{"-stdio", name}
		}
		p, err := f.run("0", !stdio, f.peers, args...)
		if err != nil {
			return nil, err
		}
		vs = append(vs, &variant{name: name, process: p, stdio: stdio, stateful: strings.HasSuffix(name, "-stateful")})
	}
	return vs, nil
}

// run starts a server on that core, with one thread of Go, and waits until it
// listens.
func (f *fleet) run(core string, listens bool, program string, args ...string) (*process, error) {
	name := strings.Join(args, " ")
	if taskset, err := exec.LookPath("taskset"); err == nil {
		program, args = taskset, append([]string{"-c", core, program}, args...)
	}
	p := &process{name: name, cmd: exec.Command(program, args...)}
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if !listens {
		stdout, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		p.out = bufio.NewReaderSize(stdout, 256<<10)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	f.processes = append(f.processes, p)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "configuration "); ok {
			p.configuration = after
		}
		_, after, ok := strings.Cut(lines.Text(), "listening on ")
		if p.url = after; ok || !listens && p.configuration != "" {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return p, nil
		}
	}
	return nil, fmt.Errorf("%s ended before it listened", name)
}

// stop ends every server.
func (f *fleet) stop() {
	for _, p := range f.processes {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	_ = os.RemoveAll(f.folder)
}

func (f *fleet) configurations() []string {
	var all []string
	for _, p := range f.processes {
		if p.configuration != "" && p.out == nil {
			all = append(all, p.configuration)
		}
	}
	return all
}

// cpu is the time that the threads of the process have run. Linux tells it;
// elsewhere it is 0.
func (p *process) cpu() time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	var all time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(ran, 10, 64)
		all += time.Duration(ns)
	}
	return all
}

// objects is how many objects the process has allocated, 0 where it does not
// say so.
func (p *process) objects() float64 {
	if p.url == "" {
		return 0
	}
	r, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + "/memory")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	var objects float64
	_, _ = fmt.Fscanf(r.Body, `{"objects":%g,`, &objects)
	return objects
}
