//go:build !linux

package sandbox

// confine has nothing to take here: the parent's watch is what holds.
func confine() error { return nil }
