package app

import (
	"context"
	"strings"

	"github.com/tenon-mcp/tenon/auth"
)

// Seen is a tool, and what a caller can do with it.
type Seen struct {
	Tool, Source string
	Sees         bool
	Why          string   // it does not see it: the rule, or who would
	Missing      []string // scopes that a call needs and the caller lacks
}

// ReadCaller makes a caller for [App.SeenBy] of SUBJECT, subject:SUBJECT, client:ID,
// group:NAME, scope:NAME and key:NAME.
func (c *Config) ReadCaller(as []string) (*auth.Caller, error) {
	caller := &auth.Caller{}
	for _, text := range as {
		who, err := auth.ParseWho(text)
		if err != nil || who.Kind() == "" {
			who, err = auth.ParseWho("subject:" + text)
		}
		if err == nil {
			err = c.canBe(who)
		}
		if err != nil {
			return nil, invalid("as", " %s: %v", clipped(text), err)
		}
		switch name := who.Value(); who.Kind() {
		case "key":
			caller.Key = name
		case "subject":
			caller.Issuer, caller.Subject = c.OAuthIssuer, name
		case "client":
			caller.Issuer, caller.ClientID = c.OAuthIssuer, name
		case "group":
			caller.Issuer, caller.Groups = c.OAuthIssuer, append(caller.Groups, name)
		case "scope":
			caller.Issuer, caller.Scopes = c.OAuthIssuer, append(caller.Scopes, name)
		}
	}
	if caller.Key != "" && caller.Issuer != "" {
		return nil, invalid("as", " %s: a caller has a key or an access token, not both", strings.Join(as, ", "))
	}
	implied, err := c.scopesImplied()
	if err != nil {
		return nil, err
	}
	caller.Scopes = auth.Granted(caller.Scopes, implied)
	return caller, nil
}

// SeenBy says what a caller sees of the tools of all descriptions.
func (a *App) SeenBy(c *auth.Caller) []Seen {
	var all []Seen
	for _, t := range a.tools.Tools() {
		if !t.BuiltIn() {
			d := a.rules.Decide(c, t.Entry(), t.Scopes())
			all = append(all, Seen{t.Name(), t.Source(), d.Sees, d.Why, d.Missing})
		}
	}
	return all
}

// SeenByNobody are the tools that the rules hide from everybody.
func (a *App) SeenByNobody() (names []string) {
	for _, t := range a.tools.Tools() {
		if !t.BuiltIn() && a.rules.SeenByNobody(t.Entry()) {
			names = append(names, t.Name())
		}
	}
	return names
}

// Ungranted are the scopes of the config that the issuer does not list.
func (a *App) Ungranted(ctx context.Context) ([]string, error) {
	return a.access.Load().callers.Ungranted(ctx)
}
