package incident

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Once initializes something when it is first needed. A panic is kept, because a
// [sync.Once] alone would count a partial initialization as done: a contract
// that is missing validates nothing.
type Once struct {
	sync  sync.Once
	panic error // nil: initialized
}

// Do runs f once, and returns its panic as an error each time.
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
