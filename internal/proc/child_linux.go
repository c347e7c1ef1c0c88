package proc

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// prepare gives the child a process group of its own and a death signal that is
// tied to the starting thread.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// keepThread locks the goroutine to its thread until the returned func is
// called. The thread only waits for the child anyway.
func keepThread() (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// From <linux/wait.h>.
const (
	onePID    = 1          // P_PID
	untilExit = 0x4        // WEXITED
	noReap    = 0x01000000 // WNOWAIT
)

// reap waits for the child's exit, sweeps, and only then releases its pid,
// which is also the group's id: until then it cannot be reused.
func reap(cmd *exec.Cmd, sweep func()) {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, onePID, uintptr(cmd.Process.Pid), 0, untilExit|noReap, 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	sweep()
	_ = cmd.Wait() // the result is in cmd.ProcessState
}

// resident reads the second field of statm: resident pages.
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
