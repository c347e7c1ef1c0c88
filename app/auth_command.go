package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/proc"
)

const (
	commandTime   = 15 * time.Second // for a command that prints a credential
	commandKept   = time.Minute      // for which what it printed is used
	maxCommandOut = 64 << 10         // bytes that are read of it
)

// command is a program that prints a credential. What it printed is used for a
// while; its errors are nobody's to read, because they may hold the secret.
type command struct {
	path string
	args []string
	env  []string

	turn  chan struct{} // held by who looks at the rest
	kept  string
	until time.Time
}

func newCommand(e Env, line string) *command {
	words := strings.Fields(line)
	c := &command{turn: make(chan struct{}, 1)}
	if len(words) > 0 {
		c.path, c.args = words[0], words[1:]
	}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "APPDATA", "USERPROFILE", "SYSTEMROOT", "TEMP"} {
		if v, ok := e.Getenv(name); ok {
			c.env = append(c.env, name+"="+v)
		}
	}
	return c
}

func (c *command) value(ctx context.Context) (string, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-c.turn }()
	if time.Now().Before(c.until) {
		return c.kept, nil
	}
	out, err := c.run()
	if err != nil {
		return "", fmt.Errorf("command %s: %w", c.path, err)
	}
	c.kept, c.until = out, time.Now().Add(commandKept)
	return out, nil
}

// run is not bound to the call that wants the value: the next one waits for it
// as well.
func (c *command) run() (string, error) {
	child, err := proc.Start(proc.Command{Path: c.path, Args: c.args, Env: c.env, Pipes: true})
	if err != nil {
		return "", err
	}
	defer child.Close()
	_ = child.Stdin.Close()
	late := time.AfterFunc(commandTime, func() { child.Kill("it took too long") })
	defer late.Stop()
	out, err := io.ReadAll(io.LimitReader(child.Stdout, maxCommandOut))
	if err != nil {
		return "", err
	}
	if len(out) == maxCommandOut {
		return "", errors.New("it prints too much")
	}
	<-child.Done()
	if exit := child.Exit(); exit.Code != 0 {
		return "", errors.New(exit.String())
	}
	return string(out), nil
}
