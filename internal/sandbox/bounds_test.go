package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestFrameBounds: a frame that announces more than it may, or than there is, is
// none.
func TestFrameBounds(t *testing.T) {
	frame := func(size uint32, rest ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, size), rest...)
	}
	many := frame(1+600*4, append([]byte{'R'}, make([]byte, 600*4)...)...)
	for name, b := range map[string][]byte{
		"nothing":                        frame(0),
		"more than the limit":            append(frame(1<<16+1, 'R', 0xFC, 0xFF, 0, 0), make([]byte, 1<<16-4)...),
		"four gigabytes":                 frame(1<<32-1, 'R'),
		"a part longer than the frame":   frame(6, 'R', 200, 0, 0, 0, 'x'),
		"a part of nearly four gigabyte": frame(6, 'R', 255, 255, 255, 255, 'x'),
		"half a length":                  frame(3, 'R', 0, 0),
		"many parts":                     many,
	} {
		if out, err := sandbox.Reframe(b); err == nil {
			t.Errorf("%s is read as %.40q", name, out)
		}
	}
	if out, err := sandbox.Reframe(frame(6, 'R', 1, 0, 0, 0, 'x')); err != nil || len(out) != 10 {
		t.Errorf("a good frame: %q, %v", out, err)
	}
}

// TestBuiltinBounds: what host functions return has a bound, however small the
// text that asks for it.
func TestBuiltinBounds(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(w, zeros{}, sandbox.MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := sandbox.CallBuiltin("gunzip", sandbox.Latin1(bomb.Bytes())); err == nil {
		t.Errorf("%d bytes became %d", bomb.Len(), len(out))
	}
	if out, err := sandbox.CallBuiltin("random", "65537"); err == nil {
		t.Errorf("%d random bytes", len(out))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestHostCallBounds: one call has so many host calls at once, and so many
// altogether.
func TestHostCallBounds(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1})
	answer := func(context.Context, string, []byte) (sandbox.HostResult, error) {
		return sandbox.HostResult{Value: []byte("1")}, nil
	}
	for _, tt := range []struct{ name, body, want, err string }{
		{"64 at once", `return (await Promise.all(Array.from({ length: 64 }, () => ask('x')))).length`, "64", ""},
		{"65 at once", `return (await Promise.all(Array.from({ length: 65 }, () => ask('x')))).length`, "", "too many requests at once"},
		{"one that is too large", `return ask('x', 'x'.repeat(17e6))`, "", "or one too large"},
		{"256 one after the other", `for (let i = 0; i < 256; i++) await ask('x'); return 1`, "1", ""},
		{"257 one after the other", `for (let i = 0; i < 257; i++) await ask('x'); return 1`, "", "protocol violation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := p.Run(t.Context(), program("export const f = async () => { "+tt.body+" }"), sandbox.Call{Function: "f", Args: []byte("0"), Budget: time.Minute, HostCall: answer})
			if tt.err == "" && (err != nil || string(out) != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%s, %v; want %s %q", out, err, tt.want, tt.err)
			}
		})
	}
}

// TestTimerBounds: only libraries have timers, and not without end.
func TestTimerBounds(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1})
	library := sandbox.Library{Name: "own", Source: `({ setTimeout }) => ({ f: (n) => { for (let i = 0; i < n; i++) setTimeout(() => {}, 1e6); return n } })`}
	prog := sandbox.NewProgram(`export const f = (n) => libraries.own.f(n)`, glue, []byte(`{}`), library)
	for n, refused := range map[int]bool{1024: false, 1025: true} {
		out, err := p.Run(t.Context(), prog, sandbox.Call{Function: "f", Args: fmt.Append(nil, n), Budget: time.Minute})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "too many timers") {
			t.Errorf("%d timers: %s, %v", n, out, err)
		}
	}
}

// TestResultBounds: a result and an error have a length.
func TestResultBounds(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1, Memory: 512 << 20, Resident: 1 << 30})
	out, err := run(t, p, `export const f = (n) => 'x'.repeat(n)`, "68000000")
	if kindOf(err) != sandbox.TooLarge {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	_, err = run(t, p, `export const f = (n) => { throw new Error('x'.repeat(n)) }`, "1000000")
	if kindOf(err) != sandbox.Thrown || len(err.Error()) > 5000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// TestAnswersOfADeadWorker has programs in the place of a worker. What they say is
// not believed, and the next call gets another worker.
func TestAnswersOfADeadWorker(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"it ends at once", `exit 3`, "the worker exited: exit code 3"},
		{"it ends while it is asked", `head -c 4 >/dev/null; exit 4`, "the worker exited: exit code 4"},
		{"it cuts its answer off", `head -c 4 >/dev/null; printf '\006\000\000\000R\001'; exit 5`, "the worker exited: exit code 5"},
		{"it says more than it may", `printf '\377\377\377\377R'; cat >/dev/null`, "protocol violation"},
		{"it says what is no message", `printf '\001\000\000\000?'; cat >/dev/null`, "protocol violation"},
		{"it answers twice in one", `printf '\013\000\000\000R\001\000\000\000x\001\000\000\000y'; cat >/dev/null`, "protocol violation"},
		{"it fails for a reason that there is not", `printf '\017\000\000\000F\005\000\000\000weird\001\000\000\000x'; cat >/dev/null`, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sandbox.NewPool(sandbox.Options{Command: []string{"/bin/sh", "-c", tt.script}, Workers: 1})
			defer p.Close()
			for range 2 {
				out, err := p.Run(t.Context(), program(`export const f = () => 1`), sandbox.Call{Function: "f", Args: []byte("0"), Budget: time.Minute})
				if kindOf(err) != sandbox.Broken || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %s %v; want %q", out, kindOf(err), err, tt.want)
				}
			}
		})
	}
}

// TestAWorkerThatWasKilledIsNotUsedAgain: a loop of the engine that it cannot
// interrupt ends with its process, and the next call has another.
func TestAWorkerThatWasKilledIsNotUsedAgain(t *testing.T) {
	p := pool(t, sandbox.Options{Workers: 1})
	stuck := program(`export const f = () => { const a = []; a[2 ** 32 - 2] = 1; return a.indexOf(5) }`)
	good := program(`export const f = () => 1`)
	for range 2 {
		if out, err := p.Run(t.Context(), good, sandbox.Call{Function: "f", Args: []byte("0"), Budget: time.Minute}); err != nil || string(out) != "1" {
			t.Fatalf("%s, %v", out, err)
		}
		before := sandbox.PIDs(p)
		if _, err := p.Run(t.Context(), stuck, sandbox.Call{Function: "f", Args: []byte("0"), Budget: 300 * time.Millisecond}); kindOf(err) != sandbox.Deadline {
			t.Fatal(err)
		}
		if after := sandbox.PIDs(p); len(before) != 1 || len(after) != 0 {
			t.Errorf("workers before %v, after %v", before, after)
		}
	}
}
