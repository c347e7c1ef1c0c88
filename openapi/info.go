package openapi

import (
	"strings"
)

// maxInstructions bounds what a document tells of itself, in bytes.
const maxInstructions = 1000

// about is what a document says of the service.
type about struct{ title, version, instructions string }

// aboutOf reads the info of a document. Line breaks of a description stay, its
// length does not: clients give it to the model with every conversation.
func aboutOf(d *document) about {
	info := d.root.get("info")
	summary, text := strings.TrimSpace(info.strAt("summary")), strings.TrimSpace(info.strAt("description"))
	if summary != "" && !strings.HasPrefix(text, summary) {
		text = strings.TrimSpace(summary + "\n\n" + text)
	}
	return about{
		title:   cut(strings.Join(strings.Fields(info.strAt("title")), " "), maxTitle),
		version: cut(strings.TrimSpace(info.strAt("version")), maxTitle), instructions: cut(text, maxInstructions),
	}
}

// Identity is how the document in force names the service, and what it says of
// it, shortened; what it does not say is empty.
func (s *Source) Identity() (name, version, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.title, s.version, s.instructions
}
