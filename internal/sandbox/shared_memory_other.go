//go:build !linux

package sandbox

import "os"

func newSharedMemory() *os.File { return nil }

func openSharedMemory() ([]byte, error) { return nil, errParent }
