package flowmcp

import (
	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// resources adds the resources of a file and their tools.
func (b *builder) resources(f *format.File) {
	for _, r := range f.Resources {
		b.index.resources[f.Namespace+"/"+r.Name] = r
		switch {
		case r.Broken:
			b.addUnservedResource(r, nil)
		case r.Hidden:
		case r.Source == "markdown":
			b.document(f, r)
		default:
			b.database(f, r)
		}
	}
}

func (b *builder) document(f *format.File, r *format.Resource) {
	if _, err := r.Find(b.options.reading()); err != nil {
		b.diagnose(f, r.Line, kindData, "the resource "+r.Name+" is not served: "+err.Error(), "")
		b.addUnservedResource(r, []Need{{NeedData, err.Error()}})
		return
	}
	b.features.Resources = append(b.features.Resources, resource{r}.document(b.options))
	name := format.Unique(b.taken, tenon.ToolName(r.Name+"_"+f.Namespace), f.Path)
	b.features.Tools = append(b.features.Tools, resource{r}.tool(name, b.options))
	b.availability = append(b.availability, Availability{File: f.Path, ID: r.ID(), Name: name, Served: true})
}

func (b *builder) database(f *format.File, r *format.Resource) {
	if r.Source == "sqlite" {
		if _, err := r.Find(b.options.reading()); err != nil {
			b.diagnose(f, r.Line, "RES020", "RES020 the queries of "+r.Name+" are not served: "+err.Error(), "put the database there")
			b.addUnservedResource(r, []Need{{NeedData, err.Error()}})
			return
		}
	}
	if r.Source == "http" && b.options.CacheDir == "" {
		b.diagnose(f, r.Line, kindData, "the queries of "+r.Name+" are not served: no cache folder is set for downloads", "")
		b.addUnservedResource(r, []Need{{NeedData, "no cache folder is set for downloads"}})
		return
	}
	if needs := b.toolNeeds(f, r.Name, f.Handlers.Needs(r.Name), false); needs != nil {
		why, _ := Availability{Needs: needs}.Reason()
		b.diagnose(f, r.Line, kindLibrary+" "+why, "the queries of "+r.Name+" are not served: "+why, "")
		b.addUnservedResource(r, nil)
		return
	}
	for _, q := range r.Queries {
		name := tenon.ToolName(q.Key + "_" + f.Namespace)
		if b.taken[name] { // second database of the namespace
			name = tenon.ToolName(q.Key + "_" + r.Name + "_" + f.Namespace)
		}
		if q.Hidden {
			continue
		}
		if q.Broken {
			b.addAvailability(q.Tool, name, []Need{{Kind: NeedRepair}})
			continue
		}
		name = format.Unique(b.taken, name, f.Path)
		b.add(q.Tool, query{q}.tool(name, backend{b.options, b.runner, b.dbs}))
	}
}

// add adds a tool and registers it for guides. The first tool of a name wins.
func (b *builder) add(t *format.Tool, tool tenon.Tool) {
	b.features.Tools = append(b.features.Tools, tool)
	b.addAvailability(t, tool.Name, nil)
	key := t.File.Namespace + "/" + t.Name
	if b.index.tools[key] == nil {
		b.index.tools[key] = &indexedTool{tool, t}
	}
}

// guides adds skills and prompts.
func (b *builder) guides(all []*format.Guide) {
	for _, g := range all {
		b.addFindings(g.Path, g.Findings)
		switch {
		case g.Failed:
		case b.index.guides[g.ID()] != nil:
			b.features.Diagnostics = append(b.features.Diagnostics, tenon.Diagnostic{File: g.Path, Message: "the " + g.Kind + " " + g.ID() + " is there already; this one is not served", Kind: kindName})
		default:
			b.index.guides[g.ID()] = g
			b.features.Prompts = append(b.features.Prompts, guide{g}.prompt(b.index))
		}
	}
}
