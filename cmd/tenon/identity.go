package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/server"
)

// identity is how the server introduces itself to clients.
type identity struct{ name, instructions string }

// introduced is a source whose description names the server of its tools.
type introduced interface {
	Identity() (name, version, instructions string)
}

func (i *identity) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&i.name, "name", "", "what the server calls itself (default: what the one description that is served says, or tenon)")
	fs.StringVar(&i.instructions, "instructions", "", "what the server tells models of its tools (default: what the descriptions say)")
}

// set gives the server its identity. Flags go before descriptions; of several
// descriptions none names the server, while each has its say about its tools.
func (i identity) set(o *server.Options, w *wire) {
	var said []string
	for _, s := range w.sources {
		source, ok := s.source.(introduced)
		if !ok {
			continue
		}
		name, version, instructions := source.Identity()
		if len(w.sources) == 1 {
			o.Name, o.Version = cmp.Or(name, o.Name), cmp.Or(version, o.Version)
		}
		if instructions != "" {
			said = append(said, instructions)
		}
	}
	o.Name = cmp.Or(i.name, o.Name)
	o.Instructions = cmp.Or(i.instructions, strings.Join(said, "\n\n"))
}
