package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logSink is where the log of a server goes. The zero value is for commands
// that end: lines of text among what they say on standard error.
type logSink struct {
	to       io.Writer
	format   string // text or json
	failures *failures
}

// serve makes standard error the log of a server: what is said there becomes
// records where the log is JSON, and of the same failure one is written a
// second. What is still held back is written by flush.
func (e *env) serve(format string) (flush func()) {
	e.log = logSink{to: e.err, format: format, failures: &failures{open: map[string]*failure{}}}
	if format == "json" {
		e.err = &recordLines{log: e.logger(slog.LevelInfo)}
	}
	return e.log.failures.flush
}

// logger returns a logger of records of this level and above.
func (e *env) logger(level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	switch {
	case e.log.to == nil:
		return slog.New(slog.NewTextHandler(e.err, o))
	case e.log.format == "json":
		return slog.New(&throttled{to: slog.NewJSONHandler(e.log.to, o), shared: e.log.failures})
	}
	return slog.New(&throttled{to: slog.NewTextHandler(e.log.to, o), shared: e.log.failures})
}

// throttled hands on what a logger is told, but of the same failure only one
// record a second, with the number of those that came since.
type throttled struct {
	to     slog.Handler
	with   string // what [slog.Logger.With] said, for telling failures apart
	shared *failures
}

// failures are those of the last second.
type failures struct {
	mu   sync.Mutex
	open map[string]*failure // by what makes them the same
}

type failure struct {
	to      slog.Handler
	last    slog.Record
	unsaid  int // since the last line
	ticking *time.Timer
}

const (
	failureWindow = time.Second
	maxFailures   = 1000 // told apart at a time; more are told without counting
)

// Enabled is that of [slog.Handler].
func (h *throttled) Enabled(ctx context.Context, level slog.Level) bool {
	return h.to.Enabled(ctx, level)
}

// WithAttrs is that of [slog.Handler].
func (h *throttled) WithAttrs(attrs []slog.Attr) slog.Handler {
	var with strings.Builder
	with.WriteString(h.with)
	for _, a := range attrs {
		with.WriteString(sameness(a))
	}
	return &throttled{to: h.to.WithAttrs(attrs), with: with.String(), shared: h.shared}
}

// WithGroup is that of [slog.Handler].
func (h *throttled) WithGroup(name string) slog.Handler {
	return &throttled{to: h.to.WithGroup(name), with: h.with + "\x00" + name, shared: h.shared}
}

// Handle is that of [slog.Handler].
func (h *throttled) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.to.Handle(ctx, r)
	}
	key := r.Level.String() + "\x00" + r.Message + h.with
	r.Attrs(func(a slog.Attr) bool {
		key += sameness(a)
		return true
	})
	if h.shared.hold(key, h.to, r) { //nolint:contextcheck // what is held back is written when its second is over
		return nil
	}
	return h.to.Handle(ctx, r)
}

// sameness is an attribute's part of what makes two failures the same: where
// and of which kind they are, not what their texts say.
func sameness(a slog.Attr) string {
	switch a.Key {
	case "tool", "source", "method", "code", "policy", "verdict", "host", "panic", "reason":
		return "\x00" + a.Key + "=" + a.Value.String()
	}
	return ""
}

// hold counts a failure and reports whether its line is to wait.
func (s *failures) hold(key string, to slog.Handler, r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[key]; f != nil {
		f.to, f.last = to, r.Clone()
		f.unsaid++
		return true
	}
	if len(s.open) < maxFailures {
		f := &failure{}
		f.ticking = time.AfterFunc(failureWindow, func() { s.tick(key, f) })
		s.open[key] = f
	}
	return false
}

// tick says what came in the second that is over.
func (s *failures) tick(key string, f *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] != f {
		return
	}
	if f.unsaid == 0 {
		delete(s.open, key)
		return
	}
	f.say()
	f.ticking.Reset(failureWindow)
}

// say writes the last record of those that were held back, with their number.
func (f *failure) say() {
	f.last.AddAttrs(slog.Int("more", f.unsaid))
	_ = f.to.Handle(context.Background(), f.last) // nobody is left to tell
	f.unsaid = 0
}

// flush says what is held back.
func (s *failures) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, f := range s.open {
		f.ticking.Stop()
		if f.unsaid > 0 {
			f.say()
		}
		delete(s.open, key)
	}
}

// recordLines makes a record of each line that is written to it, so that all
// that a server says is of the same form.
type recordLines struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte // of a line that has not ended
}

// Write is that of [io.Writer].
func (l *recordLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		text, warns := strings.CutPrefix(strings.TrimPrefix(string(line), "tenon: "), "warning: ")
		level := slog.LevelInfo
		if warns {
			level = slog.LevelWarn
		}
		l.log.Log(context.Background(), level, strings.TrimSpace(text))
		l.rest = rest
	}
}
