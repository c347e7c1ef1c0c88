package host

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Limits of the log of a worker, so that it cannot fill the disk. The rest is
// counted.
const (
	saidWindow = 10 * time.Second
	saidLines  = 2000      // per window
	saidBytes  = 512 << 10 // per window
)

// saidLog writes the output of a worker and its functions to the log. It is
// safe for concurrent use.
type saidLog struct {
	log   *slog.Logger
	mixed bool // only lines of stderr that contain error or fail are errors

	mu           sync.Mutex
	began        time.Time // start of the window
	lines, bytes int       // logged in the window
	unsaid       int       // dropped lines that are not reported yet
	counting     bool      // a timer will report them
}

func newSaidLog(a *App, o Options) *saidLog {
	return &saidLog{log: o.Logger.With("app", a.Dir), mixed: a.Host.StderrMixed}
}

// line logs a line of the worker at the level that Azure's host uses.
func (l *saidLog) line(failing bool, line string) {
	lower := strings.ToLower(line)
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(lower, w) {
				return true
			}
		}
		return false
	}
	level := slog.LevelInfo
	switch {
	case !failing:
	case says("warn"):
		level = slog.LevelWarn
	case !l.mixed || says("error", "fail", "severe"):
		level = slog.LevelError
	}
	l.say(level, line)
}

// say logs a line, unless the window is full.
func (l *saidLog) say(level slog.Level, line string, more ...any) {
	ctx := context.Background()
	if l.log.Enabled(ctx, level) && l.take(len(line)) {
		l.log.Log(ctx, level, line, more...)
	}
}

// take reports whether a line of n bytes is logged. Dropped lines are counted
// at the end of the window.
func (l *saidLog) take(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.began) >= saidWindow {
		l.began, l.lines, l.bytes = now, 0, 0
	}
	if l.lines++; l.lines <= saidLines && l.bytes+n <= saidBytes {
		l.bytes += n
		return true
	}
	l.unsaid++
	if !l.counting {
		l.counting = true
		time.AfterFunc(l.began.Add(saidWindow).Sub(now), l.count)
	}
	return false
}

// count logs how many lines were dropped.
func (l *saidLog) count() {
	l.mu.Lock()
	n := l.unsaid
	l.unsaid, l.counting = 0, false
	l.mu.Unlock()
	if n > 0 {
		l.log.Warn("the worker says more than is logged", "lines", n)
	}
}
