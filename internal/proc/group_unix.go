//go:build unix

package proc

import (
	"os"
	"syscall"
)

// group is the child's process group, which has the child's number.
type group struct{ id int }

func newGroup(p *os.Process) group { return group{p.Pid} }

// The errors say that nobody is left, which is what was asked for.
func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (group) release()     {}

func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
