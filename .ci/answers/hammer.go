package main

import (
	"context"
	"sync"
	"time"
)

const workers, rounds = 16, 3

// sideBySide makes many calls at a time over one connection pool and one
// session, gives some of them up, and expects every other one to be right.
func (u *suite) sideBySide(ctx context.Context, binary string, race bool) {
	s := setting{"openapi-mcp", "warn"}
	title := "side by side"
	if race {
		title += ", race detector"
	}
	p, base, err := startHTTP(ctx, s.command(binary, u.addr))
	if err != nil {
		u.sheet.add(title, s, 0, []string{err.Error()})
		return
	}
	t := tally{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { u.work(ctx, s, base, w, &t) })
	}
	wg.Wait()
	if err := p.interrupt(); err != nil {
		t.problems = append(t.problems, err.Error())
	}
	u.sheet.add(title, s, t.passed, t.problems)
}

// tally counts what the workers saw.
type tally struct {
	mu       sync.Mutex
	passed   int
	problems []string
}

func (t *tally) add(problems []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.problems = append(t.problems, problems...); len(problems) == 0 {
		t.passed++
	}
}

// work makes the calls of one of them, in an order of its own.
func (u *suite) work(ctx context.Context, s setting, base string, worker int, t *tally) {
	c, err := dial(ctx, base, []string{"2025-06-18", "2025-11-25", modern}[worker%3])
	if err != nil {
		t.add([]string{err.Error()})
		return
	}
	for i := range rounds * len(u.table) {
		a := &u.table[(i*7+worker*13)%len(u.table)]
		switch {
		case len(a.body) > 1<<20 && i%9 != 0: // some of them are enough
		case i%11 == 0:
			hurried, cancel := context.WithTimeout(ctx, time.Millisecond)
			call(hurried, c, a.name)
			cancel()
		default:
			r := call(ctx, c, a.name)
			t.add(judge(s, a, &r, byBytes, false))
		}
	}
}
