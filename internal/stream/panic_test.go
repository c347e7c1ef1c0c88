package stream_test

import (
	"bytes"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/stream"
)

// A source that panics while its items are read ends its stream and nothing
// else: what came before is handed out, then the error, whose id is in the log.
func TestItemsThatPanic(t *testing.T) {
	for name, end := range map[string]func(){
		"panic":  func() { panic("boom") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var items iter.Seq2[[]byte, error] = func(yield func([]byte, error) bool) {
				yield([]byte("1"), nil)
				end()
			}
			s := stream.New(items, func() {}, stream.Bounds{Wait: time.Hour, Idle: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			defer s.Close()
			first, err := s.Next(t.Context())
			if err != nil || string(first.List) != "[1]" || first.Last {
				t.Fatalf("%s %+v %v", first.List, first, err)
			}
			last, err := s.Next(t.Context())
			var told *incident.Error
			if err != nil || !last.Last || !errors.As(last.Err, &told) || !strings.Contains(log.String(), told.ID) {
				t.Errorf("%+v %v, the log: %s", last, err, log.String())
			}
		})
	}
}
