package flowmcp

import (
	"context"
	_ "embed"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

//go:embed glue.js
var glueScript string

// runner runs the handlers of a source's files.
type runner struct {
	pool    workers
	library func(name string) (sandbox.Library, bool)
	dbs     *databases // of the source

	mu       sync.Mutex
	programs map[*format.File]*sandbox.Program
}

// workers runs calls of programs: a [sandbox.Pool].
type workers interface {
	Run(ctx context.Context, p *sandbox.Program, c sandbox.Call) ([]byte, error)
}

func (r *runner) run(ctx context.Context, f *format.File, c sandbox.Call) ([]byte, error) {
	return r.pool.Run(ctx, r.program(f), c)
}

// program returns the sandbox program of a file, built on first use.
func (r *runner) program(f *format.File) *sandbox.Program {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.programs[f]; p != nil {
		return p
	}
	var libraries []sandbox.Library
	for _, name := range requiredLibraries(f) {
		if l, ok := r.library(name); ok {
			libraries = append(libraries, l)
		}
	}
	p := sandbox.NewProgram(string(f.Text), glueScript, factoryData(f), libraries...)
	r.programs[f] = p
	return p
}

// requiredLibraries returns the libraries that the file requires.
func requiredLibraries(f *format.File) []string { return f.Main.Get("requiredLibraries").Strings() }

// factoryData returns the data for the file's factory: its shared lists, the names of
// its libraries, the names of its databases with their queries, and whether
// strict mode is on.
func factoryData(f *format.File) []byte {
	dst := []byte(`{"lists":{`)
	first := true
	refs := make([]string, 0, len(f.Lists))
	for ref := range f.Lists {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		if f.Lists[ref] == nil {
			continue
		}
		for _, name := range slices.Compact([]string{ref, f.Lists[ref].List.Name}) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(rawjson.AppendString(dst, name), ':')
			dst = (&module.Node{Kind: module.Array, Items: f.Lists[ref].Entries}).AppendJSON(dst)
		}
	}
	dst = append(dst, `},"libraries":[`...)
	for i, name := range requiredLibraries(f) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	dst = appendStores(append(dst, `],"stores":`...), f)
	return append(strconv.AppendBool(append(dst, `,"letter":`...), f.Strict), '}')
}

// workerArgument is the argument that starts a program as a worker.
const workerArgument = "sandbox-worker"

// WorkerMain lets a program be the worker of its own handlers: call it first in
// main. In a process started as a worker it serves and exits; in any other it
// returns the command that starts a worker, for [Options].Worker.
func WorkerMain() []string {
	if len(os.Args) == 2 && os.Args[1] == workerArgument { //nolint:forbidigo // this function is the main of a worker
		if err := ServeWorker(os.Stdin, os.Stdout); err != nil { //nolint:forbidigo // the process is the worker's own
			_, _ = os.Stderr.WriteString(err.Error() + "\n") //nolint:forbidigo // as above
			os.Exit(1)                                       //nolint:forbidigo // as above
		}
		os.Exit(0) //nolint:forbidigo // as above
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, workerArgument}
}

// ServeWorker is the main function of a worker process: it runs handlers for
// its parent process until in ends. It drops privileges of the process, so
// nothing else may run in it.
func ServeWorker(in io.Reader, out io.Writer) error { return sandbox.Serve(in, out) }
