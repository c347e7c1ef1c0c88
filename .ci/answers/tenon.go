package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// setting is how the binary is configured.
type setting struct{ envelope, policy string }

func settings() []setting {
	return []setting{
		{"openapi-mcp", "warn"},
		{"openapi-mcp", "enforce"},
		{"openapi-mcp", "off"},
		{"native", "warn"},
		{"native", "enforce"},
		{"native", "off"},
		{"flowmcp", "warn"},
		{"flowmcp", "enforce"},
	}
}

func (s setting) String() string { return s.envelope + "/" + s.policy }

// command is the command line that serves the upstream at addr.
func (s setting) command(tenon, addr string) []string {
	return []string{
		tenon, "serve", "--envelope", s.envelope, "--policy", s.policy, "--allow-private-host", addr, "--max-output-schema", "-1",
		"--max-result-bytes", "-1", // answers are compared whole
		"http://" + addr + "/openapi.json",
	}
}

// process is a binary under way. What it says on stderr is kept.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader

	mu  sync.Mutex
	log strings.Builder
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func start(ctx context.Context, command []string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	p.cmd.Stderr = p
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p, p.cmd.Start()
}

// startHTTP starts a binary that listens, and returns where: the address
// without a path.
func startHTTP(ctx context.Context, command []string) (*process, string, error) {
	p, err := start(ctx, append(command[:2:2], append([]string{"--http", "127.0.0.1:0"}, command[2:]...)...))
	if err != nil {
		return nil, "", err
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, p.out) // nothing comes; it ends with the process
		close(gone)
	}()
	for range 600 {
		if _, rest, ok := strings.Cut(p.said(), "listening on "); ok {
			if url, _, whole := strings.Cut(rest, "/mcp\n"); whole {
				return p, url, nil
			}
		}
		select {
		case <-gone:
			return nil, "", fmt.Errorf("%s ended at once: %w: %s", command[0], p.cmd.Wait(), p.said())
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = p.cmd.Process.Kill()
	return nil, "", fmt.Errorf("%s does not listen: %s", command[0], p.said())
}

// interrupt ends a process that listens: it has to end well.
func (p *process) interrupt() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.ended()
}

// hangUp ends a process by the end of its input: nothing but protocol may have
// been on its output.
func (p *process) hangUp() error {
	_ = p.stdin.Close()
	rest, err := io.ReadAll(p.out)
	if err != nil || len(rest) > 0 {
		return errors.Join(err, fmt.Errorf("%d bytes that nobody asked for on stdout: %.200q", len(rest), rest))
	}
	return p.ended()
}

func (p *process) ended() error {
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("tenon ended with %w: %s", err, p.said())
	}
	if s := p.said(); strings.Contains(s, "DATA RACE") || strings.Contains(s, "panic") {
		return errors.New(s)
	}
	return nil
}
