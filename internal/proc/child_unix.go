//go:build unix && !linux

package proc

import (
	"os/exec"
	"syscall"
)

func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func keepThread() (release func()) { return func() {} }

// reap waits for the child's end and sweeps. Its number was let go a moment
// before; systems take numbers again only after all others.
func reap(cmd *exec.Cmd, sweep func()) {
	_ = cmd.Wait() // how it ended stands in cmd.ProcessState
	sweep()
}

func resident(int) (int64, bool) { return 0, false }
