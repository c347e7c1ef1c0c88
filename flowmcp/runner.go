package flowmcp

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

//go:embed glue.js
var glueScript string

// runner runs the handlers of a source's files.
type runner struct {
	pool    workers
	library func(name string) (sandbox.Library, bool)
	dbs     *databases // of the files

	mu       sync.Mutex
	programs map[*file]*sandbox.Program
}

// workers run calls of programs: a [sandbox.Pool].
type workers interface {
	Run(ctx context.Context, p *sandbox.Program, c sandbox.Call) ([]byte, error)
}

func (r *runner) run(ctx context.Context, f *file, c sandbox.Call) ([]byte, error) {
	return r.pool.Run(ctx, r.program(f), c)
}

// program is a file as its realm takes it, put together when it is first
// needed.
func (r *runner) program(f *file) *sandbox.Program {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.programs[f]; p != nil {
		return p
	}
	var libraries []sandbox.Library
	for _, name := range f.wanted() {
		if l, ok := r.library(name); ok {
			libraries = append(libraries, l)
		}
	}
	p := sandbox.NewProgram(string(f.text), glueScript, f.given(), libraries...)
	r.programs[f] = p
	return p
}

// wanted are the libraries that the file requires.
func (f *file) wanted() []string { return f.main.get("requiredLibraries").strs() }

// given is the data that the file's factory gets, its shared lists and the
// names of its libraries, the names of its databases and their queries, and
// whether its handlers must keep the letter of the page.
func (f *file) given() []byte {
	dst := []byte(`{"lists":{`)
	first := true
	refs := make([]string, 0, len(f.lists))
	for ref := range f.lists {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		if f.lists[ref] == nil {
			continue
		}
		for _, name := range slices.Compact([]string{ref, f.lists[ref].list.name}) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(rawjson.AppendString(dst, name), ':')
			dst = (&node{kind: arrayKind, items: f.lists[ref].entries}).appendJSON(dst)
		}
	}
	dst = append(dst, `},"libraries":[`...)
	for i, name := range f.wanted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	dst = f.stores(append(dst, `],"stores":`...))
	return append(strconv.AppendBool(append(dst, `,"letter":`...), f.letter), '}')
}
