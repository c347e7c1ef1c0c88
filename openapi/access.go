package openapi

import (
	"maps"
	"slices"
	"strings"
)

// Access is where the operations of a document are and what they ask for, for
// people.
type Access struct {
	BaseURL     string   // of the operations that name no server of their own; empty: there is none
	Credentials []string // the schemes that operations demand, each with its kind and the flag that gives it
}

// Access tells it of the last Load that went well.
func (s *Source) Access() Access {
	s.homes.mu.Lock()
	tell := s.homes.access
	s.homes.mu.Unlock()
	if tell == nil {
		return Access{}
	}
	return tell()
}

// access collects what Access tells.
func (a *api) access(all []found) Access {
	access := Access{}
	if a.base != nil {
		access.BaseURL = public(a.base)
	}
	demanded := map[string]bool{}
	whole := a.doc.root.get("security")
	for _, f := range all {
		for _, together := range nearest(f.op.node.get("security"), whole).each() {
			for name := range together.each() {
				demanded[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(demanded)) {
		s := a.schemes[name]
		if s == nil {
			continue
		}
		text := s.String() + ": " + s.flag(&plan{base: a.base})
		if about := strings.TrimSpace(s.node.strAt("description")); about != "" {
			text += ". " + cut(about, maxTitle)
		}
		access.Credentials = append(access.Credentials, text)
	}
	return access
}
