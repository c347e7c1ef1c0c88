//go:build !linux && !windows

package proc

// Processes returns the child's processes: itself, its group and its
// descendants. ok is false where the system does not report them.
func (c *Child) Processes() (pids []int, ok bool) { return nil, false }
