package server

import (
	"cmp"
	"context"
	"net/http"
)

// Policy is what can change of Options while a server serves: who may ask, in which
// form, and what sources see of it. Its fields are those of [Options].
type Policy struct {
	AllowedOrigins []string
	AllowedHosts   []string
	Authenticate   func(*http.Request) (ctx context.Context, caller string, err error)
	ForwardHeaders []string
	MaxBody        int64
	PageSize       int
}

// SetPolicy replaces the options that p has, all at once and for requests that
// come from then on. A connection to stdio keeps its bound of messages.
func (s *Server) SetPolicy(p Policy) {
	o := *s.options.Load()
	o.AllowedOrigins, o.AllowedHosts, o.Authenticate, o.ForwardHeaders = p.AllowedOrigins, p.AllowedHosts, p.Authenticate, p.ForwardHeaders
	o.MaxBody = cmp.Or(max(p.MaxBody, 0), defaultBody)
	o.PageSize = cmp.Or(max(p.PageSize, 0), maxPageTools)
	s.options.Store(&o)
}
