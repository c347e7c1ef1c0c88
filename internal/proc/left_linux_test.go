package proc_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/internal/proc"
)

// descriptors counts the open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func TestAChildDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = []string{actAs + "=parent"}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Release() }() // else its descriptor is closed whenever the collector comes
	if err := child.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the child does not live: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for range 1000 { // the system kills it when it comes to it
		if gone(pid) {
			return
		}
		runtime.Gosched()
		_ = exec.Command("true").Run()
	}
	t.Errorf("child %d outlives its parent", pid)
}

// gone reports whether a process has ended; zombies have.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestMemoryHasALimit(t *testing.T) {
	child := start(t, "greedy", proc.Command{MaxResident: 64 << 20})
	<-child.Done()
	if got := child.Exit().String(); !strings.HasPrefix(got, "killed: it used ") || !strings.HasSuffix(got, " MiB of memory, 64 MiB are allowed") {
		t.Error(got)
	}
}

func TestResident(t *testing.T) {
	child := start(t, "hang", proc.Command{Pipes: true})
	firstLine(t, child)
	if got, ok := child.Resident(); !ok || got < 1<<20 || got > 1<<30 {
		t.Errorf("got %d, %t", got, ok)
	}
}

// TestNothingIsLeft: a hundred children that end in every way leave no
// goroutine, descriptor or process.
func TestNothingIsLeft(t *testing.T) {
	start(t, "hang", proc.Command{Pipes: true}).Close() // what is opened once for all
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	var pids sync.Map
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			act := []string{"hang", "fail", "grandchild", "orphan", "echo"}[i%5]
			child := start(t, act, proc.Command{Pipes: i%2 == 0, MaxResident: 1 << 40, Line: func(bool, string) {}})
			pids.Store(child.PID(), true)
			switch i % 3 {
			case 0:
				child.Stop(0)
			case 1:
				child.Terminate()
			}
			child.Close()
		})
	}
	all.Wait()
	pids.Range(func(pid, _ any) bool {
		if n, _ := pid.(int); !gone(n) {
			t.Errorf("process %d is left", n)
		}
		return true
	})
	if n := descriptors(t); n > files {
		t.Errorf("%d descriptors before, %d after", files, n)
	}
	for range 1000 { // the last act of a goroutine comes after what it said
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		runtime.Gosched()
		_ = exec.Command("true").Run()
	}
	t.Errorf("%d goroutines before, %d after", goroutines, runtime.NumGoroutine())
}

// TestWhatLeavesTheGroup ends with the child that has a mark.
func TestWhatLeavesTheGroup(t *testing.T) {
	mark := "PROC_TEST_MARK=" + t.TempDir()
	child := start(t, "daemon", proc.Command{Pipes: true, Env: []string{mark}, Mark: mark})
	pid := 0
	for from := bufio.NewReader(child.Stdout); pid == 0; { // the daemon writes a line as well, before its number or behind it
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, _ = strconv.Atoi(strings.TrimSpace(line))
	}
	child.Close()
	for range 1000 { // the system kills it when it comes to it
		if gone(pid) {
			return
		}
		_ = exec.Command("true").Run()
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d is left", pid)
}
