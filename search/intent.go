package search

import "strings"

// intent is the kind of action of a tool or a query.
type intent uint8

const (
	unknown intent = iota
	reads
	adds
	removes
	changes
)

// intentOf returns the intent of a text: that of the first word that has one.
func intentOf(text string) intent {
	text = strings.ReplaceAll(strings.ToLower(text), "give me ", "show ")
	for w := range words(text) {
		if i := intentOfWord(stem(w)); i != unknown {
			return i
		}
	}
	return unknown
}

func intentOfWord(stem string) intent {
	switch stem {
	case "what", "which", "who", "whose", "how", "when", "wher", "why", "is", "are", "am", "did", "doe", "has", "hav",
		"show", "list", "get", "read", "find", "look", "lookup", "see", "fetch", "download", "search", "query", "view", "display", "brows", "check",
		"count", "compar", "export", "retriev", "return", "tell", "know", "inspect", "describ", "test", "verify", "validat", "preview":
		return reads
	case "creat", "add", "new", "mak", "open", "fil", "writ", "publish", "upload", "post", "submit", "invit", "register", "attach", "start", "run",
		"reply", "send", "shar", "put", "fork", "trigger", "fir", "ask", "request", "log", "record", "schedul", "remind", "react", "apply", "link",
		"connect", "mount", "plug", "spin", "launch", "boot", "provision", "buy", "order", "issu", "sign", "charg", "pay", "refund", "approv", "join",
		"pin", "star", "follow", "vot", "comment", "sav", "copy", "clon", "import", "generat":
		return adds
	case "delet", "remov", "eras", "drop", "destroy", "discard", "uninstall", "rid", "throw", "clear", "purg", "revok", "cancel", "kick", "expel",
		"detach", "leav", "wip", "unlink", "disconnect", "unmount", "unpin", "unfollow", "unsubscrib", "unwatch", "unassign", "unstar", "abort",
		"terminat", "invalidat":
		return removes
	case "chang", "updat", "edit", "modify", "renam", "set", "replac", "turn", "enabl", "disabl", "clos", "lock", "adjust", "lower", "rais", "giv",
		"forbid", "allow", "let", "mark", "mov", "resiz", "upgrad", "downgrad", "restart", "reboot", "reset", "resum", "paus", "archiv", "unarchiv",
		"restor", "reopen", "transfer", "convert", "assign", "mut", "protect", "switch", "power", "block", "unblock", "activat", "deactivat",
		"finaliz", "merg":
		return changes
	}
	return unknown
}

// intentFactor is the factor for a tool with another intent than the query. A tool that
// reads does not match a query for an action; among tools that write, names and
// methods are used too loosely to be strict.
func intentFactor(want, does intent) float64 {
	switch {
	case want == unknown || does == unknown || want == does:
		return 1
	case want == reads, does == reads:
		return 0.66
	case want == removes, does == removes:
		return 0.8
	}
	return 0.95
}

// wantsList reports whether a query is about several things.
func wantsList(query string) bool {
	for w := range words(strings.ToLower(query)) {
		switch w {
		case "list", "all", "every", "which", "each", "show":
			return true
		}
		if isPlural(w) {
			return true
		}
	}
	return false
}

func isPlural(w string) bool {
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.ContainsRune("sui", rune(w[len(w)-2]))
}
