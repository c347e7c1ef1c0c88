package sandbox_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

//go:embed testdata/streams.mjs
var streamCases string

//go:embed testdata/streams.golden
var streamGolden string

// TestStreams compares Node's events, streams and decoders with what Node made
// of the same cases.
func TestStreams(t *testing.T) {
	p := pool(t, sandbox.Options{})
	for line := range strings.Lines(streamGolden) {
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		t.Run(name, func(t *testing.T) {
			args, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := run(t, p, streamCases, string(args)); err != nil || got != want {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		})
	}
}

// TestLibraryModules has what a library may name of Node, and what fails only
// where it is used.
func TestLibraryModules(t *testing.T) {
	p := pool(t, sandbox.Options{})
	for _, c := range []struct{ name, library, want, err string }{
		{"timers", `({ require }) => { const { setImmediate } = require('timers'); return { f: () => new Promise((ok) => setImmediate(ok, 7)) } }`, "7", ""},
		{"the end of a line", `({ require }) => ({ f: () => require('node:os').EOL })`, `"\n"`, ""},
		{"a name with a slash", `({ require }) => ({ f: () => typeof require('events/').EventEmitter })`, `"function"`, ""},
		{"named and not used", `({ require }) => { const fs = require('fs'); const { Agent } = require('node:http'); class Mine extends Agent {} return { f: () => 1 } }`, "1", ""},
		{"used", `({ require }) => { const fs = require('fs'); return { f: () => fs.readFileSync('/etc/passwd') } }`, "", "the module fs is not here"},
		{"made", `({ require }) => { const { Agent } = require('http'); return { f: () => new Agent() } }`, "", "the module http is not here"},
		{"no module of Node", `({ require }) => { let found = true; try { require('bufferutil') } catch { found = false } return { f: () => found } }`, "false", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			prog := sandbox.NewProgram(`export const f = () => libraries.own.f()`, glue, []byte(`{}`), sandbox.Library{Name: "own", Source: c.library})
			out, err := p.Run(t.Context(), prog, sandbox.Call{Function: "f", Args: []byte("null"), Budget: time.Minute})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s, %v; want %q", out, err, c.err)
				}
				return
			}
			if err != nil || string(out) != c.want {
				t.Errorf("%s, %v; want %s", out, err, c.want)
			}
		})
	}
}
