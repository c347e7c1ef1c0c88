//go:build unix && !linux

package proc

import (
	"os/exec"
	"syscall"
)

func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func keepThread() (release func()) { return func() {} }

// reap waits for the child's exit and sweeps. Its pid was released a moment
// before; systems reuse pids only after all others.
func reap(cmd *exec.Cmd, sweep func()) {
	_ = cmd.Wait() // the result is in cmd.ProcessState
	sweep()
}

func resident(int) (int64, bool) { return 0, false }
