package tenontest

import (
	"context"
	"fmt"

	"github.com/tenon-mcp/tenon"
)

// readings reads the resources and gets the prompts that need no argument, also
// with a context that has ended.
func (c *sourceCheck) readings(ctx context.Context, o tenon.Features) {
	if c.o.SamplesOnly {
		return
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, r := range o.Resources {
		what := fmt.Sprintf("resource %q", r.URI)
		if r.Read == nil {
			continue
		}
		c.within(what+": Read", func() {
			blocks, err := r.Read(ctx, r.URI, &tenon.Call{Requester: c.o.Asker})
			if err != nil {
				c.failure(what, err)
				return
			}
			c.blocks(what, blocks)
			for _, b := range blocks {
				c.needs(b.Type == tenon.EmbeddedResource, what, "Read answers with a block that is no resource")
			}
		})
		c.within(what+": Read with a context that has ended", func() { _, _ = r.Read(ended, r.URI, &tenon.Call{}) })
	}
	for _, t := range o.ResourceTemplates {
		if t.Complete != nil {
			c.within(fmt.Sprintf("template %q: Complete", t.URI), func() { _, _ = t.Complete(ctx, "", "", nil) })
		}
	}
	for _, p := range o.Prompts {
		c.prompt(ctx, &p)
	}
}

func (c *sourceCheck) prompt(ctx context.Context, p *tenon.Prompt) {
	what := fmt.Sprintf("prompt %q", p.Name)
	args := map[string]string{}
	for _, a := range p.Arguments {
		if a.Required {
			args[a.Name] = "1"
		}
	}
	if p.Get == nil {
		return
	}
	c.within(what+": Get", func() {
		messages, err := p.Get(ctx, args, &tenon.Call{Requester: c.o.Asker})
		if err != nil {
			c.failure(what, err)
			return
		}
		for _, m := range messages {
			c.needs(m.Role == "user" || m.Role == "assistant", what, fmt.Sprintf("has a message of the role %q; it is user or assistant", m.Role))
			c.blocks(what, []tenon.Content{m.Content})
		}
	})
}
