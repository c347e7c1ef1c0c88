package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/gateway"
)

// Options are the choices of New. The zero value works.
type Options struct {
	// Name, Title, Version and Instructions are the server's Identity until
	// SetIdentity replaces it.
	Name, Title, Version, Instructions string

	Logger *slog.Logger // nil: nothing is logged
	// Observer is told of requests and sessions; nil: nobody is.
	Observer Observer
	// Refused is told of what is refused before it is a call, in the goroutine of the
	// request, and must not block; nil: nobody is. An Observer is told of the requests
	// among them, too.
	Refused func(RefusalRecord)

	// AllowedOrigins are the web origins whose pages may send requests, as
	// "https://host:port"; "*" allows all. On a loopback address, pages of
	// loopback origins may send them, too.
	AllowedOrigins []string
	// AllowedHosts are the host names under which the server may be addressed,
	// without port; "*" allows any. The address that was called is always one,
	// and on a loopback address the names of loopback are.
	AllowedHosts []string

	// Authenticate says who sends a request, after its host and origin were
	// found to be allowed and before its body is read; nil: everybody is served.
	// Its caller is the subject of what the request does, and a session belongs
	// to the caller that opened it. The request goes on in ctx, which may say more
	// of the caller to sources. An error is answered with 401 and its text, or as it
	// says if it is a Challenge.
	Authenticate func(*http.Request) (ctx context.Context, caller string, err error)

	// ForwardHeaders are the headers of a client's HTTP request that sources see
	// in tenon.Call.Header; empty: none. Who sends one is the subject that its
	// value makes.
	ForwardHeaders []string

	// Allowance says what the caller of a request may hold of what all share; nil: as
	// much as everybody.
	Allowance func(context.Context) Allowance

	MaxBody       int64 // bytes of a message; 0: 4 MiB
	MaxConcurrent int   // calls at a time, in all; 0: 256
	// MaxPerCaller is how many of them one caller may have at a time: a subject,
	// else a session, else an address. 0: half of them.
	MaxPerCaller int
	// MaxInFlight bounds the bytes of messages that are read, and of answers
	// from the first byte that a source reads of them until they are written, in
	// halves; 0: 256 MiB. One caller may have half of each, and waits for the
	// rest.
	MaxInFlight  int64
	MaxListeners int           // subscriptions and standing streams at a time, of which one caller may have half; 0: 1000
	PageSize     int           // tools of a page of a list; 0: 500
	ReadTimeout  time.Duration // for a body that does not come at once; 0: 30 seconds
	WriteTimeout time.Duration // for a step of an answer, and a MiB of it: who reads slower is cut; 0: 30 seconds

	// NoSessions serves the revisions before 2026-07-28 without sessions: no
	// id, no stream to come back to, no questions. It is legal everywhere, and
	// what several replicas behind any load balancer need.
	NoSessions  bool
	MaxSessions int           // sessions at a time; 0: 10,000
	SessionIdle time.Duration // for how long an unused session lives; 0: 30 minutes
	// PollAfter closes the event stream of a legacy call after that time; the
	// client then comes back for the rest. 0: a stream lasts as long as the
	// call does.
	PollAfter time.Duration

	// Secret authenticates what a client hands back: cursors and the state of
	// a request of several rounds. Replicas share it. Empty: a random one.
	Secret []byte

	// TaskAfter is how long a call may take before a client of 2026-07-28 that
	// can wait for a task is given one; 0: 10 seconds, negative: never.
	TaskAfter time.Duration
	// TaskTools are tools that nobody should wait for: a client of 2026-07-28
	// that cannot do tasks is refused.
	TaskTools []string

	Drain time.Duration // how long calls may take to end once stdio's input ended; 0: 10 seconds
}

// Server serves a gateway's catalog. It is safe for concurrent use.
type Server struct {
	gateway *gateway.Gateway
	log     *slog.Logger
	options atomic.Pointer[Options]

	identity atomic.Pointer[encodedIdentity]

	jsonType []string // the value of Content-Type, shared by all answers

	calls    quota
	incoming quota // bytes of messages
	outgoing quota // bytes of answers
	thrift   memoryReleaser
	paced    pacer

	answers sync.Pool // of *answer
	records sync.Pool // of *RequestRecord, to be filled again
	cursors cursorKey
	states  stateKey
	callers [32]byte // keys the subjects that forwarded headers make

	listeners quota
	standers  quota // standing streams
	sessions  sessions
	tasks     tasks
	leaving   atomic.Bool        // readiness is false
	closing   chan struct{}      // closed by Shutdown
	work      context.Context    //nolint:containedctx // of calls that outlive their clients
	cutShort  context.CancelFunc // ends work
	closeOnce sync.Once

	listing  atomic.Pointer[listing]
	renewing sync.Mutex // held by who makes a new listing
}

// defaultBody is how many bytes a message may have.
const defaultBody = 4 << 20

// New returns a server for g. It opens nothing.
func New(g *gateway.Gateway, o Options) *Server {
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), defaultBody)
	o.MaxConcurrent = cmp.Or(max(o.MaxConcurrent, 0), 256)
	o.TaskAfter = cmp.Or(o.TaskAfter, 10*time.Second)
	o.Drain = cmp.Or(max(o.Drain, 0), 10*time.Second)
	o.MaxInFlight = cmp.Or(max(o.MaxInFlight, 0), 256<<20)
	o.PageSize = cmp.Or(max(o.PageSize, 0), maxPageTools)
	o.boundSessions()
	o.ReadTimeout = cmp.Or(max(o.ReadTimeout, 0), 30*time.Second)
	o.WriteTimeout = cmp.Or(max(o.WriteTimeout, 0), 30*time.Second)
	s := &Server{
		gateway: g, log: o.Logger,
		closing: make(chan struct{}), jsonType: []string{"application/json"},
	}
	s.options.Store(&o)
	s.tasks.init()
	s.sessions.init(&o)
	s.sessions.told = func(v *session) { s.sessionEnded(v.clientState, v.opened, false) }
	s.standers.init(int64(o.MaxSessions), 0)
	s.calls.init(int64(o.MaxConcurrent), int64(o.MaxPerCaller))
	s.incoming.bytes, s.outgoing.bytes = true, true
	s.incoming.init(o.MaxInFlight/2, 0)
	s.incoming.queue = 16 // who waits holds next to nothing
	s.outgoing.init(o.MaxInFlight/2, 0)
	s.listeners.init(int64(o.MaxListeners), 0)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.SetIdentity(Identity{Name: o.Name, Title: o.Title, Version: o.Version, Instructions: o.Instructions})
	secret := o.Secret
	if len(secret) == 0 {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // never fails: see crypto/rand
	}
	s.cursors = sha256.Sum256(append([]byte("cursors "), secret...))
	s.callers = sha256.Sum256(append([]byte("callers "), secret...))
	s.states = sha256.Sum256(append([]byte("states "), secret...))
	s.work, s.cutShort = context.WithCancel(context.Background())
	return s
}

// List yields the pages of the tools that are in force, each as the result of
// tools/list in the newest revision.
func (s *Server) List() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		l := s.tools()
		q := &request{server: s, era: modern}
		for start, more := 0, true; more; {
			p := l.page(start)
			a := &answer{}
			a.open(q, nil)
			s.writePage(a, q, l, p)
			a.write(`}`)
			if !yield(a.flat()) {
				return
			}
			start, more = p.next, p.next > 0
		}
	}
}
