package deadline

import (
	"sync"
	"time"
)

// Clock runs alarms. All alarms of a clock share one timer, which is set for the
// first of them and not stopped with it: nearly every alarm is stopped long
// before its time, and a timer per call would cost more than the rest of the
// deadline. The zero Clock works.
type Clock struct {
	mu    sync.Mutex
	set   *Alarm      // the one that was set last; nil: none
	timer *time.Timer // runs c; nil: not needed yet
	next  time.Time   // when timer fires; zero: it is not set
}

// Alarm calls a function at a time. The zero Alarm is not set.
type Alarm struct {
	// Ring is called at that time. It must not block, because other alarms
	// follow. It can still be called just after Off.
	Ring func()

	at           time.Time
	isSet        bool
	newer, older *Alarm // those that were set after it and before it
}

// On sets a, or moves it, to ring once at that time.
func (c *Clock) On(a *Alarm, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(a)
	a.at, a.isSet, a.older = at, true, c.set
	if c.set != nil {
		c.set.newer = a
	}
	c.set = a
	if c.next.IsZero() || at.Before(c.next) {
		c.wind(at)
	}
}

// Off keeps a from ringing.
func (c *Clock) Off(a *Alarm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(a)
}

func (c *Clock) remove(a *Alarm) {
	if !a.isSet {
		return
	}
	if a.newer != nil {
		a.newer.older = a.older
	} else {
		c.set = a.older
	}
	if a.older != nil {
		a.older.newer = a.newer
	}
	a.isSet, a.newer, a.older = false, nil, nil
}

// wind sets the timer.
func (c *Clock) wind(at time.Time) {
	c.next = at
	if c.timer == nil {
		c.timer = time.AfterFunc(time.Until(at), c.ring)
		return
	}
	c.timer.Reset(time.Until(at))
}

// ring runs the alarms that are due and sets the timer for the others. It visits
// all alarms, at most once per alarm for which the timer was set.
func (c *Clock) ring() {
	for _, a := range c.due() {
		a.Ring()
	}
}

func (c *Clock) due() (due []*Alarm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = time.Time{}
	now, first := time.Now(), time.Time{}
	for a := c.set; a != nil; {
		older := a.older
		switch {
		case !now.Before(a.at):
			c.remove(a)
			due = append(due, a)
		case first.IsZero() || a.at.Before(first):
			first = a.at
		}
		a = older
	}
	if !first.IsZero() {
		c.wind(first)
	}
	return due
}
