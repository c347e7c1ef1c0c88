package server

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// peer is what is remembered of one client of the legacy era, between its
// initialize and the end of its session or conversation.
type peer struct {
	level atomic.Int32 // the lightest log message that it wants, see levelOf

	mu           sync.Mutex // guards all below; nothing blocks under it
	revision     string     // empty: it has not said initialize yet
	capabilities []byte
	client       []byte // what it says of itself
	flights      map[*flight]struct{}
	questions    map[string]chan message // asked and not answered yet, by id
	asked        uint64
	watched      map[string]struct{} // the resources that it subscribed to
}

// flight is a request under way.
type flight struct {
	id        []byte
	cancel    context.CancelFunc
	cancelled bool // guarded by peer.mu
}

// The bounds of what one client can make the server remember.
const (
	maxWatched   = 1000
	maxQuestions = 100
)

func newPeer() *peer {
	p := &peer{flights: map[*flight]struct{}{}, questions: map[string]chan message{}, watched: map[string]struct{}{}}
	p.level.Store(defaultLevel)
	return p
}

// greet takes over what initialize said.
func (p *peer) greet(revision string, capabilities, client []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revision, p.capabilities, p.client = revision, capabilities, client
}

func (p *peer) who() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client
}

func (p *peer) speaks() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

func (p *peer) can() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capabilities
}

// takeOff counts a request among those under way, unless there are too many.
func (p *peer) takeOff(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.flights) >= maxFlights {
		return false
	}
	p.flights[f] = struct{}{}
	return true
}

// board counts a request whose number the door bounds.
func (p *peer) board(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights[f] = struct{}{}
}

// land ends a flight and reports whether its answer is still wanted.
func (p *peer) land(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flights, f)
	return !f.cancelled
}

// wants reports whether anything may be sent for a flight.
func (p *peer) wants(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !f.cancelled
}

// cancel ends the request with that id. From now on nothing is sent for it.
func (p *peer) cancel(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.flights {
		if sameID(f.id, id) {
			f.cancelled = true
			f.cancel()
		}
	}
}

// question opens a question and returns its id, and where its answer comes.
func (p *peer) question() (id string, answer <-chan message, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.questions) >= maxQuestions {
		return "", nil, nil
	}
	p.asked++
	id = "tenon-" + strconv.FormatUint(p.asked, 10)
	c := make(chan message, 1)
	p.questions[id] = c
	return id, c, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.questions, id)
	}
}

// answered takes the client's answer to a question. One that nobody asked, or
// a second answer, is dropped.
func (p *peer) answered(m message) {
	if len(m.id) < 2 || m.id[0] != '"' {
		return
	}
	id := string(plain(m.id))
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.questions[id]; c != nil {
		delete(p.questions, id)
		c <- m
	}
}

// watch remembers a subscription, unless there are too many.
func (p *peer) watch(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.watched[uri]; !known && len(p.watched) >= maxWatched {
		return false
	}
	p.watched[uri] = struct{}{}
	return true
}

func (p *peer) unwatch(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watched, uri)
}

func (p *peer) watches(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.watched[uri]
	return ok
}

// levelOf ranks the levels of log messages from 1; 0 is no level.
func levelOf(l tenon.LoggingLevel) int32 {
	switch l {
	case "debug":
		return 1
	case "info":
		return defaultLevel
	case "notice":
		return 3
	case "warning":
		return 4
	case "error":
		return 5
	case "critical":
		return 6
	case "alert":
		return 7
	case "emergency":
		return 8
	}
	return 0
}

// defaultLevel is info: what a legacy client hears that never said what it
// wants to hear.
const defaultLevel = 2

// able reports whether capabilities of a client admit a kind of question. An
// elicitation that names no mode admits forms.
func able(capabilities []byte, k tenon.InputKind) bool {
	doc, err := rawjson.Parse(capabilities)
	if err != nil {
		return false
	}
	has := func(path string) bool { return doc.Kind(doc.Pointer(path)) == rawjson.Object }
	switch k {
	case tenon.ElicitForm:
		return has("/elicitation") && (has("/elicitation/form") || !has("/elicitation/url"))
	case tenon.ElicitURL:
		return has("/elicitation/url")
	case tenon.Sampling:
		return has("/sampling")
	case tenon.Roots:
		return has("/roots")
	}
	return false
}
