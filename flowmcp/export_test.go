package flowmcp

import (
	"context"
	"errors"
	"net/url"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// MainJSON evaluates the export main of a schema file for the tests.
func MainJSON(text []byte) ([]byte, []format.Finding) {
	f := format.ReadSchema("Test.mjs", text, format.Rules{Lists: format.NewListFolder("", false)})
	if !f.Main.Valid() {
		return nil, f.Findings
	}
	return f.Main.AppendJSON(nil), f.Findings
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
	ask := c.HostCall
	c.HostCall = func(ctx context.Context, name string, args []byte) (sandbox.HostResult, error) {
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
	all, err := format.ReadFiles(ctx, s.spec, *o.reading(), false)
	if err != nil {
		return 0, 0, nil, nil, err
	}
	b := builder{options: &o}
	if b.library, err = format.OpenLibraries(o.LibraryDir); err != nil {
		return 0, 0, nil, nil, err
	}
	tap.pool = s.workers(o)
	b.runner = &runner{pool: tap, library: b.library.Get, dbs: s.databases(), programs: map[*format.File]*sandbox.Program{}}
	for _, f := range all {
		if f.Text == nil {
			continue
		}
		files++
		if _, err := tap.pool.Run(ctx, b.runner.program(f), sandbox.Call{Function: "stages", Args: []byte(`{"tool":"x"}`)}); err != nil {
			wrong = append(wrong, f.Path+": "+err.Error())
			continue
		}
		factories++
		for _, t := range f.Tools {
			if !t.Handled || b.toolNeeds(f, t.Name, true, t.Broken) != nil {
				continue
			}
			handler := tool{Tool: t}.tool("x", &o, b.runner).Handler
			for i, test := range format.ToolsOf(f.Main).Get(t.Name).Get("tests").List() {
				args := &module.Node{Kind: module.Object}
				test.Members(func(key string, value *module.Node) {
					if key != "_description" {
						args.Keys, args.Items = append(args.Keys, key), append(args.Items, value)
					}
				})
				home := func(u *url.URL) bool { return f.IsRootOrigin(u, "", "no marker") }
				cases = append(cases, Case{f.Path, t.ID(), t.Name, i, args.AppendJSON(nil), handler, home})
			}
		}
	}
	return files, factories, wrong, cases, nil
}

// RunAnyway runs postRequest of the tool a, whatever the rules say about the
// file.
func RunAnyway(ctx context.Context, text string, worker []string) ([]byte, error) {
	f := format.ReadSchema("Test.mjs", []byte(text), format.Rules{Lists: format.NewListFolder("", false)})
	pool := sandbox.NewPool(sandbox.Options{Command: worker})
	defer pool.Close()
	r := &runner{pool: pool, library: func(string) (sandbox.Library, bool) { return sandbox.Library{}, false }, programs: map[*format.File]*sandbox.Program{}}
	ask := func(context.Context, string, []byte) (sandbox.HostResult, error) {
		return sandbox.HostResult{}, errors.New("SEC100")
	}
	return r.run(ctx, f, sandbox.Call{Function: "postRequest", Args: []byte(`{"tool":"a","struct":{},"payload":{},"response":1}`), HostCall: ask})
}
