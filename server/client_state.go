package server

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// clientState is the state of a client of the revisions with initialize, until
// its session or conversation ends.
type clientState struct {
	level atomic.Int32 // the lightest log message that it wants, see levelOf

	mu           sync.Mutex // guards all below; nothing blocks under it
	revision     string     // empty: it has not said initialize yet
	capabilities []byte
	client       []byte // what it says of itself
	flights      map[*inFlight]struct{}
	questions    map[string]chan jsonrpc.Message // asked and not answered yet, by id
	asked        uint64
	watched      map[string]struct{} // the resources that it subscribed to
}

// inFlight is a request in progress.
type inFlight struct {
	id        []byte
	cancel    context.CancelFunc
	cancelled bool // guarded by peer.mu
}

func newClientState() *clientState {
	p := &clientState{flights: map[*inFlight]struct{}{}, questions: map[string]chan jsonrpc.Message{}, watched: map[string]struct{}{}}
	p.level.Store(defaultLevel)
	return p
}

// initialize takes over what initialize said.
func (p *clientState) initialize(revision string, capabilities, client []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revision, p.capabilities, p.client = revision, capabilities, client
}

func (p *clientState) who() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client
}

func (p *clientState) speaks() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

func (p *clientState) can() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capabilities
}

// register adds a request to those in progress, unless there are too many.
func (p *clientState) register(f *inFlight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.flights) >= maxFlights {
		return false
	}
	p.flights[f] = struct{}{}
	return true
}

// registerNumbered adds a request whose number the transport bounds.
func (p *clientState) registerNumbered(f *inFlight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights[f] = struct{}{}
}

// unregister removes a request and reports whether its response is still wanted.
func (p *clientState) unregister(f *inFlight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flights, f)
	return !f.cancelled
}

// wants reports whether messages can still be sent for a request.
func (p *clientState) wants(f *inFlight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !f.cancelled
}

// cancel ends the request with that id. Nothing is sent for it afterwards.
func (p *clientState) cancel(id []byte) {
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
func (p *clientState) question() (id string, answer <-chan jsonrpc.Message, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.questions) >= maxQuestions {
		return "", nil, nil
	}
	p.asked++
	id = "tenon-" + strconv.FormatUint(p.asked, 10)
	c := make(chan jsonrpc.Message, 1)
	p.questions[id] = c
	return id, c, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.questions, id)
	}
}

// answered receives the client's response to a server request. An unexpected or
// a second one is dropped.
func (p *clientState) answered(m jsonrpc.Message) {
	if len(m.ID) < 2 || m.ID[0] != '"' {
		return
	}
	id := string(jsonrpc.Plain(m.ID))
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.questions[id]; c != nil {
		delete(p.questions, id)
		c <- m
	}
}

// watch adds a subscription, unless there are too many.
func (p *clientState) watch(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.watched[uri]; !known && len(p.watched) >= maxWatched {
		return false
	}
	p.watched[uri] = struct{}{}
	return true
}

func (p *clientState) unwatch(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watched, uri)
}

func (p *clientState) watches(uri string) bool {
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

// defaultLevel is info, for clients of older revisions that never set a level.
const defaultLevel = 2

// able reports whether the capabilities of a client include a kind of input
// request. An elicitation capability without modes includes forms.
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
