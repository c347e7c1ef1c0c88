package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// Options are the options of Open.
type Options struct {
	Path     string // of the file, which is made with mode 0600, or of a pipe
	MaxBytes int64  // of a file; a longer one is renamed and a new one begun. 0: 100 MiB, negative: no limit
	Keep     int    // renamed files that stay; 0: 10, negative: all
	Sync     Sync   // when lines are on the disk for certain; empty: SyncSecond

	// Writer takes the lines in place of a file, for example standard output.
	Writer io.Writer

	// Required refuses calls while lines cannot be written; see [Log.Admit].
	Required bool

	// Key keys the digests of arguments. nil: a random one, so that digests can
	// be compared within one process only.
	Key []byte

	// Clear has the JSON Pointers of arguments that are written in clear, by the
	// name of a tool; those at "" are for all tools.
	Clear map[string][]string

	// Trace returns the ids of the trace and the span that a call is part of, in
	// hexadecimal digits; empty: none. nil: lines have none.
	Trace func(context.Context) (traceID, spanID string)

	Logger *slog.Logger // told once when lines cannot be written and when they can again; nil: nobody
}

// Sync says when lines are on the disk for certain.
type Sync string

// The values of Sync.
const (
	SyncOff    Sync = "off"    // when the system writes them
	SyncSecond Sync = "second" // after at most a second
	SyncCall   Sync = "call"   // before the caller has the result
)

// ParseSync parses the value of a flag or config key.
func ParseSync(s string) (Sync, error) {
	switch y := Sync(s); y {
	case SyncOff, SyncSecond, SyncCall:
		return y, nil
	}
	return "", fmt.Errorf("sync %q is none of off, second, call", s)
}

// maxPending is how many bytes of lines wait in memory while they cannot be
// written.
const maxPending = 1 << 20

// Log is an audit log: a [gateway.Observer].
type Log struct {
	required bool
	key      []byte
	clear    map[string][]string
	trace    func(context.Context) (traceID, spanID string)
	log      *slog.Logger
	dropped  atomic.Int64 // lines, in all

	mu      sync.Mutex
	out     output
	pending []byte // whole lines that are not written yet
	lost    int    // lines that did not fit into pending
	failed  error  // of the last write
	line    []byte // reused

	refusals refusals
}

// output is where lines go, one at a time. What arrived of a line that failed is
// ended by a newline before the next, so that readers lose nothing else.
type output interface {
	write(line []byte) error
	reopen() error
	close() error
}

// Open opens the log. The file must be writable.
func Open(o Options) (*Log, error) {
	l := &Log{required: o.Required, key: o.Key, clear: o.Clear, trace: o.Trace, log: o.Logger}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.key == nil {
		l.key = []byte(rand.Text())
	}
	if o.Writer != nil {
		l.out = &stream{w: o.Writer}
		return l, nil
	}
	f := &file{path: o.Path, max: cmp.Or(o.MaxBytes, 100<<20), keep: cmp.Or(o.Keep, 10), sync: cmp.Or(o.Sync, SyncSecond)}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	l.out = f
	return l, nil
}

// ObserveCall writes the line of a call. It implements [gateway.Observer].
func (l *Log) ObserveCall(ctx context.Context, r *gateway.CallRecord) {
	traceID, spanID := "", ""
	if l.trace != nil {
		traceID, spanID = l.trace(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = l.appendLine(l.line[:0], r, traceID, spanID)
	l.put()
}

// put writes l.line, or keeps it for later. l.mu is held.
func (l *Log) put() {
	if l.failed == nil {
		if l.failed = l.out.write(l.line); l.failed == nil {
			return
		}
		l.log.Error("the audit log cannot be written", "error", l.failed, "calls", map[bool]string{false: "go on", true: "are refused"}[l.required])
	}
	if len(l.pending)+len(l.line) > maxPending {
		l.lost++
		l.dropped.Add(1)
		return
	}
	l.pending = append(l.pending, l.line...)
	l.flush()
}

// Lost is how many lines were lost in all: they did not fit into what waits.
func (l *Log) Lost() int64 { return l.dropped.Load() }

// flush writes what could not be written before, as far as that goes. The error
// is in failed.
func (l *Log) flush() {
	for line := range bytes.Lines(l.pending) {
		if l.failed = l.out.write(line); l.failed != nil {
			return
		}
		l.pending = l.pending[len(line):]
	}
	l.log.Warn("the audit log is written again", "lost_lines", l.lost)
	l.pending, l.lost, l.failed = nil, 0, nil
}

// Admit refuses a call if the log is required and cannot be written now.
// Nothing was executed then. It implements [gateway.Admission].
func (l *Log) Admit(_ context.Context, a gateway.Attempt) (leave func(), err error) {
	if a.Call == nil { // it has no line
		return nil, nil
	}
	return nil, l.admit()
}

func (l *Log) admit() error {
	if !l.required {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		l.flush()
	}
	if l.failed != nil {
		return &tenon.Error{Code: tenon.CodeInternal, Message: "The operator requires an audit log, which cannot be written now. Nothing was sent.", Err: l.failed}
	}
	return nil
}

// Reopen opens the file by its name again, after another program renamed it.
func (l *Log) Reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.reopen()
}

// Close writes what is left and closes the file. It is an error if lines are
// lost.
func (l *Log) Close() error {
	l.refusals.close(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		l.flush()
	}
	err := l.failed
	if err != nil {
		err = fmt.Errorf("lines of the audit log are lost: %w", err)
	}
	l.failed = errors.New("the audit log is closed")
	return errors.Join(err, l.out.close())
}
