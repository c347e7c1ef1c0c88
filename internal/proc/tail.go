package proc

import (
	"bytes"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// maxLine bounds a line, so that a child that never ends one fills no memory.
const maxLine = 8 << 10

// tail keeps the last bytes of what a child writes to its errors, and hands
// the lines of both its streams on, one by one.
type tail struct {
	output lines
	errors lines

	mu   sync.Mutex
	max  int
	kept []byte // at most twice max
	lost bool   // something stood before kept
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
		t.output.give, t.errors.give = give(false), give(true)
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
		t.kept, p, t.lost = t.kept[:0], p[len(p)-t.max:], true
	}
	if len(t.kept)+len(p) > 2*t.max { // so that bytes are not moved with every write
		t.kept, t.lost = append(t.kept[:0], t.kept[len(t.kept)-t.max:]...), true
	}
	t.kept = append(t.kept, p...)
}

// flush hands on last lines that have no end.
func (t *tail) flush() {
	t.output.flush()
	t.errors.flush()
}

// String returns the last bytes as valid text, from the beginning of a line
// where there is one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, cut := t.kept, t.lost
	if len(text) > t.max {
		text, cut = text[len(text)-t.max:], true
	}
	if i := bytes.IndexByte(text, '\n'); cut && i >= 0 && i < len(text)-1 {
		text = text[i+1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// lines cuts what is written to it into lines of at most maxLine bytes. Only
// one goroutine writes to it.
type lines struct {
	give func(line string) // nil: nobody wants them
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for l.give != nil && len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 && len(l.part)+len(p) < maxLine {
			l.part = append(l.part, p...)
			break
		}
		end, next := i, i+1
		if room := maxLine - len(l.part); i < 0 || i > room {
			end, next = min(room, len(p)), min(room, len(p))
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
	l.give(line)
}
