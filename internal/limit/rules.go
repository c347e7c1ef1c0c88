package limit

import (
	"path"
	"slices"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
)

// rules are those in force. They do not change, but for what was looked up.
type rules struct {
	all      []Rule
	subjects []subject

	mu    sync.RWMutex
	tools map[toolName][]*subject // that are about them
}

// toolName names a tool in a catalog; empty: there is none.
type toolName struct{ source, name string }

// subject is what rules count together: calls of the same tools, by each caller or by
// all. Every subject counts for itself. Of its rules that are about a caller one counts
// for each kind of limit: of those that say most exactly who it is the most generous.
type subject struct {
	tool  string
	rules []Rule
	names [kinds]string // by which calls are counted
}

// kind is what of a call is counted.
type kind int

const (
	concurrentKind kind = iota // first: a place is given back
	rateKind
	dayKind
	kinds
)

func (k kind) String() string { return [...]string{"concurrent", "rate", "day"}[k] }

func newRules(all []Rule) *rules {
	r := &rules{all: all, tools: map[toolName][]*subject{}}
	for _, rule := range all {
		i := -1
		if !rule.Shared { // each shared one is a subject of its own
			i = slices.IndexFunc(r.subjects, func(s subject) bool { return s.tool == rule.Tool && !s.rules[0].Shared })
		}
		if i < 0 {
			i = len(r.subjects)
			s := subject{tool: rule.Tool}
			for k := range kinds {
				s.names[k] = k.String() + " " + rule.Tool
				if rule.Shared {
					s.names[k] += " of " + rule.Who.String()
				}
			}
			r.subjects = append(r.subjects, s)
		}
		r.subjects[i].rules = append(r.subjects[i].rules, rule)
	}
	return r
}

// about returns the subjects that are about a tool; of nil those that are about
// everything.
func (r *rules) about(t *gateway.Tool, names func(*gateway.Tool) []string) []*subject {
	var is toolName
	if t != nil {
		is = toolName{t.Source(), t.Name()}
	}
	r.mu.RLock()
	about, ok := r.tools[is]
	r.mu.RUnlock()
	if ok {
		return about
	}
	var called []string
	switch {
	case t == nil:
	case names != nil:
		called = names(t)
	default:
		called = []string{t.Name(), t.Source() + "/" + t.Name()}
	}
	for i := range r.subjects {
		s := &r.subjects[i]
		if s.tool == "" || slices.ContainsFunc(called, func(name string) bool { ok, _ := path.Match(s.tool, name); return ok }) {
			about = append(about, s)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools[is] = about
	return about
}

// demands appends the limits that a call counts against: first those of calls at a
// time, of which there are places.
func demands(to []demand, c *caller, about []*subject) (all []demand, places int) {
	for k := range kinds {
		for _, s := range about {
			if rule := s.of(c.who, k); rule != nil {
				to = append(to, s.demand(rule, c, k))
			}
		}
		if k == concurrentKind {
			places = len(to)
		}
	}
	return to, places
}

func (s *subject) demand(r *Rule, c *caller, k kind) demand {
	d := demand{account: account{limit: s.names[k]}, kind: k}
	if !r.Shared {
		d.caller = c.id
	}
	switch k {
	case rateKind:
		d.most, d.interval = r.Rate.Burst, r.Rate.interval()
	case dayKind:
		d.most = r.Day
	default:
		d.most = r.Concurrent
	}
	return d
}

// of returns the rule that counts for a caller; nil: there is no limit.
func (s *subject) of(c *auth.Caller, k kind) *Rule {
	best := pick(s.rules, c, func(r *Rule) float64 {
		switch k {
		case rateKind:
			return r.Rate.generosity()
		case dayKind:
			return float64(r.Day)
		default:
			return float64(r.Concurrent)
		}
	})
	if best == nil || k == rateKind && best.Rate.Calls < 0 || k == dayKind && best.Day < 0 || k == concurrentKind && best.Concurrent < 0 {
		return nil
	}
	return best
}

// generosity orders rates: by calls in a time, then by burst.
func (r Rate) generosity() float64 {
	if r.Calls <= 0 {
		return float64(r.Calls)
	}
	return float64(r.Calls)/r.Per.Seconds() + float64(r.Burst)/(float64(maxRate)*float64(time.Hour/time.Second)*2)
}

// pick returns the rule that counts for a caller, of those for which n is not 0;
// negative: Unlimited.
func pick(all []Rule, c *auth.Caller, n func(*Rule) float64) (best *Rule) {
	for i := range all {
		r := &all[i]
		is := n(r)
		if is == 0 || !r.Who.Matches(c) {
			continue
		}
		if best == nil || r.Who.Exactness() > best.Who.Exactness() ||
			r.Who.Exactness() == best.Who.Exactness() && n(best) > 0 && (is < 0 || is > n(best)) {
			best = r
		}
	}
	return best
}

// Allowance is what one caller may hold of the server. 0: nothing is said about it;
// Unlimited: the operator takes a limit away that others have.
type Allowance struct {
	Bytes    int64
	Sessions int64
	Tasks    int64
}

func (r *rules) allowance(c *auth.Caller) (a Allowance) {
	for _, one := range [...]struct {
		to *int64
		n  func(*Rule) int64
	}{
		{&a.Bytes, func(r *Rule) int64 { return r.Bytes }},
		{&a.Sessions, func(r *Rule) int64 { return r.Sessions }},
		{&a.Tasks, func(r *Rule) int64 { return r.Tasks }},
	} {
		if best := pick(r.all, c, func(r *Rule) float64 { return float64(one.n(r)) }); best != nil {
			*one.to = one.n(best)
		}
	}
	return a
}
