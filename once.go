package tenon

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// once makes a part of an entry when it is first needed. A panic on the way is
// kept, for a [sync.Once] alone would take what is half made for whole: a
// contract that is missing checks nothing.
type once struct {
	sync  sync.Once
	panic error // nil: it was made
}

// do makes the part, and says each time why it cannot be had.
func (o *once) do(build func()) error {
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
