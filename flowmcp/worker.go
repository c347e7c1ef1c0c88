package flowmcp

import (
	"io"
	"os"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// workerWord is the one argument that makes a program a worker.
const workerWord = "sandbox-worker"

// WorkerMain lets a program be the worker of its own handlers: call it first in
// main. In a process that was started as a worker it serves and ends the
// process; in any other it returns the command that starts such a worker, for
// [Options].Worker.
func WorkerMain() []string {
	if len(os.Args) == 2 && os.Args[1] == workerWord { //nolint:forbidigo // this function is the main of a worker
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
	return []string{self, workerWord}
}

// ServeWorker is the inside of a worker process: it runs handlers for the
// process at the other ends of in and out until in ends. It gives up rights of
// the process, so the process must do nothing else.
func ServeWorker(in io.Reader, out io.Writer) error { return sandbox.Serve(in, out) }
