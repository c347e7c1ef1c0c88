package sandbox_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// attack is foreign code that wants more than it is given.
type attack struct {
	name, body string
	kinds      string // of the error that ends it; empty: it ends with want
	want       string
}

func attacks() []attack {
	return []attack{
		{"a loop", `while (true) {}`, "deadline", ""},
		{"a loop behind an await", `await null; for (;;) {}`, "deadline", ""},
		{"a loop that catches its end", `for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }`, "deadline", ""},
		{"a native loop", `return Array(1e9).fill(0).length`, "deadline memory", ""},
		{"a native loop that the engine cannot stop", `const a = []; a[2 ** 32 - 2] = 1; return a.indexOf(5)`, "deadline", ""},
		{"a join of nothing", `return Array(2 ** 32 - 1).join().length`, "deadline memory", ""},
		{"a chain of replacements", `let s = 'a'.repeat(1e6); for (let i = 0; i < 50; i++) s = s.replaceAll('a', 'ab').slice(0, 5e6); return s.length`, "deadline memory", ""},
		{"two gigabytes", `return new ArrayBuffer(2 ** 31).byteLength`, "memory thrown", ""},
		{"two gigabytes in parts", `const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))`, "memory", ""},
		{"a list without end", `const a = []; for (;;) a.push({ a: [1, 2, 3] })`, "memory deadline", ""},
		{"a text without end", `let s = 'x'; for (;;) s += s`, "memory thrown deadline", ""},
		{"memory that is caught", `const a = []; for (;;) { try { for (;;) a.push('x'.repeat(1e6) + a.length) } catch {} }`, "deadline memory", ""},
		{"deep recursion", `const g = () => g() + 1; return g()`, "stack", ""},
		{"deep recursion that is caught", `const g = () => { try { return g() } catch { return 5 } }; return g()`, "", "5"},
		{"deep recursion of getters", `const o = { get a() { return this.a } }; return o.a`, "stack", ""},
		{"twenty megabytes of brackets", `return JSON.parse('['.repeat(2e7))`, "stack thrown memory deadline", ""},
		{"a deep result", `let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; return o`, "stack thrown memory deadline", ""},
		{"a circular result", `const o = {}; o.o = o; return o`, "thrown", ""},
		{"a regular expression", `return /^(a+)+$/.test('a'.repeat(40) + 'b')`, "deadline", ""},
		{"a promise that never settles", `return new Promise(() => {})`, "unending", ""},
		{"jobs without end", `const g = () => Promise.resolve().then(g); return g()`, "deadline memory", ""},
		{"jobs that multiply", `const g = () => { Promise.resolve().then(g); Promise.resolve().then(g) }; g(); return new Promise(() => {})`, "deadline memory", ""},
		{"a result of 200 MB", `return 'x'.repeat(2e8)`, "memory large", ""},
		{"a result with a trap", `return { toJSON() { for (;;) {} } }`, "deadline", ""},
		{"a thenable with a trap", `return { then() { for (;;) {} } }`, "deadline", ""},
		{"questions without end", `for (;;) ask('x', 1)`, "deadline memory", ""},
		{"a huge question", `return ask('x', 'x'.repeat(1e8))`, "memory deadline large", ""},
		{"a question and a loop", `ask('slow', 1); const a = []; a[2 ** 32 - 2] = 1; return a.indexOf(5)`, "deadline", ""},
		{"a big number", `return String(9n ** (10n ** 8n)).length`, "deadline thrown memory", ""},
		{"a sort that never agrees", `return Array.from({ length: 5e6 }, (_, i) => i).sort(() => Math.random() - 0.5).length`, "deadline memory", ""},
		{"code from text", `return eval('1')`, "thrown", ""},
		{"code from text by a way round", `return (0, eval)('1')`, "thrown", ""},
		{"code from a constructor", `return (() => {}).constructor('return 1')()`, "thrown", ""},
		{"code from an async constructor", `return (async () => {}).constructor('return 1')()`, "thrown", ""},
		{"code from a generator's constructor", `return Object.getPrototypeOf(function * () {}).constructor('return 1')().next()`, "thrown", ""},
		{"code from a member", `return [].constructor.constructor('return 1')()`, "thrown", ""},
		{"a prototype", `Object.prototype.polluted = 1; return 1`, "thrown", ""},
		{"a prototype by its name", `({}).__proto__.polluted = 1; return 1`, "thrown", ""},
		{"a built-in function", `Array.prototype.map = () => 'mine'; return 1`, "thrown", ""},
		{"JSON", `JSON.parse = () => 'mine'; return 1`, "thrown", ""},
		{"a promise's then", `Promise.prototype.then = () => 'mine'; return 1`, "thrown", ""},
		{"a new global", `globalThis.mine = 1; return 1`, "thrown", ""},
		{"a global by definition", `return Object.defineProperty(globalThis, 'mine', { value: 1 })`, "thrown", ""},
		{"a boot twice", `return __tenon({})`, "thrown", ""},
		{
			"things that are not here", `return [typeof process, typeof require, typeof fetch, typeof setTimeout, typeof Deno, typeof std, typeof os, typeof WebAssembly, typeof Worker, typeof __go, typeof XMLHttpRequest, typeof WebSocket].join()`, "",
			`"` + strings.TrimSuffix(strings.Repeat("undefined,", 12), ",") + `"`,
		},
		{"files", `return import('node:fs')`, "thrown", ""},
		{"a module of the engine", `return import('os')`, "thrown", ""},
		{"a module of a URL", `return import('data:text/javascript,export default 1')`, "thrown", ""},
		{"a module by a path", `return import('/etc/passwd')`, "thrown", ""},
	}
}

const (
	budget = 400 * time.Millisecond
	late   = time.Second // beyond the deadline
)

// TestAttacks runs each attack while twenty good calls a second go on beside
// it, samples the memory of this process and of the workers, and looks whether
// the next call finds the world as it was.
func TestAttacks(t *testing.T) {
	if raced {
		t.Skip("SKIPPED: times and memory mean nothing under the race detector; .ci/run runs this without it")
	}
	const resident = 320 << 20
	p := pool(t, sandbox.Options{Workers: 3, Resident: resident})
	good := program(`let n = 0; export const f = (x) => x.a.map((i) => i * 2).concat(Object.keys(Object.prototype).length)`)
	beside := sandbox.Call{Function: "f", Args: []byte(`{"a":[1,2]}`)}
	if _, err := p.Run(t.Context(), good, beside); err != nil {
		t.Fatal(err)
	}
	var failures, calls atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			background.Go(func() { //nolint:contextcheck // the calls outlive the ticking
				out, err := p.Run(t.Context(), good, beside)
				calls.Add(1)
				if err != nil || string(out) != "[2,4,0]" {
					failures.Add(1)
					t.Errorf("a good call beside: %s, %v", out, err)
				}
			})
		}
	})
	peak := watchMemory(ctx, &background, p)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) { a.run(t, p) })
	}
	stop()
	background.Wait()
	workers, own := peak()
	t.Logf("%d good calls beside, %d failed; at most %d MiB in all workers, %d MiB here", calls.Load(), failures.Load(), workers>>20, own>>20)
	if limit := int64(3 * (resident + 256<<20)); workers > limit {
		t.Errorf("the workers held %d bytes, more than %d", workers, limit)
	}
	if own > 512<<20 {
		t.Errorf("this process held %d bytes", own)
	}
}

func (a attack) run(t *testing.T, p *sandbox.Pool) {
	begun := time.Now()
	ask := func(ctx context.Context, _ string, _ []byte) (sandbox.Answer, error) {
		<-ctx.Done()
		return sandbox.Answer{}, ctx.Err()
	}
	out, err := p.Run(t.Context(), program("export const f = async () => { "+a.body+" }"), sandbox.Call{Function: "f", Args: []byte("0"), Budget: budget, Ask: ask})
	took := time.Since(begun)
	kind := string(kindOf(err))
	t.Logf("%v %s %v", took.Round(time.Millisecond), kind, err)
	switch {
	case a.kinds == "" && (err != nil || string(out) != a.want):
		t.Errorf("%s, %v; want %s", out, err, a.want)
	case a.kinds != "" && (err == nil || !strings.Contains(" "+a.kinds+" ", " "+kind+" ")):
		t.Errorf("%.80s, %q: %v; want an error of kind %s", out, kind, err, a.kinds)
	case took > budget+late:
		t.Errorf("ended after %v", took)
	}
}

// watchMemory samples until ctx ends; the returned function tells the peaks.
func watchMemory(ctx context.Context, group *sync.WaitGroup, p *sandbox.Pool) func() (workers, own int64) {
	var mu sync.Mutex
	var workers, own int64
	group.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			used, _ := p.Resident()
			mu.Lock()
			workers, own = max(workers, used), max(own, ownMemory())
			mu.Unlock()
		}
	})
	return func() (int64, int64) {
		mu.Lock()
		defer mu.Unlock()
		return workers, own
	}
}

// ownMemory is the resident memory of this process, 0 where it cannot be told.
func ownMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
