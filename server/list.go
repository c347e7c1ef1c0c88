package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// The bounds of a page. One definition larger than maxPageBytes has a page of
// its own.
const (
	maxPageTools = 500 // unless Options.PageSize says otherwise
	maxPageBytes = 1 << 20
	// pageTime is how long tools are taken into a page: those of a description
	// that is slow to convert come on later pages. The first one always comes.
	pageTime = 2 * time.Second
)

// listTTL is for how long a client may take a list for fresh, in milliseconds.
// For as long the pages of a catalog outlive it, unless it is replaced so often
// that too many would be kept.
const (
	listTTL  = "60000"
	listLife = 60 * time.Second
	maxPast  = 4
)

// listing holds the pages of one catalog. A page is made when first requested and
// serves all clients and revisions.
type listing struct {
	catalog *gateway.Catalog
	log     *slog.Logger
	size    int    // tools of a page
	id      uint64 // binds cursors to what is listed: see orderOf
	past    []past // what was in force before, the latest last
	view    string // whose it is, as [gateway.Catalog.View] has it; empty: everybody's

	bound sync.Map // *gateway.Tool to []bound
	views views    // what callers see of it

	mu    sync.Mutex
	pages map[int]func() *page // by the first tool; made once, and nobody else waits meanwhile
}

// past is a replaced catalog, for clients that are still paging through it.
type past struct {
	catalog *gateway.Catalog
	id      uint64
	until   time.Time
}

// page is a part of a list.
type page struct {
	tools []byte // a JSON array
	next  int    // the first tool of the next page; 0: there is none
}

// tools returns the listing of the current catalog.
func (s *Server) tools() *listing {
	if old := s.listing.Load(); old != nil && old.catalog == s.gateway.Catalog() {
		return old
	}
	s.renewing.Lock()
	defer s.renewing.Unlock()
	// Asked for again, so that who was slow does not bring an older one back.
	c, old := s.gateway.Catalog(), s.listing.Load()
	if old != nil && old.catalog == c {
		return old
	}
	fresh := &listing{catalog: c, log: s.log, size: s.options.Load().PageSize, id: orderOf(c), pages: map[int]func() *page{}}
	if old != nil {
		fresh.past = old.outlived(time.Now())
	}
	s.listing.Store(fresh)
	return fresh
}

func (s *Server) listTools(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	l := s.toolsFor(ctx)
	start := 0
	if q.HasCursor {
		if l, start = s.listed(ctx, l, q.Cursor); l == nil {
			return staleCursor()
		}
	}
	a.begin(q, nil)
	s.writePage(a, q, l, l.page(start))
	a.end()
	return nil
}

// listed finds the listing that a cursor is of, l or one before it, and its
// place there; nil: there is none any more.
func (s *Server) listed(ctx context.Context, l *listing, cursor string) (of *listing, start int) {
	if start, ok := s.cursors.open(cursor, l.id, "tools"); ok {
		return l, start
	}
	for _, p := range l.past {
		c, view := p.catalog.View(ctx)
		id := p.id
		if view != "" {
			id = viewID(orderOf(c), view)
		}
		// Who sees by other rules now has to begin again.
		if start, ok := s.cursors.open(cursor, id, "tools"); ok && view == l.view && time.Now().Before(p.until) {
			return &listing{catalog: c, log: l.log, size: l.size, id: id, view: view, pages: map[int]func() *page{}}, start
		}
	}
	return nil, 0
}

// outlived is what can still be listed when l is replaced.
func (l *listing) outlived(now time.Time) []past {
	all := slices.DeleteFunc(slices.Clone(l.past), func(p past) bool { return !now.Before(p.until) })
	all = append(all, past{catalog: l.catalog, id: l.id, until: now.Add(listLife)})
	return all[max(0, len(all)-maxPast):]
}

func staleCursor() *jsonrpc.Error {
	return jsonrpc.InvalidParams("the cursor is not valid, or the list has changed; begin again without one")
}

func (s *Server) writePage(a *answer, q *request, l *listing, p *page) {
	a.member("tools")
	a.refer(p.tools, asIs)
	if p.next > 0 {
		a.write(`,"nextCursor":`)
		a.text(s.cursors.seal(p.next, l.id, "tools"))
	}
	a.caching(q, listTTL, l.view == "")
}

// page returns the page that begins with the tool at start.
func (l *listing) page(start int) *page {
	l.mu.Lock()
	made := l.pages[start]
	if made == nil {
		made = sync.OnceValue(func() *page { return l.render(start) })
		l.pages[start] = made
	}
	l.mu.Unlock()
	return made()
}

// render makes a page. It takes tools in small groups until the page is full,
// so that hardly any definition is rendered that is not asked for.
func (l *listing) render(start int) *page {
	const group = 32
	tools := l.catalog.Tools()
	end := min(len(tools), start+l.size)
	began := time.Now()
	b := []byte{'['}
	at := start
	for at < end && (at == start || time.Since(began) < pageTime) {
		for _, d := range l.definitions(tools[at:min(end, at+group)], began) {
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

// definitions renders tools side by side: converting a schema can be slow. Of
// those for which the page's time does not suffice, the last are left out.
func (l *listing) definitions(tools []*gateway.Tool, began time.Time) [][]byte {
	out := make([][]byte, len(tools))
	workers := min(runtime.GOMAXPROCS(0), len(tools))
	rendering := incident.NewGroup(l.log, "rendering a list", workers)
	var taken atomic.Int64
	for range workers {
		rendering.Go(func() {
			for time.Since(began) < pageTime || taken.Load() == 0 {
				i := int(taken.Add(1)) - 1
				if i >= len(tools) {
					return
				}
				out[i] = l.definition(tools[i])
			}
		}, nil)
	}
	rendering.Wait()
	return out[:min(len(tools), int(taken.Load()))]
}

// definition renders one tool. One that panics is missing in the list, and
// costs the others nothing.
func (l *listing) definition(e *gateway.Tool) (d []byte) {
	if incident.Catch(l.log, "listing the tool "+e.Name(), func() { d = e.Definition() }, nil) != nil {
		return nil
	}
	return d
}

// cursorKey authenticates the cursors of the servers that share a secret. A cursor
// says where a page begins; it is bound to what is listed, so that one from before
// the tools changed is refused rather than pointing at another tool.
type cursorKey [32]byte

const (
	cursorPlace = 4
	cursorMAC   = 16
)

func (k *cursorKey) seal(place int, listing uint64, list string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(place)) //nolint:gosec // a catalog has fewer tools
	return base64.RawURLEncoding.EncodeToString(append(b, k.mac(b, listing, list)...))
}

func (k *cursorKey) open(cursor string, listing uint64, list string) (place int, ok bool) {
	if base64.RawURLEncoding.DecodedLen(len(cursor)) != cursorPlace+cursorMAC {
		return 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorPlace+cursorMAC || !hmac.Equal(b[cursorPlace:], k.mac(b[:cursorPlace], listing, list)) {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(b)), true
}

func (k *cursorKey) mac(place []byte, listing uint64, list string) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(place)
	h.Write(binary.BigEndian.AppendUint64(nil, listing))
	h.Write([]byte(list))
	return h.Sum(nil)[:cursorMAC]
}
