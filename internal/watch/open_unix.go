//go:build unix

package watch

import "syscall"

// nonblocking opens a named pipe without waiting for its writer.
const nonblocking = syscall.O_NONBLOCK
