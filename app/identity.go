package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/server"
)

// identity is how the server introduces itself to clients.
type identity struct{ name, title, instructions string }

// introduced is a source whose description names the server of its tools.
type introduced interface {
	Identity() (name, version, instructions string)
}

func (i *identity) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&i.name, "name", "", "what the server calls itself (default: what the one description that is served says, or tenon)")
	fs.StringVar(&i.title, "title", "", "the name that clients show people (default: --name, or what the descriptions say)")
	fs.StringVar(&i.instructions, "instructions", "", "what the server tells models of its tools (default: what the descriptions say)")
}

// maxIntroduction bounds what is said of all descriptions together, in bytes:
// clients put it before every conversation.
const maxIntroduction = 4000

// set gives the server its identity. Flags go before descriptions; one
// description alone names the server, several have their names in its title.
func (i identity) set(o *server.Options, w *wire) {
	var titles, said []string
	for _, s := range w.sources {
		source, ok := s.source.(introduced)
		if !ok {
			continue
		}
		name, version, instructions := source.Identity()
		if len(w.sources) == 1 {
			o.Name, o.Version = cmp.Or(name, o.Name), cmp.Or(version, o.Version)
		}
		if name != "" && !slices.Contains(titles, name) {
			titles = append(titles, name)
		}
		if instructions == "" {
			continue
		}
		if len(w.sources) > 1 && name != "" {
			instructions = name + ": " + instructions
		}
		said = append(said, instructions)
	}
	o.Name = cmp.Or(i.name, o.Name)
	o.Title = cmp.Or(i.title, i.name, listed(titles))
	o.Instructions = cmp.Or(i.instructions, within(said, maxIntroduction))
}

// titles are what the descriptions call themselves, in a row.
func (w *wire) titles() string {
	var o server.Options
	identity{}.set(&o, w)
	return o.Title
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
