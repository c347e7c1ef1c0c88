package app

import (
	"cmp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/server"
)

// introduced is a source whose description names the server of its tools.
type introduced interface {
	Identity() (name, version, instructions string)
}

// maxIntroduction bounds what is said of all descriptions together, in bytes:
// clients put it before every conversation.
const maxIntroduction = 4000

// introduction is how one description names the server of its tools, and what
// it says of them.
type introduction struct{ name, version, instructions string }

// introduce reads how the description in force introduces its tools. It is kept
// beside the tools: a source may have read a later description that cannot be
// served.
func (s *loaded) introduce() {
	if source, ok := s.source.(introduced); ok {
		s.introduction.name, s.introduction.version, s.introduction.instructions = source.Identity()
	}
}

// identity is how the server introduces itself as its descriptions are now.
// Settings precede descriptions; one description alone names the server, several
// have their names in its title.
func (a *App) identity() server.Identity {
	o := server.Identity{Name: "tenon", Version: Version()}
	var titles, said []string
	for _, s := range a.sources {
		name, instructions := s.introduction.name, s.introduction.instructions
		if len(a.sources) == 1 {
			o.Name, o.Version = cmp.Or(name, o.Name), cmp.Or(s.introduction.version, o.Version)
		}
		if name != "" && !slices.Contains(titles, name) {
			titles = append(titles, name)
		}
		if instructions == "" {
			continue
		}
		if len(a.sources) > 1 && name != "" {
			instructions = name + ": " + instructions
		}
		said = append(said, instructions)
	}
	o.Name = cmp.Or(a.config.Name, o.Name)
	o.Title = cmp.Or(a.config.Title, a.config.Name, listed(titles))
	o.Instructions = cmp.Or(a.config.Instructions, within(said, maxIntroduction))
	return o
}

// Titles are what the descriptions call themselves, in a row.
func (a *App) Titles() string {
	plain := App{inForce: inForce{config: &Config{}, sources: a.sources}}
	return plain.identity().Title
}

// listed joins names; of many only the first are said.
func listed(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(slices.Clone(names[:shown]), strconv.Itoa(more)+" more")
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// within joins texts within a limit: the long ones are cut to equal shares.
func within(texts []string, limit int) string {
	texts = texts[:min(len(texts), limit/100)]
	for i, text := range texts {
		if share := limit / len(texts); len(text) > share {
			texts[i] = strings.ToValidUTF8(text[:share-len("…")], "") + "…"
		}
	}
	return strings.Join(texts, "\n\n")
}

// module is this module, as builds record it.
const module = "github.com/tenon-mcp/tenon"

// Version is the version of this module as the build recorded it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	of := info.Main
	for _, dep := range info.Deps {
		if dep.Path == module {
			of = *dep
		}
	}
	if of.Version == "" {
		return "(devel)"
	}
	return of.Version
}
