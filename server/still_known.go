package server

import (
	"context"
	"net/http"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// whileKnown returns a context that ends with ctx, and once a new request with the
// credential of r would be refused or be somebody else's: a stream that a client
// opens and leaves open must not outlive the token, nor a key that the operator took
// back. Whoever cannot be judged is refused, as a request is.
func (s *Server) whileKnown(ctx context.Context, r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if s.options.Load().Authenticate == nil || r == nil {
		return ctx, cancel
	}
	caller := callerOf(r)
	incident.Go(s.log, "asking again who has a stream open", func() {
		defer cancel()
		again := time.NewTicker(beat)
		defer again.Stop()
		for {
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
			if !s.known(r, caller) {
				s.log.Debug("a stream ends: its caller is not known any more", "remote", r.RemoteAddr)
				return
			}
		}
	}, nil)
	return ctx, cancel
}

// known reports whether a request like r would be caller's now.
func (s *Server) known(r *http.Request, caller string) bool {
	authenticate := s.options.Load().Authenticate
	if authenticate == nil {
		return true
	}
	_, now, err := authenticate(r)
	return err == nil && now == caller
}
