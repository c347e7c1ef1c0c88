package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// order is what a process is told on its input, one JSON object a line. It
// answers with a done.
type order struct {
	Size    int `json:"size"`
	Calls   int `json:"calls"`
	Callers int `json:"callers"`
}

// done is microseconds: of the call in the middle, and of all calls, by their
// number.
type done struct {
	Middle float64 `json:"middle"`
	Each   float64 `json:"each"`
}

// process is one side while it runs.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(command []string) (*process, error) {
	cmd := exec.Command(command[0], append(slices.Clip(command[1:]), "warm")...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (p *process) do(o order) (d done, err error) {
	if err := json.NewEncoder(p.in).Encode(o); err != nil {
		return d, err
	}
	return d, p.read(&d)
}

func (p *process) read(v any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// end ends the process and returns the most memory that it and its workers had.
func (p *process) end() (mb float64, err error) {
	var last struct {
		WorkerMB float64 `json:"workerMB"`
	}
	if err := p.in.Close(); err != nil {
		return 0, err
	}
	if err := p.read(&last); err != nil {
		return 0, err
	}
	if err := p.cmd.Wait(); err != nil {
		return 0, err
	}
	return float64(p.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024 + last.WorkerMB, nil
}

// processor is the time that the process and its children had, in
// microseconds.
func (p *process) processor() float64 {
	var nanos float64
	todo := []string{strconv.Itoa(p.cmd.Process.Pid)}
	for len(todo) > 0 {
		tasks, _ := filepath.Glob("/proc/" + todo[0] + "/task/*")
		todo = todo[1:]
		for _, task := range tasks {
			children, _ := os.ReadFile(filepath.Join(task, "children"))
			todo = append(todo, strings.Fields(string(children))...)
			text, _ := os.ReadFile(filepath.Join(task, "schedstat"))
			if fields := strings.Fields(string(text)); len(fields) > 0 {
				n, _ := strconv.ParseFloat(fields[0], 64)
				nanos += n
			}
		}
	}
	return nanos / 1000
}

// cold runs a side for one call and returns the milliseconds from exec to its
// end.
func cold(command []string) (float64, error) {
	begun := time.Now()
	out, err := exec.Command(command[0], append(slices.Clip(command[1:]), "once")...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return float64(time.Since(begun).Microseconds()) / 1000, nil
}
