//go:build race

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// raced: the parent is slow, so that times and memory say nothing.
const raced = true

// workerPath is this program built without the race detector, which makes the
// engine, one large Go program, some twenty times slower, and has nothing to
// find in a process that works on one thing at a time.
func workerPath() string { return filepath.Join(plain(), "sandbox.test") }

var plain = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "sandbox-worker-")
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "test", "-c", "-o", filepath.Join(dir, "sandbox.test"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return dir
})

func forgetWorker() { _ = os.RemoveAll(plain()) }
