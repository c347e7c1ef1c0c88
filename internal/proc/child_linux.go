package proc

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// prepare puts the child into a group of its own and lets it die with the
// thread that starts it.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// keepThread ties the goroutine to its thread until the returned func is
// called. A thread that waits for a child does nothing else anyway.
func keepThread() (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// From <linux/wait.h>.
const (
	onePID    = 1          // P_PID
	untilExit = 0x4        // WEXITED
	leaveIt   = 0x01000000 // WNOWAIT
)

// reap waits for the child's end, sweeps, and only then lets its number go,
// which is the group's too: until then it cannot belong to another.
func reap(cmd *exec.Cmd, sweep func()) {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, onePID, uintptr(cmd.Process.Pid), 0, untilExit|leaveIt, 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	sweep()
	_ = cmd.Wait() // how it ended stands in cmd.ProcessState
}

// resident reads the second number of statm: pages in memory.
func resident(pid int) (int64, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
