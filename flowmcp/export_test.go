package flowmcp

import (
	"context"
	"errors"
	"net/url"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// MainJSON evaluates the export main of a schema file for the tests.
func MainJSON(text []byte) ([]byte, []Finding) {
	f := readSchema("Test.mjs", text, rules{shelf: newShelf("", false)})
	if !f.main.valid() {
		return nil, f.findings
	}
	return f.main.appendJSON(nil), f.findings
}

// Tap sees every byte that goes into the workers and comes out of them.
type Tap struct {
	pool *sandbox.Pool
	In   func(stage string, b []byte)
	Out  func(stage string, b []byte)
}

// Run runs a call.
func (t *Tap) Run(ctx context.Context, p *sandbox.Program, c sandbox.Call) ([]byte, error) {
	t.In(c.Function, c.Args)
	ask := c.Ask
	c.Ask = func(ctx context.Context, name string, args []byte) (sandbox.Answer, error) {
		t.Out(c.Function, args)
		a, err := ask(ctx, name, args)
		t.In(c.Function, append(append([]byte{}, a.Value...), a.Text...))
		return a, err
	}
	out, err := t.pool.Run(ctx, p, c)
	t.Out(c.Function, out)
	if err != nil {
		t.Out(c.Function, []byte(err.Error()))
	}
	return out, err
}

// Case is one test case of a tool with handlers.
type Case struct {
	File, ID, Tool string
	Test           int
	Args           []byte
	Handler        tenon.Handler
	Home           func(u *url.URL) bool
}

// Library opens every file with handlers: how many there are and how many of
// their factories initialise, what was wrong, and the test cases of the tools
// that can run.
func Library(ctx context.Context, s *Source, tap *Tap) (files, factories int, wrong []string, cases []Case, err error) {
	o, err := s.options.defaults()
	if err != nil {
		return 0, 0, nil, nil, err
	}
	all, err := readFiles(ctx, s.spec, o, false)
	if err != nil {
		return 0, 0, nil, nil, err
	}
	b := offerer{options: &o}
	if b.library, err = openLibraries(o.LibraryDir); err != nil {
		return 0, 0, nil, nil, err
	}
	tap.pool = s.workers(o)
	b.runner = &runner{pool: tap, library: b.library.get, dbs: s.databases(), programs: map[*file]*sandbox.Program{}}
	for _, f := range all {
		if f.text == nil {
			continue
		}
		files++
		if _, err := tap.pool.Run(ctx, b.runner.program(f), sandbox.Call{Function: "stages", Args: []byte(`{"tool":"x"}`)}); err != nil {
			wrong = append(wrong, f.path+": "+err.Error())
			continue
		}
		factories++
		for _, t := range f.routes {
			if !t.handled || b.needs(f, t.name, true, t.broken) != nil {
				continue
			}
			handler := t.tool("x", &o, b.runner).Handler
			for i, test := range toolsOf(f.main).get(t.name).get("tests").list() {
				args := &node{kind: objectKind}
				test.members(func(key string, value *node) {
					if key != "_description" {
						args.keys, args.items = append(args.keys, key), append(args.items, value)
					}
				})
				home := func(u *url.URL) bool { return f.isHome(u, "", "no marker") }
				cases = append(cases, Case{f.path, t.id(), t.name, i, args.appendJSON(nil), handler, home})
			}
		}
	}
	return files, factories, wrong, cases, nil
}

// HostsIn are the patterns of the hosts that a text names.
func HostsIn(text string) []string { return hostsIn(text) }

// RunAnyway runs postRequest of the tool a, whatever the rules say about the
// file.
func RunAnyway(ctx context.Context, text string, worker []string) ([]byte, error) {
	f := readSchema("Test.mjs", []byte(text), rules{shelf: newShelf("", false)})
	pool := sandbox.NewPool(sandbox.Options{Command: worker})
	defer pool.Close()
	r := &runner{pool: pool, library: func(string) (sandbox.Library, bool) { return sandbox.Library{}, false }, programs: map[*file]*sandbox.Program{}}
	ask := func(context.Context, string, []byte) (sandbox.Answer, error) {
		return sandbox.Answer{}, errors.New("SEC100")
	}
	return r.run(ctx, f, sandbox.Call{Function: "postRequest", Args: []byte(`{"tool":"a","struct":{},"payload":{},"response":1}`), Ask: ask})
}
