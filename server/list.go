package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
)

// The bounds of a page. One definition larger than maxPageBytes has a page of
// its own.
const (
	maxPageTools = 500
	maxPageBytes = 1 << 20
)

// listTTL is for how long a client may take a list for fresh, in milliseconds.
// For as long the pages of a catalog outlive it.
const (
	listTTL  = "60000"
	listLife = 60 * time.Second
)

// listing holds the pages of one catalog. A page is made when it is asked for
// and then serves everybody, in every revision.
type listing struct {
	catalog *tenon.Catalog
	log     *slog.Logger
	id      uint64 // binds cursors to this listing
	since   time.Time
	before  *tenon.Catalog // what was in force until then; nil: nothing

	bound sync.Map // *tenon.Entry to []bound
	lax   rule     // what tests switched off

	mu    sync.Mutex
	pages map[int]*page // by the first tool
}

// page is a part of a list.
type page struct {
	tools []byte // a JSON array
	next  int    // the first tool of the next page; 0: there is none
}

// tools returns the listing of the catalog in force.
func (s *Server) tools() *listing {
	c := s.gateway.Catalog()
	for {
		old := s.listing.Load()
		if old != nil && old.catalog == c {
			return old
		}
		fresh := &listing{catalog: c, log: s.log, pages: map[int]*page{}, since: time.Now(), lax: s.off}
		if old != nil {
			fresh.id, fresh.before = old.id+1, old.catalog
		}
		if s.listing.CompareAndSwap(old, fresh) {
			return fresh
		}
	}
}

func (s *Server) listTools(_ context.Context, q *request, a *answer) *rpcError {
	l := s.tools()
	start := 0
	if q.hasCursor {
		var ok bool
		if start, ok = s.cursors.open(q.cursor, l.id, "tools"); !ok {
			l = l.previous()
		}
		if !ok && l != nil {
			start, ok = s.cursors.open(q.cursor, l.id, "tools")
		}
		if !ok {
			return staleCursor()
		}
	}
	a.begin(q, nil)
	s.writePage(a, q, l, l.page(start))
	a.end()
	return nil
}

// previous is the listing of the catalog before this one, for who is in the
// middle of it; nil: that is too long ago.
func (l *listing) previous() *listing {
	if l.before == nil || time.Since(l.since) > listLife {
		return nil
	}
	return &listing{catalog: l.before, log: l.log, id: l.id - 1, pages: map[int]*page{}}
}

func staleCursor() *rpcError {
	return invalidParams("the cursor is not valid, or the list has changed; begin again without one")
}

func (s *Server) writePage(a *answer, q *request, l *listing, p *page) {
	a.member("tools")
	a.page, a.cut = p.tools, len(a.buf)
	if p.next > 0 {
		a.write(`,"nextCursor":`)
		a.text(s.cursors.seal(p.next, l.id, "tools"))
	}
	a.caching(q, listTTL)
}

// page returns the page that begins with the tool at start.
func (l *listing) page(start int) *page {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.pages[start]; p != nil {
		return p
	}
	p := l.render(start)
	l.pages[start] = p
	return p
}

// render makes a page. It takes tools in small groups until the page is full,
// so that hardly any definition is rendered that is not asked for.
func (l *listing) render(start int) *page {
	const group = 32
	tools := l.catalog.Tools()
	end := min(len(tools), start+maxPageTools)
	b := []byte{'['}
	at := start
	for at < end {
		for _, d := range l.definitions(tools[at:min(end, at+group)]) {
			if len(b) > 1 && len(b)+len(d) >= maxPageBytes {
				return newPage(b, at)
			}
			if len(b) > 1 && len(d) > 0 {
				b = append(b, ',')
			}
			b = append(b, d...)
			at++
		}
	}
	if at == len(tools) {
		at = 0
	}
	return newPage(b, at)
}

// newPage closes the array of a page. Line ends in a definition are white
// space; they would end the line that a message is on stdio.
func newPage(tools []byte, next int) *page {
	tools = bytes.ReplaceAll(append(tools, ']'), []byte{'\n'}, []byte{' '})
	return &page{tools: tools, next: next}
}

// definitions renders tools side by side: converting a schema can be slow.
func (l *listing) definitions(tools []*tenon.Entry) [][]byte {
	out := make([][]byte, len(tools))
	workers := min(runtime.GOMAXPROCS(0), len(tools))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(tools); i += workers {
				out[i] = l.definition(tools[i])
			}
		})
	}
	wg.Wait()
	return out
}

// definition renders one tool. One that panics is missing in the list, and
// costs the others nothing.
func (l *listing) definition(e *tenon.Entry) (d []byte) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("a tool cannot be listed", "tool", e.Name(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			d = nil
		}
	}()
	return e.Definition()
}
