package flowmcp

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxTold     = 1000 // bytes of what schema files tell of themselves, together
	maxToldEach = 300  // bytes of one of them
	maxNames    = 3    // of schema files that are named in a title
)

// about is what schema files say of what they describe.
type about struct{ title, instructions string }

// aboutOf reads the names and descriptions of schema files. main.version is that
// of the format and says nothing of them.
func aboutOf(files []*file) about {
	var a about
	var names []string
	for i, f := range files {
		name, text := strings.TrimSpace(f.main.get("name").str()), strings.Join(strings.Fields(f.main.get("description").str()), " ")
		if name != "" {
			names = append(names, shortened(name, maxToldEach))
		}
		line := shortened(text, maxToldEach)
		if len(files) > 1 && name != "" && line != "" {
			line = shortened(name, maxToldEach) + ": " + line
		}
		switch {
		case line == "":
		case len(a.instructions)+len(line) > maxTold:
			a.instructions += "\nand " + strconv.Itoa(len(files)-i) + " more"
			a.title = titled(files, names)
			return a
		default:
			a.instructions = strings.TrimSpace(a.instructions + "\n" + line)
		}
	}
	a.title = titled(files, names)
	return a
}

// titled joins names; those of many files are counted.
func titled(files []*file, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if len(files) <= maxNames {
		return strings.Join(names, ", ")
	}
	return names[0] + " and " + strconv.Itoa(len(files)-1) + " more"
}

// shortened cuts a text at a rune.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.TrimSpace(text[:limit]) + "…"
}

// Identity is how the schema files in force name themselves and what they say
// of themselves, shortened; what they do not say is empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.about.title, "", s.about.instructions
}
