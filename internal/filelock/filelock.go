// Package filelock opens files that several processes write, for one of them at a time.
//
// It does not know what is in them. Packages that keep something in a file which
// processes share write it through here.
package filelock

import (
	"errors"
	"os"
	"time"
)

const (
	attempts = 200
	pause    = 10 * time.Millisecond
)

// errLocked says that another process has the file.
var errLocked = errors.New("another process has locked it for too long")

// Open opens a file to read and write, which is made if need be, and waits for at most two
// seconds while another process has it. It is this process's until it is closed, or until
// the process ends, however that happens.
func Open(path string) (*os.File, error) {
	for attempt := 0; ; attempt++ {
		f, err := open(path)
		if err == nil || !errors.Is(err, errLocked) || attempt == attempts {
			return f, err
		}
		<-time.After(pause)
	}
}
