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

// attack is untrusted code that tries to exceed its limits.
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

// bounds are the limits of a run of the attacks.
type bounds struct {
	strict bool
	budget time.Duration // of an attack that ends at its deadline
	ample  time.Duration // of all other code: only the strict run cares how fast it is
}

// limits of this run: plain tests do not depend on the speed of the machine,
// those with TENON_ATTACKS=strict do.
func limits() bounds {
	const budget = 400 * time.Millisecond
	if os.Getenv("TENON_ATTACKS") == "strict" {
		return bounds{strict: true, budget: budget, ample: budget}
	}
	return bounds{budget: budget, ample: time.Minute}
}

const (
	resident = 320 << 20
	late     = time.Second // beyond the deadline
	tick     = 50 * time.Millisecond
)

// TestAttacks runs each attack alongside good calls, samples the memory of this
// process and of the workers, and checks that good calls are unaffected. The
// strict run makes twenty of them a second, and requires each attack to end
// within a second of its deadline.
func TestAttacks(t *testing.T) {
	if raced {
		t.Skip("SKIPPED: the race detector makes the engine too slow for memory to fill; the other stages run this without it")
	}
	b := limits()
	p := pool(t, sandbox.Options{Workers: 3, Resident: resident, Load: b.ample * 5})
	beside := startBeside(t, p, b)
	ctx, stop := context.WithCancel(t.Context())
	var sampling sync.WaitGroup
	peak := watchMemory(ctx, &sampling, p)
	begun := time.Now()
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) { a.run(t, p, b) })
	}
	took := time.Since(begun)
	calls := beside()
	stop()
	sampling.Wait()
	workers, own := peak()
	t.Logf("%d good calls beside in %v; at most %d MiB in all workers, %d MiB here", calls, took.Round(time.Millisecond), workers>>20, own>>20)
	if limit := int64(3 * (resident + 256<<20)); workers > limit {
		t.Errorf("the workers held %d bytes, more than %d", workers, limit)
	}
	if own > 512<<20 {
		t.Errorf("this process held %d bytes", own)
	}
	if rate := float64(calls) / took.Seconds(); b.strict && rate < 15 {
		t.Errorf("%.1f good calls a second beside the attacks", rate)
	}
}

// startBeside makes good calls until the returned func is called, which returns
// their number. The strict run starts one at every tick; others wait for the
// previous one.
func startBeside(t *testing.T, p *sandbox.Pool, b bounds) func() int64 {
	t.Helper()
	good := program(`let n = 0; export const f = (x) => x.a.map((i) => i * 2).concat(Object.keys(Object.prototype).length)`)
	var calls atomic.Int64
	once := func() {
		begun := time.Now()
		out, err := p.Run(t.Context(), good, sandbox.Call{Function: "f", Args: []byte(`{"a":[1,2]}`), Budget: b.ample * 5})
		if err != nil || string(out) != "[2,4,0]" {
			t.Errorf("a good call beside: %s, %v", out, err)
		}
		if took := time.Since(begun); b.strict && took > late {
			t.Errorf("a good call beside took %v", took)
		}
		calls.Add(1)
	}
	once()
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
			}
			if b.strict {
				group.Go(once)
			} else {
				once()
			}
		}
	})
	return func() int64 {
		close(done)
		group.Wait()
		return calls.Load()
	}
}

func (a attack) run(t *testing.T, p *sandbox.Pool, b bounds) {
	budget := b.ample
	if strings.Contains(a.kinds, "deadline") {
		budget = b.budget
	}
	begun := time.Now()
	ask := func(ctx context.Context, _ string, _ []byte) (sandbox.HostResult, error) {
		<-ctx.Done()
		return sandbox.HostResult{}, ctx.Err()
	}
	out, err := p.Run(t.Context(), program("export const f = async () => { "+a.body+" }"), sandbox.Call{Function: "f", Args: []byte("0"), Budget: budget, HostCall: ask})
	took := time.Since(begun)
	kind := string(kindOf(err))
	t.Logf("%v %s %v", took.Round(time.Millisecond), kind, err)
	switch {
	case a.kinds == "" && (err != nil || string(out) != a.want):
		t.Errorf("%s, %v; want %s", out, err, a.want)
	case a.kinds != "" && (err == nil || !strings.Contains(" "+a.kinds+" ", " "+kind+" ")):
		t.Errorf("%.80s, %q: %v; want an error of kind %s", out, kind, err, a.kinds)
	case b.strict && took > budget+late:
		t.Errorf("ended after %v", took)
	}
}

// watchMemory samples until ctx ends; the returned func returns the peaks.
func watchMemory(ctx context.Context, group *sync.WaitGroup, p *sandbox.Pool) func() (workers, own int64) {
	var mu sync.Mutex
	var workers, own int64
	group.Go(func() {
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
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

// ownMemory returns the resident memory of this process, or 0 where it is
// unknown.
func ownMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
