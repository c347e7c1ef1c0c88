package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// foreign is a client of another maker: a program that is given the names of
// tools on its input and writes what it saw of each call as a line of JSON.
type foreign struct {
	title   string
	command []string // the URL, or the command of a server on stdio, follows
	stdio   bool
	sight   sight
}

// foreigners are the clients that can run here; folder holds them.
func foreigners(folder, python string) []foreign {
	node := func(title, script string, stdio bool, args ...string) foreign {
		return foreign{title, append([]string{"node", folder + "/answers.mjs", script}, args...), stdio, byDoubles}
	}
	all := []foreign{
		node("TypeScript SDK 1, HTTP", "sdk", false, "http"),
		node("TypeScript SDK 1, stdio", "sdk", true, "stdio"),
		node("TypeScript client 2, HTTP, legacy", "client", false, "http", "legacy"),
		node("TypeScript client 2, stdio, legacy", "client", true, "stdio", "legacy"),
		node("TypeScript client 2, HTTP, "+modern, "client", false, "http", modern),
		node("TypeScript client 2, stdio, "+modern, "client", true, "stdio", modern),
	}
	if python == "" {
		return all
	}
	return append(all,
		foreign{"Python SDK 2, HTTP, legacy", []string{python, folder + "/python/answers.py", "legacy"}, false, byValue},
		foreign{"Python SDK 2, HTTP, " + modern, []string{python, folder + "/python/answers.py", modern}, false, byValue},
		foreign{"Python SDK 2, stdio", []string{python, folder + "/python/answers.py", "auto", "stdio"}, true, byValue},
	)
}

// run lets the client call every tool of the table that it can bear.
func (f *foreign) run(ctx context.Context, s setting, table []answer, target []string) (passed int, problems []string) {
	var names []string
	byName := map[string]*answer{}
	for i := range table {
		if !table[i].ours {
			names = append(names, table[i].name)
			byName[table[i].name] = &table[i]
		}
	}
	command := append(append([]string{}, f.command...), target...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	said := &strings.Builder{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, []string{err.Error()}
	}
	passed, problems = f.judge(out, s, byName)
	if err := cmd.Wait(); err != nil {
		problems = append(problems, fmt.Sprintf("%v: %.2000s", err, said))
	}
	for name := range byName {
		problems = append(problems, name+": not called")
	}
	return passed, problems
}

// judge reads what the client saw, and takes each case off the table.
func (f *foreign) judge(out io.Reader, s setting, table map[string]*answer) (passed int, problems []string) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var seen struct {
			Case       string          `json:"case"`
			Structured json.RawMessage `json:"structured"`
			IsError    bool            `json:"isError"`
			Meta       json.RawMessage `json:"meta"`
			Thrown     string          `json:"thrown"`
		}
		if err := json.Unmarshal(lines.Bytes(), &seen); err != nil || table[seen.Case] == nil {
			problems = append(problems, fmt.Sprintf("not a line of a case: %.200q", lines.Text()))
			continue
		}
		r := result{Structured: seen.Structured, IsError: seen.IsError, Meta: seen.Meta, Thrown: seen.Thrown}
		wrong := judge(s, table[seen.Case], &r, f.sight, false)
		if len(wrong) == 0 {
			passed++
		}
		problems = append(problems, wrong...)
		delete(table, seen.Case)
	}
	return passed, problems
}
