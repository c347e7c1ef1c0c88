package flowmcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
)

// The rule of this file: neither a file that changes nor a caller decides where
// a server parameter goes. It goes to the origins of the roots that the first
// load knew, or to those that Options.AuthOrigins names.

// destinations are the origins to which the server parameters of a source may
// go, by their names. The first load fills them in.
type destinations struct {
	mu    sync.Mutex
	known map[string]map[string]bool // nil: nothing was loaded yet
}

// settle keeps the places of the first load, and returns those of now that were
// not there then.
func (d *destinations) settle(now map[string]map[string]bool) (isNew func(name, place string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = now
	}
	known := d.known
	return func(name, place string) bool { return !known[name][place] }
}

// kindPlace is the kind of a diagnostic about where a server parameter goes.
const kindPlace = "place"

// places compares where the server parameters of the files go with where they
// may, and tells what calls are refused for that.
func (b *offerer) places(d *destinations, files []*file) {
	if b.options.BaseURL != "" { // the operator's: no file moves it
		return
	}
	now := map[string]map[string]bool{}
	for _, f := range files {
		for name := range f.server {
			if now[name] == nil {
				now[name] = map[string]bool{}
			}
			maps.Copy(now[name], f.destinations(b.options))
		}
	}
	isNew, why := d.settle(now), "where it did not go at first"
	if len(b.options.AuthOrigins) > 0 {
		isNew, why = func(_, place string) bool { return !b.options.namesOrigin(place) }, "which --auth-origin does not name"
	}
	for _, f := range files {
		f.moved = map[string]string{}
		places := slices.Sorted(maps.Keys(f.destinations(b.options)))
		for _, name := range slices.Sorted(maps.Keys(f.server)) {
			for _, place := range places {
				if f.moved[name] != "" || !isNew(name, place) {
					continue
				}
				f.moved[name] = place
				b.fault(f, 0, kindPlace, fmt.Sprintf("%s would go to %s, %s: calls that send it there are refused", name, place, why),
					"if that is meant, --auth-origin "+place+" accepts it")
			}
		}
	}
}

// destinations are the origins to which the values of the file's server
// parameters may go.
func (f *file) destinations(o *Options) map[string]bool {
	all := map[string]bool{}
	for _, t := range f.routes {
		if t.broken {
			continue
		}
		for _, place := range t.homes(o.Env) {
			all[place] = true
		}
	}
	if f.handlers.line > 0 && o.handsOut(f) { // they can put it into any request
		for _, host := range f.hosts {
			all["https://"+host] = true
		}
	}
	return all
}

// maxHomes bounds the origins of one root that has several marks.
const maxHomes = 1000

// homes are the origins that root can be, with the values that the file gives
// its marks: an asterisk stands for a label that code puts in. A mark that takes
// whatever the caller says makes none.
func (t *route) homes(env func(string) (string, bool)) []string {
	texts := []string{""}
	for _, p := range splitPath(authorityIn(t.file.main.get("root").str()), t, t.file.server) {
		alternatives, ok := t.alternatives(p, env)
		if !ok || len(texts)*len(alternatives) > maxHomes {
			return nil
		}
		var longer []string
		for _, text := range texts {
			for _, a := range alternatives {
				longer = append(longer, text+a)
			}
		}
		texts = longer
	}
	var places []string
	for _, text := range texts {
		if place := originPattern(text); place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// choosesHome reports whether a caller's free text stands in the host of root.
func (t *route) choosesHome() bool {
	return slices.ContainsFunc(splitPath(authorityIn(t.file.main.get("root").str()), t, t.file.server), func(p piece) bool {
		_, ok := t.alternatives(p, func(string) (string, bool) { return "", true })
		return !ok
	})
}

// alternatives are the texts that a piece of root can be. ok: there are no
// others.
func (t *route) alternatives(p piece, env func(string) (string, bool)) (texts []string, ok bool) {
	switch p.kind {
	case literalPiece:
	case serverPiece:
		value, _ := env(p.text)
		return []string{value}, true
	case userPiece:
		in := t.inserted(p.text)
		switch {
		case !in.user():
			text, _ := (&values{env: env}).text(in)
			return []string{text}, true
		case in.whole() && in.z.primitive == "enum" && !in.z.free:
			return in.z.members, true
		}
		return nil, false
	}
	return []string{p.text}, true
}

var beforePath = regexp.MustCompile(`^[A-Za-z]+://[^/?#\\]*`)

// authorityIn is scheme://host:port of a text that may have marks in it.
func authorityIn(root string) string { return beforePath.FindString(root) }

// originPattern is scheme://host:port with an asterisk for each mark in the
// host; the port is left out where it is the usual one. Empty: it is none.
func originPattern(text string) string {
	scheme, host, ok := strings.Cut(strings.ToLower(inHostName.ReplaceAllString(text, "*")), "://")
	if !ok {
		return ""
	}
	host = inLabel.ReplaceAllString(host[strings.LastIndexByte(host, '@')+1:], "*")
	host, port, _ := strings.Cut(host, ":")
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	if port != "" {
		port = ":" + port
	}
	return scheme + "://" + strings.TrimSuffix(host, ".") + port
}

// originOf is originPattern of a URL.
func originOf(u *url.URL) string { return originPattern(u.Scheme + "://" + u.Host) }

// covers reports whether an origin is one of a pattern.
func covers(pattern, origin string) bool {
	p, err := url.Parse(strings.ReplaceAll(pattern, "*", "x--any"))
	u, err2 := url.Parse(origin)
	if err != nil || err2 != nil || p.Scheme != u.Scheme || portOf(p) != portOf(u) {
		return false
	}
	return fits(strings.ReplaceAll(p.Hostname(), "x--any", "*"), u.Hostname())
}

// namesOrigin reports whether one of Options.AuthOrigins is of a pattern.
func (o *Options) namesOrigin(pattern string) bool {
	return slices.ContainsFunc(o.AuthOrigins, func(named string) bool { return covers(pattern, originPattern(named)) })
}

// checkOrigins refuses what is no origin.
func (o *Options) checkOrigins() error {
	for _, text := range o.AuthOrigins {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path+u.RawQuery+u.Fragment != "" {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth-origin " + text, Err: errors.New("an origin looks like https://host or https://host:port")}
		}
	}
	return nil
}

// mayCarry refuses a request with the values of server parameters to a place
// that neither the operator nor the file as it was first read has chosen.
func (t *route) mayCarry(names []string, address string, o *Options) error {
	if len(names) == 0 || o.BaseURL != "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return refused("the address is no URL")
	}
	origin := originOf(u)
	if len(o.AuthOrigins) > 0 && o.namesOrigin(origin) {
		return nil
	}
	if err := t.file.strayed(names); err != nil {
		return err
	}
	if len(o.AuthOrigins) > 0 || !slices.ContainsFunc(t.homes(o.Env), func(place string) bool { return covers(place, origin) }) {
		return notThere("an argument would choose the place to which "+names[0]+" goes, "+origin, origin)
	}
	return nil
}

// mayHandOut is mayCarry for code that gets the values themselves.
func (t *route) mayHandOut(address string, o *Options) error {
	names := slices.Sorted(maps.Keys(t.file.server))
	if err := t.file.strayed(names); err != nil {
		return err
	}
	if !t.choosesHome() || authorityIn(address) == "" {
		return nil
	}
	return t.mayCarry(names, address, o)
}

// strayed is an error where the value of one of these server parameters would go
// to another place than before.
func (f *file) strayed(names []string) error {
	for _, name := range names {
		if place := f.moved[name]; place != "" {
			return notThere("the schema file names another place for "+name+" than before, "+place, place)
		}
	}
	return nil
}

func notThere(why, place string) error {
	return &tenon.Error{Code: tenon.CodeAuthentication, Message: "nothing was sent: " + why + "; if that is meant, the operator accepts it with --auth-origin " + place}
}
