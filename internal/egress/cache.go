package egress

import (
	"bytes"
	"container/list"
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

// The rules of this file are those of a private cache (RFC 9111), one for each
// identity: an answer is found again only for the same identity and for a
// request that is equal in every header, credentials included. That is more than
// Vary asks for, and nothing that an upstream says can make it less. No answer
// is served after its time without having been validated.

// cache keeps answers within a bound of bytes; those that were not used for the
// longest time go first.
type cache struct {
	limit int64

	mu     sync.Mutex
	bytes  int64
	used   *list.List // of *stored, the latest in front
	by     map[cacheKey]*list.Element
	byPath map[string]map[cacheKey]bool // what a change at a path makes invalid
	asked  map[string]map[*asking]bool  // requests under way, by path
}

type cacheKey [sha256.Size]byte

// asking is a request under way whose answer may be kept, unless something at its
// path changes meanwhile: the answer may be older than that.
type asking struct {
	path string
	late bool // it did
}

// stored is one answer. It is never changed.
type stored struct {
	key      cacheKey
	path     string
	status   int
	header   http.Header
	body     []byte
	sent     time.Time // when its request was
	received time.Time
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, used: list.New(), by: map[cacheKey]*list.Element{}, byPath: map[string]map[cacheKey]bool{}, asked: map[string]map[*asking]bool{}}
}

// throughCache answers r from the cache where that is fresh, validates what is
// not, and keeps what may be kept.
func (u *Upstreams) throughCache(r *http.Request, t RequestOptions) (Response, error) {
	key := keyOf(r, t.Identity)
	s := u.cache.get(key)
	if s != nil && s.fresh(time.Now()) {
		return s.answer(time.Now()), nil
	}
	under := u.cache.ask(pathOf(r.URL))
	defer u.cache.done(under)
	sent := time.Now()
	got, err := u.send(s.conditional(r), t)
	if err == nil && got.Status == http.StatusNotModified && s != nil {
		if s.confirmedBy(got.Header) {
			s = s.renewed(got.Header, sent, time.Now())
			u.cache.put(s, under)
			return s.answer(s.received), nil
		}
		sent = time.Now()
		got, err = u.send(r, t)
	}
	if err == nil && !got.redirected && storable(got, u.cache.limit) {
		u.cache.put(&stored{
			key: key, path: pathOf(r.URL), status: got.Status, header: got.Header.Clone(), body: bytes.Clone(got.Body),
			sent: sent, received: time.Now(),
		}, under)
	}
	return got, err
}

// cacheable tells whether r may be answered by a cache. One that makes demands
// on caches itself, or asks for a part, passes by.
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

// keyOf is a hash, so that no credential is kept in it.
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

// ask notes that a request for a path is under way.
func (c *cache) ask(path string) *asking {
	a := &asking{path: path}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[path] == nil {
		c.asked[path] = map[*asking]bool{}
	}
	c.asked[path][a] = true
	return a
}

func (c *cache) done(a *asking) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked[a.path], a)
	if len(c.asked[a.path]) == 0 {
		delete(c.asked, a.path)
	}
}

// put keeps what came for a request, unless it is late.
func (c *cache) put(s *stored, under *asking) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if under.late {
		return
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

// forget drops, for every identity, what a change at u made invalid: the answers
// for its path with any query, and for where the answer points at the same
// origin (RFC 9111 §4.4).
func (c *cache) forget(u *url.URL, answer http.Header) {
	paths := []string{pathOf(u)}
	for _, name := range []string{"Location", "Content-Location"} {
		if to, err := u.Parse(answer.Get(name)); err == nil && answer.Get(name) != "" && origin(to) == origin(u) {
			paths = append(paths, pathOf(to))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		for key := range c.byPath[path] {
			c.drop(c.by[key])
		}
		for under := range c.asked[path] {
			under.late = true
		}
	}
}

// size is about what s takes of the memory.
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

// answer is s as an answer of its own, with its age.
func (s *stored) answer(now time.Time) Response {
	header := s.header.Clone()
	header["Age"] = []string{strconv.FormatInt(int64(s.age(now)/time.Second), 10)}
	return Response{Status: s.status, Header: header, Body: bytes.Clone(s.body), Progress: Answered}
}

// conditional is r with what validates s; without s it is r.
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

// confirmedBy tells whether a 304 is about s (RFC 9111 §4.3.4).
func (s *stored) confirmedBy(h http.Header) bool {
	tag := h.Get("Etag")
	return tag == "" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(s.header.Get("Etag"), "W/")
}

// renewed is s with the headers of a 304 (RFC 9111 §3.2).
func (s *stored) renewed(h http.Header, sent, received time.Time) *stored {
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
