package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/internal/proc"
	"github.com/tenon-mcp/tenon/openapi"
)

// authFlags say where the credentials of OpenAPI documents come from. No
// value stands in a flag: command lines are read by others.
type authFlags struct {
	from []string
	to   []string

	credentials []schemeCredential // read from both
}

// schemeCredential is one --auth.
type schemeCredential struct {
	name string // [SOURCE/]SCHEME
	openapi.Credential
	used bool
}

const (
	commandTime   = 15 * time.Second // for a command that prints a credential
	commandKept   = time.Minute      // for which what it printed is used
	maxCommandOut = 64 << 10         // bytes that are read of it
)

func (f *authFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.from, "auth", nil, "where the credential of a security scheme comes from: [SOURCE/]SCHEME=env:NAME, file:PATH, "+
		"command:CMD (run without a shell), caller:HEADER (of the client's request to --http) or none (repeatable)")
	cmd.Flags().StringArrayVar(&f.to, "auth-to", nil, "send the credential of a scheme to this origin alone: [SOURCE/]SCHEME=https://host (default: to the server of the operation; repeatable)")
}

// read checks the flags and looks up what is in the environment.
func (f *authFlags) read(e env) error {
	f.credentials = nil
	for _, flag := range f.from {
		name, where, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return usagef("--auth wants SCHEME=env:NAME, file:PATH, command:CMD, caller:HEADER or none")
		}
		c, err := credential(e, where)
		if err != nil {
			return usagef("--auth %s: %v", name, err)
		}
		if f.find(name) != nil {
			return usagef("--auth %s is given twice", name)
		}
		f.credentials = append(f.credentials, schemeCredential{name: name, Credential: c})
	}
	for _, flag := range f.to {
		name, origin, _ := strings.Cut(flag, "=")
		c := f.find(name)
		if c == nil || origin == "" {
			return usagef("--auth-to wants SCHEME=https://host for a scheme that --auth names")
		}
		c.Origin = origin
	}
	return nil
}

func (f *authFlags) find(name string) *schemeCredential {
	for i := range f.credentials {
		if f.credentials[i].name == name {
			return &f.credentials[i]
		}
	}
	return nil
}

// credential reads what stands behind SCHEME=. Its errors do not repeat it:
// somebody may have written the secret itself.
func credential(e env, where string) (openapi.Credential, error) {
	kind, rest, _ := strings.Cut(where, ":")
	switch {
	case where == "none":
		return openapi.Credential{None: true}, nil
	case rest == "":
	case kind == "env":
		value, _ := e.getenv(rest)
		if value == "" {
			return openapi.Credential{}, fmt.Errorf("the environment has no variable %s", rest)
		}
		return openapi.Credential{Value: openapi.Secret(value)}, nil
	case kind == "file":
		return openapi.Credential{File: rest}, nil
	case kind == "caller":
		return openapi.Credential{Caller: rest}, nil
	case kind == "command":
		return openapi.Credential{Fetch: newCommand(e, rest).value}, nil
	}
	return openapi.Credential{}, errors.New("it wants env:NAME, file:PATH, command:CMD, caller:HEADER or none; the secret itself does not belong there")
}

// of returns the credentials for one of several sources. A scheme without a
// source means the only one.
func (f *authFlags) of(source string, alone bool) (map[string]openapi.Credential, error) {
	all := map[string]openapi.Credential{}
	for i := range f.credentials {
		c := &f.credentials[i]
		scheme, here := strings.CutPrefix(c.name, source+"/")
		switch {
		case !here && !alone && !strings.Contains(c.name, "/"):
			return nil, usagef("--auth %s: there are several descriptions; say of which it is, as --auth %s/%s=...", c.name, source, c.name)
		case !here && !alone:
			continue
		case !here:
			scheme = c.name
		}
		c.used = true
		all[scheme] = c.Credential
	}
	return all, nil
}

// unused is an error for a credential of a source that is not there.
func (f *authFlags) unused() error {
	for _, c := range f.credentials {
		if !c.used {
			return usagef("--auth %s: no OpenAPI document is called so", c.name)
		}
	}
	return nil
}

// callerHeaders names the headers that sources may see of a client's request.
func (f *authFlags) callerHeaders() []string {
	var names []string
	for _, c := range f.credentials {
		if c.Caller != "" {
			names = append(names, c.Caller)
		}
	}
	return names
}

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

func newCommand(e env, line string) *command {
	words := strings.Fields(line)
	c := &command{turn: make(chan struct{}, 1)}
	if len(words) > 0 {
		c.path, c.args = words[0], words[1:]
	}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "APPDATA", "USERPROFILE", "SYSTEMROOT", "TEMP"} {
		if v, ok := e.getenv(name); ok {
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
