package flowmcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// Neither a changed file nor a caller decides where a server parameter is sent.
// It is sent only to the origins of the roots at the first load, or to those in
// Options.AuthOrigins.

// destinations are the allowed origins of a source's server parameters, by
// parameter. The first load sets them.
type destinations struct {
	mu    sync.Mutex
	known map[string]map[string]bool // nil before the first load
}

// fix stores the origins of the first load and returns a func that reports
// whether an origin is new.
func (d *destinations) fix(now map[string]map[string]bool) (isNew func(name, place string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = now
	}
	known := d.known
	return func(name, place string) bool { return !known[name][place] }
}

// kindDestination is the kind of diagnostics about destinations of server parameters.
const kindDestination = "place"

// checkDestinations compares the origins of the files with the allowed ones and reports
// which requests are refused.
func (b *builder) checkDestinations(d *destinations, files []*format.File) {
	if b.options.BaseURL != "" { // the operator's choice; files cannot change it
		return
	}
	now := map[string]map[string]bool{}
	for _, f := range files {
		for name := range f.ServerParams {
			if now[name] == nil {
				now[name] = map[string]bool{}
			}
			maps.Copy(now[name], fileDestinations(f, b.options))
		}
	}
	isNew, why := d.fix(now), "which is not an origin of the first load"
	if len(b.options.AuthOrigins) > 0 {
		isNew, why = func(_, place string) bool { return !b.options.namesOrigin(place) }, "which --auth-origin does not include"
	}
	for _, f := range files {
		b.moved[f] = map[string]string{}
		places := slices.Sorted(maps.Keys(fileDestinations(f, b.options)))
		for _, name := range slices.Sorted(maps.Keys(f.ServerParams)) {
			for _, place := range places {
				if b.moved[f][name] != "" || !isNew(name, place) {
					continue
				}
				b.moved[f][name] = place
				b.diagnose(f, 0, kindDestination, fmt.Sprintf("%s would be sent to %s, %s: such calls are refused", name, place, why),
					"if intended, allow it with --auth-origin "+place)
			}
		}
	}
}

// fileDestinations returns the origins to which the values of the file's server
// parameters may be sent.
func fileDestinations(f *format.File, o *Options) map[string]bool {
	all := map[string]bool{}
	for _, t := range f.Tools {
		if t.Broken {
			continue
		}
		for _, place := range t.RootOrigins(o.Env) {
			all[place] = true
		}
	}
	if f.Handlers.Line > 0 && o.handsOut(f) { // handlers can put it into any request
		for _, host := range f.Hosts {
			all["https://"+host] = true
		}
	}
	return all
}

// originOf returns the origin of a URL.
func originOf(u *url.URL) string { return format.OriginPattern(u.Scheme + "://" + u.Host) }

// covers reports whether an origin matches a pattern.
func covers(pattern, origin string) bool {
	p, err := url.Parse(strings.ReplaceAll(pattern, "*", "x--any"))
	u, err2 := url.Parse(origin)
	if err != nil || err2 != nil || p.Scheme != u.Scheme || format.PortOf(p) != format.PortOf(u) {
		return false
	}
	return format.MatchesHost(strings.ReplaceAll(p.Hostname(), "x--any", "*"), u.Hostname())
}

// namesOrigin reports whether one of Options.AuthOrigins matches a pattern.
func (o *Options) namesOrigin(pattern string) bool {
	return slices.ContainsFunc(o.AuthOrigins, func(named string) bool { return covers(pattern, format.OriginPattern(named)) })
}

// checkOrigins validates Options.AuthOrigins.
func (o *Options) checkOrigins() error {
	for _, text := range o.AuthOrigins {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path+u.RawQuery+u.Fragment != "" {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth-origin " + text, Err: errors.New("an origin has the form https://host or https://host:port")}
		}
	}
	return nil
}

// checkDestination refuses a request that would send the values of server parameters to
// an origin that neither the operator nor the file, as first loaded, has
// chosen.
func (t tool) checkDestination(names []string, address string, o *Options) error {
	if len(names) == 0 || o.BaseURL != "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return requestError("the address is not a valid URL")
	}
	origin := originOf(u)
	if len(o.AuthOrigins) > 0 && o.namesOrigin(origin) {
		return nil
	}
	if err := t.moved.check(t.File, names); err != nil {
		return err
	}
	if len(o.AuthOrigins) > 0 || !slices.ContainsFunc(t.RootOrigins(o.Env), func(place string) bool { return covers(place, origin) }) {
		return destinationError("an argument would choose the origin that receives "+names[0]+": "+origin, origin)
	}
	return nil
}

// checkHandOut is checkDestination for handlers that receive the values themselves.
func (t tool) checkHandOut(address string, o *Options) error {
	names := slices.Sorted(maps.Keys(t.File.ServerParams))
	if err := t.moved.check(t.File, names); err != nil {
		return err
	}
	if !t.HasFreeHost() || format.AuthorityIn(address) == "" {
		return nil
	}
	return t.checkDestination(names, address, o)
}

// check returns an error where the value of one of these server parameters
// would be sent to a new origin.
func (m movedParameters) check(f *format.File, names []string) error {
	for _, name := range names {
		if place := m[f][name]; place != "" {
			return destinationError("the schema file sends "+name+" to a new origin, "+place, place)
		}
	}
	return nil
}

func destinationError(why, place string) error {
	return &tenon.Error{Code: tenon.CodeAuthentication, Message: "not sent: " + why + "; if intended, the operator can allow it with --auth-origin " + place}
}
