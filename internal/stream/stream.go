// Package stream receives items as they arrive and returns them in parts.
//
// It does not know what the items are, who requests them or how a part is
// delivered. The gateway reads the handler's items through it, also between
// calls, as long as further parts are requested.
package stream

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// Stream is a stream that is being read. It reads ahead within its bounds.
type Stream struct {
	bounds Bounds
	end    func()
	idle   *time.Timer // ends a stream whose next part is not requested

	mu    sync.Mutex // guards the other fields
	items []byte     // items not delivered yet, with commas between them
	count int
	done  bool // no further item arrives
	err   error
	gone  bool          // closed
	news  chan struct{} // closed when something above changes
}

// maxWhole bounds a list that is not returned in parts.
const maxWhole = 64 << 20

// ErrTooLarge says that a list exceeds the bound of a single result.
var ErrTooLarge = errors.New("the list is too large")

// Bounds of a stream.
type Bounds struct {
	Part int           // bytes of a part, unless one item has more; the stream holds one part and an item; 0: 64 MiB
	Wait time.Duration // how long a part waits for further items after its first; negative: until the end
	Idle time.Duration // how long the stream waits for a request before it ends

	Logger *slog.Logger // receives panics; nil: the default one
}

// Part holds the items that arrived since the previous part.
type Part struct {
	List  []byte // a JSON list
	Items int
	Last  bool
	Err   error // the error with which the stream ended, after these items
}

// New starts to read items. Close calls end, which must make the source of the
// items stop.
func New(items iter.Seq2[[]byte, error], end func(), b Bounds) *Stream {
	s := &Stream{bounds: b, end: end, news: make(chan struct{})}
	s.idle = time.AfterFunc(b.Idle, s.Close)
	incident.Go(b.Logger, "a stream", func() { s.read(items) }, func(e *incident.Error) { s.ended(e) })
	return s
}

func (s *Stream) read(items iter.Seq2[[]byte, error]) {
	for item, err := range items {
		if !s.take(item, err) {
			break
		}
	}
	s.ended(nil)
}

// ended records the end of the stream, with err or nil.
func (s *Stream) ended(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
	}
	s.done = true
	s.tell()
}

// take adds an item and waits until the next one is within bounds.
func (s *Stream) take(item []byte, err error) (more bool) {
	s.mu.Lock()
	if len(s.items) > maxWhole && s.bounds.Wait < 0 {
		err = ErrTooLarge
	}
	if err != nil {
		s.err = err
		s.mu.Unlock()
		return false
	}
	if s.count > 0 {
		s.items = append(s.items, ',')
	}
	s.items, s.count = append(s.items, item...), s.count+1
	s.tell()
	for s.full() && !s.gone {
		news := s.news
		s.mu.Unlock()
		<-news
		s.mu.Lock()
	}
	more = !s.gone
	s.mu.Unlock()
	return more
}

func (s *Stream) full() bool {
	limit := s.bounds.Part
	if limit == 0 && s.bounds.Wait >= 0 { // parts have no limit of their own
		limit = maxWhole
	}
	return limit > 0 && len(s.items) >= limit
}

// tell wakes waiting goroutines. The lock is held.
func (s *Stream) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

// Next waits for a part: until the stream ends, the part is full, or Bounds.Wait
// has passed since its first item. An error is that of ctx; no item is lost then.
func (s *Stream) Next(ctx context.Context) (Part, error) {
	s.idle.Stop()
	defer s.idle.Reset(s.bounds.Idle)
	var enough <-chan time.Time // nil: wait on
	if s.bounds.Wait >= 0 {
		timer := time.NewTimer(s.bounds.Wait)
		defer timer.Stop()
		enough = timer.C
	}
	waited := false
	for {
		s.mu.Lock()
		if s.done || s.full() || waited && s.count > 0 {
			part := s.part()
			s.mu.Unlock()
			return part, nil
		}
		news := s.news
		s.mu.Unlock()
		select {
		case <-news:
		case <-enough:
			waited = true
		case <-ctx.Done():
			return Part{}, ctx.Err()
		}
	}
}

// Arrived returns the items since the previous part, without waiting.
func (s *Stream) Arrived() Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.part()
}

// part returns the items that have arrived. Items before an error are a part
// without it. The lock is held.
func (s *Stream) part() Part {
	p := Part{List: append(append(append(make([]byte, 0, len(s.items)+2), '['), s.items...), ']'), Items: s.count, Last: s.done}
	if s.done && s.err != nil && s.count > 0 && s.bounds.Wait >= 0 {
		p.Last = false
	} else if s.done {
		p.Err = s.err
	}
	s.items, s.count = s.items[:0], 0
	s.tell()
	return p
}

// Close ends the stream: no further item is read.
func (s *Stream) Close() {
	s.idle.Stop()
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.tell()
}
