package server

import (
	"net/http"
	"slices"
)

// crossOrigin lets pages of the origins that the operator named read what is
// answered, and answers their browsers' question whether they may ask at all.
// It reports whether that was the request.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) (done bool) {
	origins := r.Header["Origin"]
	if len(origins) != 1 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(s.options.AllowedOrigins, origins[0]) && !slices.Contains(s.options.AllowedOrigins, "*") {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Set("Access-Control-Expose-Headers", headerSession)
	if r.Method != http.MethodOptions || !ServesHost(r, s.options.AllowedHosts) {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" && len(asked) <= 4096 {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
