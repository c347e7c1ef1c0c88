//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package evidence

import (
	"errors"
	"fmt"
)

// lock fails: the system has no lock that ends with its process.
func lock(path string) (unlock func(), err error) {
	return nil, fmt.Errorf("lock %s: %w", path, errors.ErrUnsupported)
}
