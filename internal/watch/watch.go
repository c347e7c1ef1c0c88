// Package watch reports when files have changed since they were read.
//
// It does not know what the files are for, nor remote files: it compares
// current contents with given sums.
//
// It is beside the path of a description: a source passes the files of its last
// load and loads again after a change. Only this package knows the file
// notifications of operating systems.
package watch

import (
	"context"
	"maps"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Sums is the sums of files by path, when they were read. The zero Sum stands
// for a file that could not be read.
type Sums map[string]Sum

// Files is a set of files that belong together.
type Files struct {
	// Recorded returns the sums of the last successful read.
	Recorded func() Sums
	// Paths lists the files that would be read now, and the folders in which
	// new ones may appear. nil: the files of Held.
	Paths    func() []string
	Interval time.Duration // interval of checks without a notification; 0: 5 s
	Settle   time.Duration // time without changes before a change is reported; 0: 100 ms
}

// maxUnstable bounds the checks of files that keep changing.
const maxUnstable = 100

// Watch calls changed, one call at a time, whenever the files differ from Held,
// once for each stable state. It returns nil when ctx ends.
//
// It uses notifications of the operating system where available. Regular checks
// find changes without a notification, as on network drives.
func (f Files) Watch(ctx context.Context, changed func()) error {
	if f.Interval == 0 {
		f.Interval = 5 * time.Second
	}
	if f.Settle == 0 {
		f.Settle = 100 * time.Millisecond
	}
	l := &scanner{known: map[string]fileState{}, folders: map[string]bool{}}
	if n, err := fsnotify.NewWatcher(); err == nil { // otherwise only regular checks
		defer func() { _ = n.Close() }()
		l.notifier = n
	}
	tick := time.NewTicker(f.Interval)
	defer tick.Stop()
	var told Sums
	for {
		held, now := f.current(l)
		if !maps.Equal(now, held) && !maps.Equal(now, told) {
			if held, now = f.waitStable(ctx, l, now); ctx.Err() != nil {
				return nil
			}
		}
		if maps.Equal(now, held) {
			told = nil
		} else if !maps.Equal(now, told) {
			told = now
			changed()
		}
		if !l.wait(ctx, tick.C) || !pause(ctx, f.Settle) {
			return nil
		}
	}
}

// current returns the recorded and the current sums.
func (f Files) current(l *scanner) (held, now Sums) {
	held = f.Recorded()
	if f.Paths == nil {
		return held, l.scan(maps.Keys(held))
	}
	return held, l.scan(func(yield func(string) bool) {
		for _, p := range f.Paths() {
			if !yield(p) {
				return
			}
		}
	})
}

// waitStable waits until two checks in a row are equal: a file may be written in
// several steps.
func (f Files) waitStable(ctx context.Context, l *scanner, before Sums) (held, now Sums) {
	for range maxUnstable {
		if !pause(ctx, f.Settle) {
			return nil, nil
		}
		if held, now = f.current(l); maps.Equal(now, before) {
			break
		}
		before = now
	}
	return held, now
}

// wait returns when something may have changed; false: ctx has ended.
func (l *scanner) wait(ctx context.Context, tick <-chan time.Time) bool {
	var events chan fsnotify.Event
	var errs chan error
	if l.notifier != nil {
		events, errs = l.notifier.Events, l.notifier.Errors
	}
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		clear(l.folders) // a folder may have been deleted and created again
	case <-errs: //nolint:errcheck // notifications were lost: check
	case <-events:
	}
	for { // combines concurrent notifications
		select {
		case <-events:
		default:
			return true
		}
	}
}

// follow subscribes to notifications about a folder.
func (l *scanner) follow(folder string) {
	if l.notifier == nil || l.folders[folder] {
		return
	}
	l.folders[folder] = l.notifier.Add(folder) == nil
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
