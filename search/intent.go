package search

import "strings"

// intent is what is to be done to the things behind a tool.
type intent uint8

const (
	unknown intent = iota
	reads
	adds
	takesAway
	changes
)

// intentOf tells what a text wants to be done, or says that it does: its first
// word that says so counts.
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
		return takesAway
	case "chang", "updat", "edit", "modify", "renam", "set", "replac", "turn", "enabl", "disabl", "clos", "lock", "adjust", "lower", "rais", "giv",
		"forbid", "allow", "let", "mark", "mov", "resiz", "upgrad", "downgrad", "restart", "reboot", "reset", "resum", "paus", "archiv", "unarchiv",
		"restor", "reopen", "transfer", "convert", "assign", "mut", "protect", "switch", "power", "block", "unblock", "activat", "deactivat",
		"finaliz", "merg":
		return changes
	}
	return unknown
}

// fits weighs what a tool does by what is wanted. A tool that reads is no
// answer to a wish that something be done; among those that write, names and
// methods are used too freely to be strict.
func fits(want, does intent) float64 {
	switch {
	case want == unknown || does == unknown || want == does:
		return 1
	case want == reads, does == reads:
		return 0.66
	case want == takesAway, does == takesAway:
		return 0.8
	}
	return 0.95
}

// wantsList tells whether a question is about many things.
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
