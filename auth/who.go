package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Who says whom a rule of the operator is about. The zero value is everybody.
type Who struct {
	kind  string // key, subject, client, group or scope; empty: everybody
	value string
}

// whoKinds are the kinds of a Who, those first that say most exactly who it is.
var whoKinds = []string{"key", "subject", "client", "group", "scope"} //nolint:gochecknoglobals // a constant

// ParseWho reads everybody, key:NAME, subject:SUBJECT, client:ID, group:NAME or
// scope:NAME.
func ParseWho(text string) (Who, error) {
	if text == "everybody" {
		return Who{}, nil
	}
	kind, value, _ := strings.Cut(text, ":")
	if value == "" || !slices.Contains(whoKinds, kind) {
		return Who{}, fmt.Errorf("%.80q says not who: write everybody, key:NAME, subject:SUBJECT, client:ID, group:NAME or scope:NAME", text)
	}
	return Who{kind, value}, nil
}

// String writes w as ParseWho reads it.
func (w Who) String() string {
	if w.kind == "" {
		return "everybody"
	}
	return w.kind + ":" + w.value
}

// Kind is key, subject, client, group or scope; empty: everybody.
func (w Who) Kind() string { return w.kind }

// Value is the name behind the kind.
func (w Who) Value() string { return w.value }

// Matches reports whether w is about c; nil: nobody is known, which only everybody is
// about.
func (w Who) Matches(c *Caller) bool {
	switch {
	case w.kind == "":
		return true
	case c == nil:
		return false
	}
	switch w.kind {
	case "key":
		return c.Key == w.value
	case "subject":
		return c.Key == "" && c.Subject == w.value
	case "client":
		return c.Key == "" && c.ClientID == w.value
	case "group":
		return slices.Contains(c.Groups, w.value)
	}
	return c.HasScope(w.value)
}

// Exactness orders those that a caller can be: keys and subjects are above clients,
// those above groups and scopes, and everybody is 0.
func (w Who) Exactness() int {
	switch w.kind {
	case "":
		return 0
	case "key", "subject":
		return 3
	case "client":
		return 2
	}
	return 1
}
