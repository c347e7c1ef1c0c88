// Package watch tells when files are not what they were when they were read.
//
// It does not know what the files are for, nor the web: it compares what they
// hold with what somebody says that they held.
//
// It stands beside the path of a description: a source hands it the files of
// its last load and loads again when it is told to. It is the one room that
// knows how operating systems announce changes.
package watch

import (
	"context"
	"maps"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Held is what files held when they were read, by path. The zero Sum stands
// for a file that could not be read.
type Held map[string]Sum

// Files is a set of files that belong together.
type Files struct {
	// Held is what the last good reading found.
	Held func() Held
	// Paths lists the files that would be read now, and the folders in which
	// others may appear. nil: the files of Held.
	Paths func() []string
	Every time.Duration // between looks when nothing is announced; 0: 5 s
	Quiet time.Duration // in which nothing may change any more before a change is told; 0: 100 ms
}

// maxRestless bounds the looks at files that never come to rest.
const maxRestless = 100

// Watch calls changed, one call at a time, whenever the files came to hold
// something else than Held says, once for each state that they rest in. It
// returns nil when ctx ends.
//
// Changes are announced by the operating system where it can do that. A look
// now and then finds those that are not, as on drives in a network.
func (f Files) Watch(ctx context.Context, changed func()) error {
	if f.Every == 0 {
		f.Every = 5 * time.Second
	}
	if f.Quiet == 0 {
		f.Quiet = 100 * time.Millisecond
	}
	l := &looker{known: map[string]look{}, folders: map[string]bool{}}
	if n, err := fsnotify.NewWatcher(); err == nil { // else there are the looks
		defer func() { _ = n.Close() }()
		l.announcer = n
	}
	tick := time.NewTicker(f.Every)
	defer tick.Stop()
	var told Held
	for {
		held, now := f.look(l)
		if !maps.Equal(now, held) && !maps.Equal(now, told) {
			if held, now = f.rest(ctx, l, now); ctx.Err() != nil {
				return nil
			}
		}
		if maps.Equal(now, held) {
			told = nil
		} else if !maps.Equal(now, told) {
			told = now
			changed()
		}
		if !l.wait(ctx, tick.C) || !pause(ctx, f.Quiet) {
			return nil
		}
	}
}

// look returns what the files held and what they hold.
func (f Files) look(l *looker) (held, now Held) {
	held = f.Held()
	if f.Paths == nil {
		return held, l.look(maps.Keys(held))
	}
	return held, l.look(func(yield func(string) bool) {
		for _, p := range f.Paths() {
			if !yield(p) {
				return
			}
		}
	})
}

// rest waits until two looks in a row find the same: who writes a file may do
// it in several steps.
func (f Files) rest(ctx context.Context, l *looker, before Held) (held, now Held) {
	for range maxRestless {
		if !pause(ctx, f.Quiet) {
			return nil, nil
		}
		if held, now = f.look(l); maps.Equal(now, before) {
			break
		}
		before = now
	}
	return held, now
}

// wait returns when something may have changed; false: ctx has ended.
func (l *looker) wait(ctx context.Context, tick <-chan time.Time) bool {
	var events chan fsnotify.Event
	var errs chan error
	if l.announcer != nil {
		events, errs = l.announcer.Events, l.announcer.Errors
	}
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		clear(l.folders) // one that was deleted and made anew is another one
	case <-errs: //nolint:errcheck // announcements were lost: look
	case <-events:
	}
	for { // those that were announced together are one
		select {
		case <-events:
		default:
			return true
		}
	}
}

// follow asks for announcements about the folder that a path lies in.
func (l *looker) follow(folder string) {
	if l.announcer == nil || l.folders[folder] {
		return
	}
	l.folders[folder] = l.announcer.Add(folder) == nil
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
