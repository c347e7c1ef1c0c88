package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
)

// MaxRules bounds the rules about what callers see.
const MaxRules = 512

// Rule is about callers and a part of the catalog.
type Rule struct {
	Text    string // as the operator wrote it
	Who     auth.Who
	Matches func(gateway.Entry) bool
}

// Need is a scope that the tokens of callers must have for a part of the tools.
type Need struct {
	Text    string
	Scope   string
	Matches func(gateway.Entry) bool
}

// Rules say who sees what. The zero value lets everybody see everything. They never
// change and are safe for concurrent use.
type Rules struct {
	// Allow: if there are any, a caller sees only what one of those about it matches.
	Allow []Rule
	// Deny: nobody sees what one of those about them matches.
	Deny []Rule
	// Public is what callers see who have not said who they are, and everybody else
	// beside what Allow gives them. With any of these, nil is such a caller, who has
	// nothing else.
	Public []Rule
	// Needs: a call needs the scopes of all that match its tool.
	Needs []Need
}

// Check refuses more rules than callers can be told apart by.
func (r *Rules) Check() error {
	if n := len(r.Allow) + len(r.Deny); n > MaxRules {
		return fmt.Errorf("%d rules say who may call what; at most %d are possible", n, MaxRules)
	}
	return nil
}

// Sees reports whether the caller sees an entry of the catalog. nil: the caller is
// not known.
func (r *Rules) Sees(c *auth.Caller, e gateway.Entry) bool {
	return r.match(c).sees(r, e)
}

// isPublic reports whether an entry is for callers who have not said who they are.
func (r *Rules) isPublic(e gateway.Entry) bool {
	return slices.ContainsFunc(r.Public, func(p Rule) bool { return p.Matches(e) })
}

// anonymous reports whether a caller has not said who it is, where others have to.
func (r *Rules) anonymous(c *auth.Caller) bool { return c == nil && len(r.Public) > 0 }

// Scopes are those that a call of the tool needs, in the order of the rules.
func (r *Rules) Scopes(e gateway.Entry) (all []string) {
	for i := range r.Needs {
		if n := &r.Needs[i]; !slices.Contains(all, n.Scope) && n.Matches(e) {
			all = append(all, n.Scope)
		}
	}
	return all
}

// Missing are the scopes of needed that a caller lacks. An API key needs none, and
// who is not known has none.
func Missing(c *auth.Caller, needed []string) (all []string) {
	if c != nil && c.Key != "" {
		return nil
	}
	for _, scope := range needed {
		if c == nil || !c.HasScope(scope) {
			all = append(all, scope)
		}
	}
	return all
}

// about are the rules that are about a caller, a bit for each: those of Allow first.
// Callers with the same ones see the same, those aside who have not said who they are.
type about struct {
	bits      [MaxRules / 64]uint64
	anonymous bool
}

func (r *Rules) match(c *auth.Caller) (a about) {
	a.anonymous = r.anonymous(c)
	for i := range r.Allow {
		if r.Allow[i].Who.Matches(c) {
			a.add(i)
		}
	}
	for i := range r.Deny {
		if r.Deny[i].Who.Matches(c) {
			a.add(len(r.Allow) + i)
		}
	}
	return a
}

func (a *about) add(i int) { a.bits[i/64] |= 1 << (i % 64) }

func (a *about) has(i int) bool { return a.bits[i/64]&(1<<(i%64)) != 0 }

func (a about) sees(r *Rules, e gateway.Entry) bool {
	for i := range r.Deny {
		if a.has(len(r.Allow)+i) && r.Deny[i].Matches(e) {
			return false
		}
	}
	if a.anonymous || r.isPublic(e) {
		return r.isPublic(e)
	}
	for i := range r.Allow {
		if a.has(i) && r.Allow[i].Matches(e) {
			return true
		}
	}
	return len(r.Allow) == 0
}

// id names what callers with these rules see. Other rules make other names: who sees
// by new ones begins anew with what was listed by the old.
func (a about) id(texts string) string {
	return texts + fmt.Sprintf("%x %t", a.bits, a.anonymous)
}

// texts stands for the rules in names.
func (r *Rules) texts() string {
	var b strings.Builder
	for _, list := range [][]Rule{r.Allow, r.Deny, r.Public} {
		for i := range list {
			fmt.Fprintf(&b, "%q ", list[i].Who.String()+" "+list[i].Text)
		}
		b.WriteByte('/')
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8]) + "."
}

// Apply returns a catalog in which each caller sees what the rules let it see of all.
// wrap makes what is served of a catalog, such as package search does; nil: itself.
func (r *Rules) Apply(all *gateway.Catalog, wrap func(*gateway.Catalog) *gateway.Catalog) *gateway.Catalog {
	if wrap == nil {
		wrap = func(c *gateway.Catalog) *gateway.Catalog { return c }
	}
	whole := wrap(all)
	if len(r.Allow)+len(r.Deny)+len(r.Public) == 0 {
		return whole
	}
	v := &views{rules: r, texts: r.texts(), of: func(a about) *gateway.Catalog {
		return wrap(all.Only(func(e gateway.Entry) bool { return a.sees(r, e) }))
	}}
	return whole.PerCaller(func(ctx context.Context) (*gateway.Catalog, string) { return v.view(auth.FromContext(ctx)) })
}

// Decision says what a caller can do with an entry, and why.
type Decision struct {
	Sees    bool
	Why     string   // it does not see it: the rule, or who would
	Missing []string // scopes that a call needs and the caller lacks
}

// Decide says what the caller can do with an entry; needed are the scopes of its tool.
func (r *Rules) Decide(c *auth.Caller, e gateway.Entry, needed []string) Decision {
	for i := range r.Deny {
		if d := &r.Deny[i]; d.Who.Matches(c) && d.Matches(e) {
			return Decision{Why: fmt.Sprintf("denied to %s by %s", d.Who, d.Text)}
		}
	}
	switch {
	case r.isPublic(e):
		return Decision{Sees: true, Missing: Missing(c, needed)}
	case r.anonymous(c):
		return Decision{Why: "not public"}
	}
	var others []string
	for i := range r.Allow {
		a := &r.Allow[i]
		if !a.Matches(e) {
			continue
		}
		if a.Who.Matches(c) {
			return Decision{Sees: true, Missing: Missing(c, needed)}
		}
		others = append(others, fmt.Sprintf("%s (%s)", a.Who, a.Text))
	}
	switch {
	case len(r.Allow) == 0:
		return Decision{Sees: true, Missing: Missing(c, needed)}
	case others == nil:
		return Decision{Why: "allowed to nobody"}
	}
	return Decision{Why: "allowed only to " + strings.Join(others, ", ")}
}

// SeenByNobody reports whether the rules hide an entry from everybody.
func (r *Rules) SeenByNobody(e gateway.Entry) bool {
	about := func(rules []Rule, to bool) bool {
		return slices.ContainsFunc(rules, func(one Rule) bool { return (!to || one.Who == auth.Who{}) && one.Matches(e) })
	}
	return about(r.Deny, true) || len(r.Allow) > 0 && !about(r.Allow, false) && !r.isPublic(e)
}
