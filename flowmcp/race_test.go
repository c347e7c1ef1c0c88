//go:build race

package flowmcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// worker starts a worker that is built without the race detector, which makes
// the engine some twenty times slower and has nothing to find in a process
// that works on one thing at a time.
func worker() []string { return []string{filepath.Join(plainTenon(), "tenon"), "sandbox-worker"} }

// plainTenon is the folder of a tenon built for these tests.
var plainTenon = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "tenon-worker-")
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", dir, "github.com/tenon-mcp/tenon/cmd/tenon")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return dir
})

func forgetWorker() { _ = os.RemoveAll(plainTenon()) }
