package sandbox_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestMain is also the worker: a pool of these tests starts this program with
// one argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox-worker" {
		if err := sandbox.Serve(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	forgetWorker()
	os.Exit(code)
}

func pool(t testing.TB, o sandbox.Options) *sandbox.Pool {
	t.Helper()
	o.Command = []string{workerPath(), "sandbox-worker"}
	if o.Load == 0 {
		o.Load = time.Minute
	}
	p := sandbox.NewPool(o)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// glue returns the module's exports unchanged, and ask as a global.
const glue = `({ ask, data, libraries, modules }) => ({ globals: { ask, data, libraries, modules }, start: (all) => ({ ...all }) })`

func program(module string) *sandbox.Program {
	return sandbox.NewProgram(module, glue, []byte(`{"list":[1,{"a":2}]}`))
}

// run calls the function f of a module.
func run(t testing.TB, p *sandbox.Pool, module, args string) (string, error) {
	t.Helper()
	out, err := p.Run(t.Context(), program(module), sandbox.Call{Function: "f", Args: []byte(args), Budget: time.Minute})
	return string(out), err
}

func kindOf(err error) sandbox.Kind {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return e.Kind
	}
	return ""
}

func TestRun(t *testing.T) {
	p := pool(t, sandbox.Options{})
	for _, c := range []struct{ name, module, args, want, err string }{
		{"a value", `export const f = (x) => x.a + 1`, `{"a":1}`, "2", ""},
		{"a promise", `export const f = async (x) => { await null; return [x, 'ä\u{1F600}'] }`, `"ö"`, `["ö","ä😀"]`, ""},
		{"nothing", `export const f = () => {}`, `0`, "null", ""},
		{"order and exact numbers of texts", `export const f = (x) => x`, `{"b":1,"a":-0.5,"10":1e21}`, `{"10":1e+21,"b":1,"a":-0.5}`, ""},
		{"an error", `export const f = () => { throw new TypeError('no') }`, `0`, "", "no"},
		{"a rejection", `export const f = async () => { throw 'text' }`, `0`, "", "text"},
		{"a frozen list", `export const f = () => { data.list[1].a = 3 }`, `0`, "", "'a' is read-only"},
		{"a module that throws", `throw new Error('at once'); export const f = () => 1`, `0`, "", "at once"},
		{"a module that is none", `export const f = (`, `0`, "", "SyntaxError"},
		{"a module of Node", `export const f = async () => (await import('node:crypto')).createHash('sha1').update('a').update(Buffer.from('b')).digest('hex')`, `0`, `"da23614e02469a0d7c7bd1bdab5c9c474b1904dc"`, ""},
		{"a module that is not there", `export const f = async () => import('fs')`, `0`, "", "is not available"},
		{"an own name", `export const f = () => { const e = new Error('x'); e.name = 'Mine'; const o = {}; o.toString = () => 'mine'; return e + o }`, `0`, `"Mine: xmine"`, ""},
		{"Intl", `export const f = () => new Intl.DateTimeFormat('en-US', { timeZone: 'Europe/Berlin', hour: 'numeric', hour12: false }).format(new Date(0))`, `0`, `"01"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := run(t, p, c.module, c.args)
			if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %s, %v; want %s, %q", got, err, c.want, c.err)
			}
		})
	}
}

// A body is its JSON value, parsed by the host or the engine, or else its text.
func TestBody(t *testing.T) {
	p := pool(t, sandbox.Options{})
	module := program(`export const f = (args, body) => [args, typeof body, body]`)
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, c := range []struct {
		name string
		body []byte
		want string
	}{
		{"none", nil, `[1,"undefined",null]`},
		{"nothing", []byte{}, `[1,"string",""]`},
		{"a value", []byte(` {"a": [1, "é"]} `), `[1,"object",{"a":[1,"é"]}]`},
		{"a text as JSON", []byte(`"x"`), `[1,"string","x"]`},
		{"no JSON", []byte(`<p>`), `[1,"string","<p>"]`},
		{"half of it", []byte(`{"a":`), `[1,"string","{\"a\":"]`},
		{"what is not UTF-8", []byte("a\xff\xfeb"), `[1,"string","a` + "\uFFFD" + `b"]`},
		{"JSON that is not UTF-8", []byte("\"a\xffb\""), `[1,"string","a` + "\uFFFD" + `b"]`},
		{"what the host does not read", []byte(deep), `[1,"object",` + deep + `]`},
		{"null", []byte(`null`), `[1,"object",null]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := p.Run(t.Context(), module, sandbox.Call{Function: "f", Args: []byte("1"), Body: c.body, Budget: time.Minute})
			if err != nil || string(out) != c.want {
				t.Errorf("%s, %v; want %s", out, err, c.want)
			}
		})
	}
}

// TestHostileBodies passes bodies that are small to send and large in memory. A
// call receives them or fails for memory or depth; the pool keeps working.
func TestHostileBodies(t *testing.T) {
	p := pool(t, sandbox.Options{Memory: 24 << 20})
	module := program(`export const f = (args, body) => typeof body`)
	const size = 3 << 20
	fill := func(begin, part, end string) string {
		return begin + strings.Repeat(part, (size-len(begin)-len(end))/len(part)) + end
	}
	var names strings.Builder
	for i := 0; names.Len() < size; i++ {
		names.WriteString(`"` + strconv.Itoa(i) + `x":1,`)
	}
	for name, body := range map[string]string{
		"numbers":            fill("[", "1,", "1]"),
		"empty lists":        fill("[", "[],", "1]"),
		"empty objects":      fill("[", "{},", "1]"),
		"a name many times":  fill("{", `"a":1,`, `"a":1}`),
		"many names":         "{" + names.String() + `"a":1}`,
		"brackets":           fill("", "[", ""),
		"brackets in pairs":  strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"objects in objects": fill("", `{"a":`, ""),
		"a text":             fill(`"`, "x", `"`),
		"escapes":            fill(`"`, `\u20ac`, `"`),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := p.Run(t.Context(), module, sandbox.Call{Function: "f", Args: []byte("1"), Body: []byte(body), Budget: time.Minute})
			switch kind := kindOf(err); {
			case err == nil && (string(out) == `"object"` || string(out) == `"string"`):
			case kind == sandbox.Memory, kind == sandbox.Stack:
			default:
				t.Errorf("%s, %v", out, err)
			}
			if out, err := p.Run(t.Context(), module, sandbox.Call{Function: "f", Args: []byte("1"), Body: []byte("[1]"), Budget: time.Minute}); err != nil {
				t.Errorf("afterwards: %s, %v", out, err)
			}
		})
	}
}

// A large text that a handler parses itself is also read by the host, with the
// errors of the engine.
func TestParseWithin(t *testing.T) {
	p := pool(t, sandbox.Options{})
	module := program(`export const f = (n) => {
  const text = JSON.stringify(Array.from({ length: n }, (_, i) => ({ i, t: 'ä' + i })))
  const of = (f) => { try { return f() } catch (e) { return e.name } }
  return [JSON.parse(text)[n - 1], JSON.parse(text, (k, v) => k === 'i' ? v * 2 : v)[n - 1].i, of(() => JSON.parse(text + 'x')), JSON.parse.length, of(() => { JSON.parse = 1 })]
}`)
	out, err := p.Run(t.Context(), module, sandbox.Call{Function: "f", Args: []byte("500"), Budget: time.Minute})
	if want := `[{"i":499,"t":"ä499"},998,"SyntaxError",2,"TypeError"]`; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

func TestAsk(t *testing.T) {
	p := pool(t, sandbox.Options{})
	module := program(`export const f = async (n) => (await Promise.all(Array.from({ length: n }, (_, i) => ask('double', i)))).map((a) => a.value + a.text)
export const g = async () => { try { await ask('fail') } catch (e) { return e.message } }`)
	answer := func(_ context.Context, name string, args []byte) (sandbox.HostResult, error) {
		if name == "fail" {
			return sandbox.HostResult{}, errors.New("no such thing")
		}
		return sandbox.HostResult{Value: append([]byte("1"), args...), Text: []byte("é")}, nil
	}
	for f, want := range map[string]string{"f": `["10é","11é","12é"]`, "g": `"no such thing"`} {
		out, err := p.Run(t.Context(), module, sandbox.Call{Function: f, Args: []byte("3"), Budget: time.Minute, HostCall: answer})
		if err != nil || string(out) != want {
			t.Errorf("%s: %s, %v; want %s", f, out, err, want)
		}
	}
}

// A host call that panics returns an error; the worker and the process keep
// running.
func TestAskThatPanics(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		p := pool(t, sandbox.Options{Workers: 1})
		prog := program(`export const f = async () => { try { await ask('x', 1) } catch (e) { return e.message } }`)
		for range 2 {
			got, err := p.Run(t.Context(), prog, sandbox.Call{Function: "f", Args: []byte("null"), Budget: time.Minute, HostCall: func(context.Context, string, []byte) (sandbox.HostResult, error) {
				end()
				return sandbox.HostResult{}, nil
			}})
			if err != nil || !strings.Contains(string(got), "incident") {
				t.Errorf("%s: %s %v", name, got, err)
			}
		}
	}
}

// TestFullWorker fills a worker with what programs keep between calls: no call
// fails because of others.
func TestFullWorker(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1, Resident: 320 << 20, Load: time.Minute})
	for i := range 8 {
		kept := program(`const kept = []; export const f = (n) => { kept.push(new Uint8Array(64 << 20).fill(n)); return ` + strconv.Itoa(i) + ` }`)
		out, err := p.Run(t.Context(), kept, sandbox.Call{Function: "f", Args: []byte("1"), Budget: time.Minute})
		if err != nil || string(out) != strconv.Itoa(i) {
			t.Errorf("program %d: %s, %v", i, out, err)
		}
	}
}
