package egress

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rules of this file: it is a private cache (RFC 9111) per identity. An entry
// is used only for the same identity and a request with equal headers,
// credentials included. That is stricter than Vary, and no response header can
// weaken it. A stale response is never served without validation.

// cache is bounded in bytes and evicts the least recently used entries.
type cache struct {
	limit  int64
	shared *sharedCache // with other replicas; nil: with none

	mu      sync.Mutex
	bytes   int64
	used    *list.List // of *stored, the most recently used first
	by      map[cacheKey]*list.Element
	byPath  map[string]map[cacheKey]bool        // entries by path, for invalidation
	pending map[string]map[*pendingRequest]bool // requests in flight, by path
}

type cacheKey [sha256.Size]byte

// pendingRequest is a request in flight. Its response is not stored if its path is
// invalidated meanwhile, because the response may be older than the change.
type pendingRequest struct {
	path        string
	invalidated bool // the path was invalidated
}

// stored is a cached response. It is immutable.
type stored struct {
	key      cacheKey
	path     string
	mark     string // of the path in the shared cache when the request was sent
	status   int
	header   http.Header
	body     []byte
	sent     time.Time // when the request was sent
	received time.Time
}

func newCache(limit int64, shared Shared) *cache {
	return &cache{limit: limit, shared: newSharedCache(shared, limit), used: list.New(), by: map[cacheKey]*list.Element{}, byPath: map[string]map[cacheKey]bool{}, pending: map[string]map[*pendingRequest]bool{}}
}

// throughCache answers r from the cache if the entry is fresh, validates a
// stale entry, and stores the response if that is allowed.
func (u *Upstreams) throughCache(r *http.Request, t RequestOptions) (Response, error) {
	key, path := keyOf(r, t.Identity), pathOf(r.URL)
	s, mark := u.cache.find(r.Context(), key, path)
	fresh := s != nil && s.fresh(time.Now())
	if o := u.observer(); o != nil {
		o.CacheLookup(fresh)
	}
	if fresh {
		return s.answer(time.Now()), nil
	}
	under := u.cache.begin(path)
	defer u.cache.end(under)
	sent := time.Now()
	got, err := u.send(s.conditional(r), t)
	if err == nil && got.Status == http.StatusNotModified && s != nil {
		if s.validatedBy(got.Header) {
			s = s.refreshed(got.Header, sent, time.Now())
			s.mark = mark
			u.cache.put(s, under, true) //nolint:contextcheck // other replicas get it later
			return s.answer(s.received), nil
		}
		sent = time.Now()
		got, err = u.send(r, t)
	}
	if err == nil && !got.redirected && storable(got, u.cache.limit) {
		u.cache.put(&stored{ //nolint:contextcheck // other replicas get it later
			key: key, path: path, mark: mark, status: got.Status, header: got.Header.Clone(), body: bytes.Clone(got.Body),
			sent: sent, received: time.Now(),
		}, under, true)
	}
	return got, err
}

// cacheable reports whether r may use the cache. Requests with their own cache
// control, conditions or ranges may not.
func cacheable(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.ContentLength != 0 {
		return false
	}
	for _, name := range []string{"Cache-Control", "Pragma", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if _, there := r.Header[name]; there {
			return false
		}
	}
	return true
}

// keyOf returns a hash, so that the key contains no credential.
func keyOf(r *http.Request, identity string) cacheKey {
	h := sha256.New()
	write := func(text string) {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(text)), 10)) // never fails
		_, _ = h.Write([]byte{':'})
		_, _ = h.Write([]byte(text))
	}
	write(identity)
	write(r.Method)
	write(r.Host)
	write(r.URL.String())
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		write(name)
		for _, value := range r.Header[name] {
			write(value)
		}
		write("")
	}
	return cacheKey(h.Sum(nil))
}

func pathOf(u *url.URL) string { return origin(u) + u.EscapedPath() }

// find returns the response that is kept of a request, here or for all replicas, and the
// mark of its path.
func (c *cache) find(ctx context.Context, key cacheKey, path string) (s *stored, mark string) {
	s = c.get(key)
	if c.shared == nil {
		return s, ""
	}
	under := c.begin(path)
	defer c.end(under)
	own := s
	if mark, s = c.shared.look(ctx, key, path, own); s != nil && s != own {
		c.put(s, under, false) //nolint:contextcheck // it is no news
	}
	return s, mark
}

func (c *cache) get(key cacheKey) *stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return storedIn(e)
}

func storedIn(e *list.Element) *stored {
	s, _ := e.Value.(*stored)
	return s
}

// begin records that a request for a path is in flight.
func (c *cache) begin(path string) *pendingRequest {
	a := &pendingRequest{path: path}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[path] == nil {
		c.pending[path] = map[*pendingRequest]bool{}
	}
	c.pending[path][a] = true
	return a
}

func (c *cache) end(a *pendingRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending[a.path], a)
	if len(c.pending[a.path]) == 0 {
		delete(c.pending, a.path)
	}
}

// put stores a response, unless its path was invalidated meanwhile; if it is news also
// for other replicas.
func (c *cache) put(s *stored, under *pendingRequest, news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if under.invalidated || s.size() > c.limit {
		return
	}
	if news && c.shared != nil {
		c.shared.put(s)
	}
	if e := c.by[s.key]; e != nil {
		c.drop(e)
	}
	c.by[s.key] = c.used.PushFront(s)
	if c.byPath[s.path] == nil {
		c.byPath[s.path] = map[cacheKey]bool{}
	}
	c.byPath[s.path][s.key] = true
	c.bytes += s.size()
	for c.bytes > c.limit {
		c.drop(c.used.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	s := storedIn(e)
	c.used.Remove(e)
	delete(c.by, s.key)
	delete(c.byPath[s.path], s.key)
	if len(c.byPath[s.path]) == 0 {
		delete(c.byPath, s.path)
	}
	c.bytes -= s.size()
}

// invalidate removes, for every identity, the entries that a change at u
// invalidates: those of its path with any query, and those that the response
// names at the same origin (RFC 9111 §4.4).
func (c *cache) invalidate(ctx context.Context, u *url.URL, answer http.Header) {
	paths := []string{pathOf(u)}
	for _, name := range []string{"Location", "Content-Location"} {
		if to, err := u.Parse(answer.Get(name)); err == nil && answer.Get(name) != "" && origin(to) == origin(u) {
			paths = append(paths, pathOf(to))
		}
	}
	if c.shared != nil {
		c.shared.invalidate(ctx, paths)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		for key := range c.byPath[path] {
			c.drop(c.by[key])
		}
		for under := range c.pending[path] {
			under.invalidated = true
		}
	}
}

// size returns the approximate memory of s.
func (s *stored) size() int64 {
	n := 1024 + len(s.body) + len(s.path)
	for name, values := range s.header {
		n += len(name) + 64
		for _, v := range values {
			n += len(v) + 16
		}
	}
	return int64(n)
}

// answer returns s as a response with its age.
func (s *stored) answer(now time.Time) Response {
	header := s.header.Clone()
	header["Age"] = []string{strconv.FormatInt(int64(s.age(now)/time.Second), 10)}
	return Response{Status: s.status, Header: header, Body: bytes.Clone(s.body), State: Responded}
}

// conditional adds the validators of s to a copy of r; if s is nil it returns
// r.
func (s *stored) conditional(r *http.Request) *http.Request {
	if s == nil {
		return r
	}
	r = r.Clone(r.Context())
	if tag := s.header.Get("Etag"); tag != "" {
		r.Header["If-None-Match"] = []string{tag}
	}
	if at := s.header.Get("Last-Modified"); at != "" {
		r.Header["If-Modified-Since"] = []string{at}
	}
	return r
}

// validatedBy reports whether a 304 validates s (RFC 9111 §4.3.4).
func (s *stored) validatedBy(h http.Header) bool {
	tag := h.Get("Etag")
	return tag == "" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(s.header.Get("Etag"), "W/")
}

// refreshed returns s updated with the headers of a 304 (RFC 9111 §3.2).
func (s *stored) refreshed(h http.Header, sent, received time.Time) *stored {
	next := *s
	next.sent, next.received = sent, received
	next.header = s.header.Clone()
	delete(next.header, "Age")
	for name, values := range h {
		switch name {
		case "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Connection", "Transfer-Encoding":
		default:
			next.header[name] = values
		}
	}
	return &next
}
