package search

import "strings"

// effect is what a call does to the things behind a tool, as far as the tool
// says it.
type effect uint8

const (
	unknown effect = iota
	reads
	adds
	takesAway
	changes
)

// wishOf tells from a question what it wants to be done: its first word that
// says so counts.
func wishOf(query string) effect {
	for _, w := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "what", "which", "who", "whose", "how", "when", "where", "is", "are", "am", "did", "does", "has", "have", "why",
			"show", "list", "get", "read", "find", "look", "see", "fetch", "download", "search", "view", "display", "check", "count", "compare", "export":
			return reads
		case "create", "add", "new", "make", "open", "file", "write", "publish", "upload", "post", "submit", "invite", "register", "attach", "start", "run",
			"reply", "send", "share", "put", "fork", "trigger", "fire", "ask", "request":
			return adds
		case "delete", "remove", "erase", "drop", "destroy", "discard", "uninstall", "rid", "throw", "clear", "purge", "revoke", "unsubscribe", "cancel":
			return takesAway
		case "change", "update", "edit", "modify", "rename", "set", "replace", "turn", "enable", "disable", "close", "lock", "adjust", "lower", "raise", "give", "forbid", "allow", "let", "mark", "move":
			return changes
		}
	}
	return unknown
}

// word is what names and titles have for an effect.
func (e effect) word() string {
	switch e {
	case adds:
		return "create"
	case takesAway:
		return "delete"
	case changes:
		return "update"
	case reads, unknown:
	}
	return ""
}

// fits weighs what a tool does by what is wished. A tool that reads is no
// answer to a wish that something be done; among those that write, names and
// methods are used too freely to be strict.
func fits(wish, does effect) float64 {
	switch {
	case wish == unknown || does == unknown || wish == does:
		return 1
	case wish == reads, does == reads:
		return 0.6
	case wish == takesAway, does == takesAway:
		return 0.75
	}
	return 0.95
}
