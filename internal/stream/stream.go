// Package stream takes items as they arrive and hands them out in parts.
//
// It does not know what the items are, who asks for them or what becomes of a
// part. It stands behind the handler, and lives on beside the path of a call
// while somebody asks for more.
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

// Stream is one that is being read. It reads ahead no more than it may hold.
type Stream struct {
	bounds Bounds
	end    func()
	idle   *time.Timer // ends a stream that nobody asks

	mu    sync.Mutex // guards the rest
	items []byte     // those that were not handed out, with commas between them
	count int
	done  bool // nothing more arrives
	err   error
	gone  bool          // nobody wants more
	news  chan struct{} // closed when something above changes
}

// maxWhole bounds a list that is not handed out in parts.
const maxWhole = 64 << 20

// ErrTooLarge says that a list is too large to be one.
var ErrTooLarge = errors.New("the list is too large")

// Bounds of a stream.
type Bounds struct {
	Part int           // bytes of a part, unless one item has more; the stream holds one part and an item; 0: 64 MiB
	Wait time.Duration // how long a part waits for more items once it has one; negative: until the end
	Idle time.Duration // how long nobody may ask before the stream ends

	Logger *slog.Logger // hears of what panics; nil: the default one does
}

// Part is what arrived since the part before.
type Part struct {
	List  []byte // a JSON list
	Items int
	Last  bool
	Err   error // what the stream ended with; the part holds what came before
}

// New begins to read items. Close calls end, which has to make the source of
// the items give up.
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

// ended notes that nothing more arrives; err, if there is one, is why.
func (s *Stream) ended(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
	}
	s.done = true
	s.tell()
}

// take keeps an item, and waits until there is room for the next one.
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
	if limit == 0 && s.bounds.Wait >= 0 { // there are parts, so nothing has to be too large
		limit = maxWhole
	}
	return limit > 0 && len(s.items) >= limit
}

// tell wakes whoever waits. The lock is held.
func (s *Stream) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

// Next waits for a part: until the stream ends, a part is full, or its first
// item has waited long enough for others. An error is that of ctx; nothing is
// lost then.
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

// Arrived is what came since the part before, without waiting.
func (s *Stream) Arrived() Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.part()
}

// part hands out what is there. What came before an error is a part of its
// own. The lock is held.
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

// Close ends the stream: no further item is taken.
func (s *Stream) Close() {
	s.idle.Stop()
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.tell()
}
