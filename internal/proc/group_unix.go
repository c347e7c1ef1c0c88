//go:build unix

package proc

import (
	"os"
	"syscall"
)

// group is the child's process group, whose id is the child's pid.
type group struct{ id int }

func newGroup(p *os.Process) group { return group{p.Pid} }

// Errors mean that no process is left.
func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (group) release()     {}

func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
