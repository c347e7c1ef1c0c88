package sandbox

import (
	"strings"
	"sync"
	"time"
)

// clock calls late when the time limit of a call expires. It is paused while
// the worker waits for host calls.
type clock struct {
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration
	since  time.Time
	paused bool
}

func newClock(limit time.Duration, late func()) *clock {
	return &clock{timer: time.AfterFunc(limit, late), left: limit, since: time.Now()}
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.paused = true
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		return
	}
	c.paused = false
	c.since = time.Now()
	c.timer.Reset(max(c.left, time.Millisecond))
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = true
	c.timer.Stop()
}

// isOutOfMemory reports whether a worker ended for lack of memory: by the parent's
// limit or in the Go runtime.
func isOutOfMemory(text string) bool {
	return strings.Contains(text, "of memory") || strings.Contains(text, "cannot allocate memory") || strings.Contains(text, "out of memory")
}
