package host

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAWorkerThatNeverStopsTalking: a bounded number of lines and bytes is
// logged, and how many were left out.
func TestAWorkerThatNeverStopsTalking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer // the timer of the log writes into it, too
		l := newSaidLog(&App{}, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
		for i := range 10 * saidLines {
			l.line(i%2 == 0, fmt.Sprintf("error number %d", i))
		}
		if n := strings.Count(out.String(), "error number"); n != saidLines {
			t.Errorf("%d lines were logged", n)
		}
		out.Reset()
		time.Sleep(saidWindow)
		synctest.Wait()
		if want := fmt.Sprintf("more than is logged\" app=\"\" lines=%d\n", 9*saidLines); !strings.HasSuffix(out.String(), want) {
			t.Errorf("%s, want %s", out.String(), want)
		}
		out.Reset()
		for range 1000 {
			l.say(slog.LevelInfo, strings.Repeat("x", 8<<10))
		}
		if out.Len() > saidBytes+saidBytes/8 || out.Len() < saidBytes/2 {
			t.Errorf("%d bytes were logged", out.Len())
		}
		time.Sleep(saidWindow)
	})
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) Len() int { return len(b.String()) }

func (b *lockedBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Reset()
}
