package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestAWorkerHasNothing looks at a worker from outside: its environment, its
// descriptors, its limits and its rights.
func TestAWorkerHasNothing(t *testing.T) {
	t.Setenv("SANDBOX_TEST_SECRET", "ours")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Open(secret, syscall.O_RDONLY, 0) // children have it, too, as what a shell or a service manager left open
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	p := pool(t, sandbox.Options{Workers: 1})
	if _, err := run(t, p, `export const f = () => 1`, "1"); err != nil {
		t.Fatal(err)
	}
	pids := sandbox.PIDs(p)
	if len(pids) != 1 {
		t.Fatal(pids)
	}
	proc := func(name string) string { return fmt.Sprintf("/proc/%d/%s", pids[0], name) }
	read := func(name string) string {
		text, err := os.ReadFile(proc(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := strings.Trim(read("environ"), "\x00"); got != "GOMAXPROCS=2\x00GOGC=50" {
		t.Errorf("its environment is %q", got)
	}
	if raced && !strings.Contains(read("status"), "NoNewPrivs:\t1\n") { // then the worker is built without cgo, as releases are
		t.Error("it can get new privileges")
	}
	limits := strings.Join(strings.Fields(read("limits")), " ")
	for _, want := range []string{"Max data size 1073741824 1073741824", "Max open files 32 32", "Max core file size 0 0", "Max file size 0 0"} {
		if !strings.Contains(limits, want) {
			t.Errorf("its limits lack %q: %s", want, limits)
		}
	}
	all, err := os.ReadDir(proc("fd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		to, err := os.Readlink(filepath.Join(proc("fd"), fd.Name()))
		if err != nil || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "/sys/fs/cgroup/") {
			continue // Go's poller, the pipes, and the limits of processors that Go reads
		}
		t.Errorf("descriptor %s is %s", fd.Name(), to)
	}
}
