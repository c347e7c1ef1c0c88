//go:build !linux && !windows

package proc

// Processes returns the child's processes: itself, its group and what descends
// from it. ok is false where the system does not tell.
func (c *Child) Processes() (pids []int, ok bool) { return nil, false }
