package sandbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// fills are loops that fill an engine: with objects, whose size is that of an
// error, so that the engine has none left for the error and throws null, and
// with values of other sizes, so that the error lacks a text or a stack.
func fills() map[string]string {
	all := map[string]string{
		"objects":   `for (;;) kept = { kept }`,
		"lists":     `for (;;) kept = [kept]`,
		"both":      `for (;;) kept = { a: [1, 2, 3], kept }`,
		"functions": `for (;;) { const last = kept; kept = () => last }`,
		"promises":  `for (;;) { const last = kept; kept = Promise.resolve(last).then(() => last) }`,
		"growing":   `kept = []; for (;;) kept.push({ a: [1, 2, 3] })`,
		"rest":      `kept = []; for (let n = 1 << 20; n; n = n >> 1) try { for (;;) kept = [kept, new Uint8Array(n)] } catch {} for (;;) kept = { kept }`,
	}
	for _, size := range []int{1, 20, 60, 100, 200, 400, 1000, 5000} {
		all[fmt.Sprintf("texts of %d", size)] = fmt.Sprintf(`for (let n = 0; ; n++) kept = { kept, s: String(n).padStart(%d, 'x') + n }`, size)
	}
	return all
}

// TestMemoryWithoutError fills engines until there is no memory for the error:
// in a handler, behind an await, in a module, after a question, in a timer.
func TestMemoryWithoutError(t *testing.T) {
	if raced {
		t.Skip("SKIPPED: the race detector makes the engine too slow for memory to fill; the other stages run this without it")
	}
	p := pool(t, sandbox.Options{Workers: 1, Memory: 8 << 20})
	ask := func(context.Context, string, []byte) (sandbox.HostResult, error) {
		return sandbox.HostResult{Value: []byte("1")}, nil
	}
	for name, fill := range fills() {
		for place, module := range map[string]string{
			"handler":   `export const f = async () => { let kept; ` + fill + ` }`,
			"sync":      `let kept; export const f = () => { ` + fill + ` }`,
			"await":     `let kept; export const f = async () => { await null; ` + fill + ` }`,
			"module":    `let kept; ` + fill + `; export const f = () => 1`,
			"question":  `let kept; export const f = async () => { await ask('x', 1); ` + fill + ` }`,
			"thenable":  `let kept; export const f = () => ({ then() { ` + fill + ` } })`,
			"rejection": `let kept; export const f = () => new Promise((ok, bad) => { try { ` + fill + ` } catch (e) { bad(e) } })`,
			"result":    `let kept; export const f = () => ({ toJSON() { ` + fill + ` } })`,
		} {
			_, err := p.Run(t.Context(), program(module), sandbox.Call{Function: "f", Args: []byte("0"), Budget: time.Minute, HostCall: ask})
			if kindOf(err) != sandbox.Memory {
				t.Errorf("%s in %s: %q %v; want an error of kind memory", name, place, kindOf(err), err)
			}
		}
	}
}

// TestThrownWithoutMessage throws what the engine throws without memory, with
// memory free: also where an earlier call used it up and caught that.
func TestThrownWithoutMessage(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1, Memory: 8 << 20})
	good := `export const f = (what) => {
		if (what === 'fill') { let kept; try { for (;;) kept = { kept } } catch { return 1 } }
		if (what === 'null') throw null
		throw what === 'empty' ? new Error('') : { get message() { throw 1 } }
	}`
	for _, what := range []string{"null", "fill", "null", "empty", "getter"} {
		out, err := run(t, p, good, `"`+what+`"`)
		if what == "fill" {
			if out != "1" || err != nil {
				t.Fatalf("caught: %s, %v", out, err)
			}
		} else if kindOf(err) != sandbox.Thrown {
			t.Errorf("%s: %q %v; want an error of kind thrown", what, kindOf(err), err)
		}
	}
	if _, err := run(t, p, `export const f = () => 1; throw null`, `0`); kindOf(err) != sandbox.Thrown {
		t.Errorf("a module that throws null: %q %v", kindOf(err), err)
	}
	if _, err := run(t, p, `export const f = () => new Promise(() => {})`, `0`); kindOf(err) != sandbox.Unending {
		t.Errorf("a promise that never settles: %q %v", kindOf(err), err)
	}
}
