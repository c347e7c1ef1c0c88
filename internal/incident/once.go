package incident

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Once makes a part of something when it is first needed. A panic on the way is
// kept, for a [sync.Once] alone would take what is half made for whole: a
// contract that is missing checks nothing.
type Once struct {
	sync  sync.Once
	panic error // nil: it was made
}

// Do makes the part, and says each time why it cannot be had.
func (o *Once) Do(build func()) error {
	o.sync.Do(func() {
		defer func() {
			if p := recover(); p != nil {
				o.panic = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		build()
	})
	return o.panic
}
