//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// A write above the limit of a file's size is an error like that of a full disk,
// and not the end of the process.
func outliveFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
