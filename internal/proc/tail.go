package proc

import (
	"bytes"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// maxLine limits a line, so that a child that never ends one does not exhaust
// memory.
const maxLine = 8 << 10

// tail keeps the last bytes of stderr and passes the lines of both streams on.
type tail struct {
	output lines
	errors lines

	mu        sync.Mutex
	max       int
	buf       []byte // at most twice max
	truncated bool   // bytes before kept were dropped
}

func newTail(c Command) *tail {
	t := &tail{max: c.TailBytes}
	if t.max <= 0 {
		t.max = defaultTail
	}
	if c.Line != nil {
		turn := new(sync.Mutex)
		give := func(failing bool) func(string) {
			return func(line string) {
				turn.Lock()
				defer turn.Unlock()
				_ = incident.Catch(nil, "reading a line of a child", func() { c.Line(failing, line) }, nil)
			}
		}
		t.output.emit, t.errors.emit = give(false), give(true)
	}
	return t
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.keep(p)
	t.mu.Unlock()
	return t.errors.Write(p)
}

func (t *tail) keep(p []byte) {
	if len(p) > t.max {
		t.buf, p, t.truncated = t.buf[:0], p[len(p)-t.max:], true
	}
	if len(t.buf)+len(p) > 2*t.max { // amortizes the copying
		t.buf, t.truncated = append(t.buf[:0], t.buf[len(t.buf)-t.max:]...), true
	}
	t.buf = append(t.buf, p...)
}

// flush passes on incomplete last lines.
func (t *tail) flush() {
	t.output.flush()
	t.errors.flush()
}

// String returns the last bytes as valid text, from the beginning of a line if
// possible.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, cut := t.buf, t.truncated
	if len(text) > t.max {
		text, cut = text[len(text)-t.max:], true
	}
	if i := bytes.IndexByte(text, '\n'); cut && i >= 0 && i < len(text)-1 {
		text = text[i+1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// lines splits what is written to it into lines of at most maxLine bytes. Only
// one goroutine writes to it.
type lines struct {
	emit func(line string) // nil: lines are dropped
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for l.emit != nil && len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 && len(l.part)+len(p) < maxLine {
			l.part = append(l.part, p...)
			break
		}
		end, next := i, i+1
		if space := maxLine - len(l.part); i < 0 || i > space {
			end, next = min(space, len(p)), min(space, len(p))
		}
		l.part = append(l.part, p[:end]...)
		p = p[next:]
		l.flush()
	}
	return n, nil
}

func (l *lines) flush() {
	if len(l.part) == 0 {
		return
	}
	line := strings.TrimSuffix(strings.ToValidUTF8(string(l.part), "\uFFFD"), "\r")
	l.part = l.part[:0]
	l.emit(line)
}
