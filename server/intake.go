package server

import (
	"cmp"
	"net/http"
	"sync"
)

// intake is what the bytes of a message hold of the quota until its request is
// over; nil: so little that it is not counted.
type intake struct {
	server  *Server
	account account

	mu   sync.Mutex
	took int64
	kept bool // the request outlives the exchange that it came with
}

// uncounted is the size of a message that costs no more than its headers may.
const uncounted = 16 << 10

// reserve makes room for a message, waiting for others to be done. It
// is asked for once, with all that the message may have: of two that wait for
// each other's bytes neither would ever be read.
func (s *Server) reserve(r *http.Request, limit int64) (*intake, error) {
	n := limit
	if r.ContentLength >= 0 {
		n = r.ContentLength
	}
	in := &intake{server: s, account: accountOf(cmp.Or(callerOf(r), first(r.Header, headerSession)), r)}
	took, err := s.incoming.take(r.Context(), in.account, n, false, s.options.ReadTimeout)
	in.took = took
	s.thrift.saw(took)
	return in, err
}

// settle gives back what the message did not need.
func (in *intake) settle(n int64) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.took > n {
		in.server.incoming.give(in.account, in.took-n)
		in.took = n
	}
}

// keep lets what was taken outlive the exchange; the returned function gives it
// back.
func (in *intake) keep() (done func()) {
	if in == nil {
		return func() {}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept = true
	return in.giveBack
}

// done ends the exchange.
func (in *intake) done() {
	if in == nil {
		return
	}
	in.mu.Lock()
	kept := in.kept
	in.mu.Unlock()
	if !kept {
		in.giveBack()
	}
}

func (in *intake) giveBack() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.server.incoming.give(in.account, in.took)
	in.took = 0
}
