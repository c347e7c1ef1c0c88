package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// suite runs the table through one binary.
type suite struct {
	table []answer
	addr  string
	tenon string
	sheet *sheet
}

// ours runs the clients that look at bytes.
func (u *suite) ours(ctx context.Context, s setting) {
	command := s.command(u.tenon, u.addr)
	p, base, err := startHTTP(ctx, command)
	if err != nil {
		u.sheet.add("bytes, HTTP", s, 0, []string{err.Error()})
		return
	}
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", modern} {
		c, err := dial(ctx, base, revision)
		u.callAll(ctx, s, c, err)
	}
	u.callAll(ctx, s, &overHTTP{url: base + "/jsonrpc", plain: true}, nil)
	if err := p.interrupt(); err != nil {
		u.sheet.add("bytes, HTTP", s, 0, []string{err.Error()})
	}
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", modern} {
		c, err := launch(ctx, command, revision)
		u.callAll(ctx, s, c, err)
	}
}

func (u *suite) callAll(ctx context.Context, s setting, c caller, err error) {
	if err != nil {
		u.sheet.add(fmt.Sprintf("%T", c), s, 0, []string{err.Error()})
		return
	}
	endpoint, ok := c.(*overHTTP)
	plain := ok && endpoint.plain
	passed, problems := 0, []string(nil)
	for i := range u.table {
		a := &u.table[i]
		if len(a.body) > 1<<20 && s.policy != "warn" {
			continue // once an envelope is enough
		}
		r := call(ctx, c, a.name)
		wrong := judge(s, a, &r, byBytes, plain)
		if strings.HasSuffix(c.name(), modern) != (r.Type == "complete") && r.Thrown == "" {
			wrong = append(wrong, a.name+": resultType is "+r.Type)
		}
		if len(wrong) == 0 {
			passed++
		}
		problems = append(problems, wrong...)
	}
	if err := c.close(); err != nil {
		problems = append(problems, err.Error())
	}
	u.sheet.add(c.name(), s, passed, problems)
}

// others runs the clients of other makers.
func (u *suite) others(ctx context.Context, s setting, clients []foreign) {
	command := s.command(u.tenon, u.addr)
	p, base, err := startHTTP(ctx, command)
	if err != nil {
		u.sheet.add("others", s, 0, []string{err.Error()})
		return
	}
	for _, f := range clients {
		target := command
		switch {
		case !f.stdio:
			target = []string{base + "/mcp"}
		case s.policy != "warn":
			continue // the endpoint changes nothing that the policy does not
		}
		passed, problems := f.run(ctx, s, u.table, target)
		u.sheet.add(f.title, s, passed, problems)
	}
	if err := p.interrupt(); err != nil {
		u.sheet.add("others", s, 0, []string{err.Error()})
	}
}

// sheet is the table of results: a line a client, a column a setting.
type sheet struct {
	settings []setting
	clients  []string
	cells    map[string]string
	problems []string
}

func (t *sheet) add(client string, s setting, passed int, problems []string) {
	if t.cells == nil {
		t.cells = map[string]string{}
	}
	key := client + "\x00" + s.String()
	if _, known := t.cells[client]; !known {
		t.clients = append(t.clients, client)
		t.cells[client] = ""
	}
	t.cells[key] = fmt.Sprint(passed)
	if len(problems) > 0 {
		t.cells[key] += " !"
	}
	for _, f := range problems {
		t.problems = append(t.problems, client+", "+s.String()+": "+f)
	}
}

// print writes the table and what is wrong; false: something is.
func (t *sheet) print(w io.Writer, cases int) bool {
	fmt.Fprintf(w, "%d answers; what each client got as it should be:\n\n%-40s", cases, "")
	for _, s := range t.settings {
		fmt.Fprintf(w, " %-20s", s)
	}
	fmt.Fprintln(w)
	for _, c := range t.clients {
		fmt.Fprintf(w, "%-40s", c)
		for _, s := range t.settings {
			fmt.Fprintf(w, " %-20s", t.cells[c+"\x00"+s.String()])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for i, f := range t.problems {
		if i == 100 {
			fmt.Fprintf(w, "and %d more\n", len(t.problems)-i)
			break
		}
		fmt.Fprintln(w, f)
	}
	return len(t.problems) == 0
}
