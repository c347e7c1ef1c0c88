package egress

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// Shared keeps what can be made again for all replicas: see tenon.Cache.
type Shared interface {
	Get(ctx context.Context, keys ...string) (values [][]byte, ok bool)
	Put(ctx context.Context, key string, value []byte, life time.Duration)
	Delete(ctx context.Context, key string)
	Claim(ctx context.Context, key string, life time.Duration) (first bool)
}

const (
	// sharedLife is how long a response is kept for other replicas, at most. For as
	// long it is remembered that something changed at a path.
	sharedLife    = 10 * time.Minute
	maxSharedBody = 1 << 20 // bytes
	maxSharedPuts = 8       // responses that are being put; others are not
)

// sharedCache is what replicas keep for each other beside the cache of each.
//
// What a request changes at a path makes all that was kept of it worthless, also what
// other replicas have in their memory. So a path has a mark in the store, which every
// change replaces, and an entry the mark under which its request was sent: it counts
// while that is the path's. While nobody knows the mark each replica goes by itself.
type sharedCache struct {
	Shared

	limit  int64         // bytes of the responses that this replica puts in sharedLife
	places chan struct{} // of those who put

	mu    sync.Mutex
	since time.Time // the window of time in which now is counted
	now   int64     // bytes put in it
	last  int64     // and in the one before
}

// noMark is the mark while nobody knows it. It is no path's.
const noMark = "?"

func newSharedCache(s Shared, limit int64) *sharedCache {
	if s == nil {
		return nil
	}
	return &sharedCache{Shared: s, limit: limit, places: make(chan struct{}, maxSharedPuts)}
}

func markKey(path string) string      { return "mark " + path }
func responseKey(key cacheKey) string { return "response " + hex.EncodeToString(key[:]) }

// look returns the mark of a path, and the response that another replica kept if this
// one has none that counts.
func (c *sharedCache) look(ctx context.Context, key cacheKey, path string, own *stored) (mark string, s *stored) {
	keys := []string{markKey(path)}
	if own == nil {
		keys = append(keys, responseKey(key))
	}
	values, ok := c.Get(ctx, keys...)
	if !ok {
		return noMark, own
	}
	mark = string(values[0])
	switch {
	case own != nil && own.mark == mark:
		return mark, own
	case own != nil: // what another kept since then is newer
		if values, ok = c.Get(ctx, responseKey(key)); !ok {
			return mark, nil
		}
		values = [][]byte{nil, values[0]}
	}
	if s = decodeStored(values[1]); s == nil || s.key != key || s.path != path || s.mark != mark {
		return mark, nil
	}
	return mark, s
}

// put keeps a response for other replicas, which nobody waits for.
func (c *sharedCache) put(s *stored) {
	life := min(sharedLife, lifetime(s.header, directives(s.header), s.received)-s.age(s.received))
	if s.header.Get("Etag") != "" || s.header.Get("Last-Modified") != "" { // it can be asked whether it is still so
		life = sharedLife
	}
	if life <= 0 || s.mark == noMark || len(s.body) > maxSharedBody || !c.fits(int64(len(s.body))+1024, time.Now()) {
		return
	}
	select {
	case c.places <- struct{}{}:
	default:
		return
	}
	incident.Go(nil, "keeping a response for other replicas", func() {
		defer func() { <-c.places }()
		c.Put(context.Background(), responseKey(s.key), s.encode(), life)
	}, nil)
}

// fits reports whether n bytes are within what this replica may have in the store, and
// counts them. Of what it put in the window before some is there still.
func (c *sharedCache) fits(n int64, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch gone := now.Sub(c.since); {
	case gone >= 2*sharedLife:
		c.since, c.last, c.now = now, 0, 0
	case gone >= sharedLife:
		c.since, c.last, c.now = c.since.Add(sharedLife), c.now, 0
	}
	if c.last+c.now+n > c.limit {
		return false
	}
	c.now += n
	return true
}

// invalidate makes what was kept of paths worthless.
func (c *sharedCache) invalidate(ctx context.Context, paths []string) {
	for _, path := range paths {
		c.Put(context.WithoutCancel(ctx), markKey(path), []byte(rand.Text()), sharedLife+time.Minute)
	}
}

// storedHead is what is written before the body of a response.
type storedHead struct {
	Key      []byte      `json:"key"`
	Path     string      `json:"path"`
	Mark     string      `json:"mark"`
	Status   int         `json:"status"`
	Header   http.Header `json:"header"`
	Sent     time.Time   `json:"sent"`
	Received time.Time   `json:"received"`
}

// encode writes a response for other replicas: without cookies, which are nobody's but
// of who got them.
func (s *stored) encode() []byte {
	header := s.header.Clone()
	delete(header, "Set-Cookie")
	head, err := json.Marshal(storedHead{s.key[:], s.path, s.mark, s.status, header, s.sent, s.received})
	if err != nil {
		return nil // texts and numbers can always be written
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(head)+len(s.body)), uint32(len(head))) //nolint:gosec // headers have bounds
	return append(append(b, head...), s.body...)
}

// decodeStored reads what encode has written; nil: it has not.
func decodeStored(b []byte) *stored {
	if len(b) < 4 {
		return nil
	}
	n := int64(binary.BigEndian.Uint32(b))
	if int64(len(b)) < 4+n {
		return nil
	}
	var head storedHead
	if json.Unmarshal(b[4:4+n], &head) != nil || len(head.Key) != len(cacheKey{}) || head.Status < 100 || head.Status > 599 {
		return nil
	}
	if head.Header == nil {
		head.Header = http.Header{}
	}
	return &stored{
		key: cacheKey(head.Key), path: head.Path, mark: head.Mark, status: head.Status, header: head.Header, body: bytes.Clone(b[4+n:]),
		sent: head.Sent, received: head.Received,
	}
}
