package tenontest

import (
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
)

// getsSeveral is for stores that can.
func getsSeveral(c *stateCheck) {
	many, ok := c.s.(tenon.Getter)
	if !ok {
		return
	}
	c.put("a", "1")
	c.put("empty", "")
	values, err := many.GetAll(c.ctx, []string{"a", "none", "empty", "a"})
	if err != nil || len(values) != 4 || string(values[0]) != "1" || values[1] != nil || values[2] == nil || len(values[2]) > 0 || string(values[3]) != "1" {
		c.Fatalf("GetAll: %q, %v", values, err)
	}
	if values, err := many.GetAll(c.ctx, nil); err != nil || len(values) > 0 {
		c.Fatalf("GetAll of nothing: %q, %v", values, err)
	}
}

// announces is for stores that can.
func announces(c *stateCheck) {
	all, ok := c.s.(tenon.Announcer)
	if !ok {
		return
	}
	var before atomic.Int64
	first, second := make(chan struct{}, 1), make(chan struct{}, 1)
	listen := func(heard chan struct{}, count *atomic.Int64) (stop func()) {
		stop, err := all.Listen(c.ctx, "topic", func() {
			count.Add(1)
			select {
			case heard <- struct{}{}:
			default:
			}
		})
		if err != nil {
			c.Fatalf("Listen: %v", err)
		}
		return stop
	}
	announce := func() {
		if err := all.Announce(c.ctx, "topic"); err != nil {
			c.Fatalf("Announce: %v", err)
		}
	}
	announce() // nobody listens yet
	stopFirst := listen(first, &before)
	announce()
	<-first
	stopSecond := listen(second, new(atomic.Int64))
	defer stopSecond()
	stopFirst()
	heard := before.Load()
	announce()
	<-second
	if n := before.Load(); n != heard {
		c.Errorf("heard was called after stop")
	}
}
