package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/access"
	"github.com/tenon-mcp/tenon/openapi"
)

// readRules reads who may see and call what.
func readRules(c *Config) (*access.Rules, error) {
	r := &access.Rules{}
	for _, list := range []struct {
		setting string
		texts   []string
		to      *[]access.Rule
	}{{"allow", c.Allow, &r.Allow}, {"deny", c.Deny, &r.Deny}} {
		for _, text := range list.texts {
			rule, err := parseRule(text)
			if err == nil {
				err = c.canBe(rule.Who)
			}
			if err != nil {
				return nil, invalid(list.setting, " %s: %v", clipped(text), err)
			}
			*list.to = append(*list.to, rule)
		}
	}
	if err := c.readPublic(r); err != nil {
		return nil, err
	}
	if err := c.readNeeds(r); err != nil {
		return nil, err
	}
	if c.ScopesFromDescription && c.OAuthIssuer == "" {
		return nil, invalid("scopes-from-description", " is about access tokens; --oauth-issuer says whose")
	}
	if err := r.Check(); err != nil {
		return nil, invalid("allow", ": %v", err)
	}
	return r, nil
}

// readPublic reads what needs no credential.
func (c *Config) readPublic(r *access.Rules) error {
	for _, text := range c.Public {
		matches, err := matcher(text)
		if err == nil && len(c.APIKeys) == 0 && c.OAuthIssuer == "" {
			err = errors.New("everybody may call everything without --api-key and --oauth-issuer")
		}
		if err != nil {
			return invalid("public", " %s: %v", clipped(text), err)
		}
		r.Public = append(r.Public, access.Rule{Text: text, Matches: matches})
	}
	return nil
}

// readNeeds reads which scopes tools need.
func (c *Config) readNeeds(r *access.Rules) error {
	for _, text := range c.RequireScope {
		n, err := parseNeed(text)
		if err == nil && c.OAuthIssuer == "" {
			err = errors.New("only access tokens have scopes, and there is no --oauth-issuer")
		}
		if err != nil {
			return invalid("require-scope", " %s: %v", clipped(text), err)
		}
		r.Needs = append(r.Needs, n)
	}
	return nil
}

func checkRule(value string) error {
	_, err := parseRule(value)
	return err
}

func checkPublic(value string) error {
	_, err := matcher(value)
	return err
}

func checkNeed(value string) error {
	_, err := parseNeed(value)
	return err
}

// parseRule reads WHO=SELECTOR.
func parseRule(text string) (r access.Rule, err error) {
	who, selector, ok := strings.Cut(text, "=")
	if !ok {
		return r, errors.New("it wants WHO=SELECTOR, such as group:staff=tag:books")
	}
	r.Text = selector
	if r.Who, err = auth.ParseWho(who); err != nil {
		return r, err
	}
	r.Matches, err = matcher(selector)
	return r, err
}

// parseNeed reads SCOPE=SELECTOR.
func parseNeed(text string) (n access.Need, err error) {
	scope, selector, ok := strings.Cut(text, "=")
	if !ok || !auth.IsScope(scope) {
		return n, errors.New("it wants SCOPE=SELECTOR, such as books:write=method:POST")
	}
	n.Text, n.Scope = selector, scope
	n.Matches, err = matcher(selector)
	return n, err
}

// matcher compiles the selector of a rule: source:NAME, or one of --include, which
// also matches the names in the catalog, and the URIs of resources.
func matcher(selector string) (func(gateway.Entry) bool, error) {
	if name, ok := strings.CutPrefix(selector, "source:"); ok {
		if name == "" {
			return nil, errors.New("source: wants the name of a source")
		}
		return func(e gateway.Entry) bool { return e.Source == name }, nil
	}
	matches, err := openapi.Matcher(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	return func(e gateway.Entry) bool {
		l := &e.Labels
		ids := append(slices.Clip(l.IDs), e.Name)
		if e.URI != "" {
			ids = append(ids, e.URI)
		}
		return matches(openapi.Subject{Method: l.Method, Path: l.Path, IDs: ids, Tags: l.Tags})
	}, nil
}

// canBe refuses a rule about callers that there cannot be.
func (c *Config) canBe(who auth.Who) error {
	switch kind, name := who.Kind(), who.Value(); kind {
	case "":
	case "key":
		if !slices.ContainsFunc(c.APIKeys, func(key string) bool { return strings.HasPrefix(key, name+"=") }) {
			return fmt.Errorf("there is no --api-key %s", name)
		}
	default:
		if c.OAuthIssuer == "" {
			return fmt.Errorf("only access tokens say who is a %s, and there is no --oauth-issuer", kind)
		}
	}
	return nil
}

// unmatchedRules refuses rules about nothing: one that denies what has another name
// now would deny nothing.
func unmatchedRules(r *access.Rules, c *gateway.Catalog) error {
	var texts []string
	var entries []gateway.Entry
	if len(r.Allow)+len(r.Deny)+len(r.Public)+len(r.Needs) > 0 {
		entries = c.Entries()
	}
	about := func(setting, text string, matches func(gateway.Entry) bool) {
		if slices.ContainsFunc(entries, matches) {
			return
		}
		texts = append(texts, fmt.Sprintf("--%s %s: no tool, resource or prompt matches the selector; 'tenon tools' lists the tools", setting, clipped(text)))
	}
	for i := range r.Allow {
		about("allow", r.Allow[i].Who.String()+"="+r.Allow[i].Text, r.Allow[i].Matches)
	}
	for i := range r.Deny {
		about("deny", r.Deny[i].Who.String()+"="+r.Deny[i].Text, r.Deny[i].Matches)
	}
	for i := range r.Public {
		about("public", r.Public[i].Text, r.Public[i].Matches)
	}
	for i := range r.Needs {
		about("require-scope", r.Needs[i].Scope+"="+r.Needs[i].Text, r.Needs[i].Matches)
	}
	if texts == nil {
		return nil
	}
	return invalid("", "%s", strings.Join(texts, "\n"))
}

// scopesOf are the scopes that a call of a tool needs.
func (a *App) scopesOf(source string, t *tenon.Tool) []string {
	all := slices.Clone(t.Scopes)
	if len(a.rules.Needs) == 0 && !a.config.ScopesFromDescription {
		return all
	}
	e := gateway.EntryOf(source, t)
	all = append(all, a.rules.Scopes(e)...)
	if a.config.ScopesFromDescription {
		all = append(all, e.Labels.Scopes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hasScopes refuses callers that lack one of the scopes.
func (a *App) hasScopes(ctx context.Context, needed []string) error {
	if access.Missing(auth.FromContext(ctx), needed) == nil {
		return nil
	}
	if err := a.unknownTool(ctx); err != nil {
		return err
	}
	return &tenon.ScopeError{Scopes: needed, Err: a.access.Load().callers.InsufficientScope(needed)}
}

// unknownTool is the error for callers who have not said who they are, for what is
// not public: how to say it.
func (a *App) unknownTool(ctx context.Context) error {
	callers := a.access.Load()
	if !callers.public || auth.FromContext(ctx) != nil {
		return nil
	}
	why := callers.callers.Unidentified()
	return &tenon.Error{Code: tenon.CodeAuthentication, Message: why.Message, Err: why}
}
