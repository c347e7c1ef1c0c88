package flowmcp

import (
	"github.com/tenon-mcp/tenon"
)

// resources offers what a file brings beside its tools.
func (b *offerer) resources(f *file) {
	for _, r := range f.resources {
		b.books.resources[f.namespace+"/"+r.name] = r
		switch {
		case r.broken:
			b.unservedData(r, nil)
		case r.hidden:
		case r.source == "markdown":
			b.document(f, r)
		default:
			b.database(f, r)
		}
	}
}

func (b *offerer) document(f *file, r *resource) {
	if _, err := r.find(b.options); err != nil {
		b.fault(f, r.line, kindData, "the resource "+r.name+" is not served: "+err.Error(), "")
		b.unservedData(r, []Need{{NeedData, err.Error()}})
		return
	}
	b.offer.Resources = append(b.offer.Resources, r.document(b.options))
	name := unique(b.taken, tenon.ToolName(r.name+"_"+f.namespace), f.path)
	b.offer.Tools = append(b.offer.Tools, r.tool(name, b.options))
	b.standings = append(b.standings, Availability{File: f.path, ID: r.id(), Name: name, Served: true})
}

func (b *offerer) database(f *file, r *resource) {
	if r.source == "sqlite" {
		if _, err := r.find(b.options); err != nil {
			b.fault(f, r.line, "RES020", "RES020 the queries of "+r.name+" are not served: "+err.Error(), "put the database there")
			b.unservedData(r, []Need{{NeedData, err.Error()}})
			return
		}
	}
	if r.source == "http" && b.options.CacheDir == "" {
		b.fault(f, r.line, kindData, "the queries of "+r.name+" are not served: no folder is named for what is downloaded", "")
		b.unservedData(r, []Need{{NeedData, "no folder is named for what is downloaded"}})
		return
	}
	if needs := b.needs(f, r.name, f.handlers.needs(r.name), false); needs != nil {
		why, _ := Availability{Needs: needs}.Why()
		b.fault(f, r.line, kindLibrary+" "+why, "the queries of "+r.name+" are not served: "+why, "")
		b.unservedData(r, nil)
		return
	}
	for _, q := range r.queries {
		name := tenon.ToolName(q.key + "_" + f.namespace)
		if b.taken[name] { // a second database of the namespace
			name = tenon.ToolName(q.key + "_" + r.name + "_" + f.namespace)
		}
		if q.hidden {
			continue
		}
		if q.broken {
			b.stands(q.route, name, []Need{{Kind: NeedRepair}})
			continue
		}
		name = unique(b.taken, name, f.path)
		b.add(q.route, q.tool(name, store{b.options, b.runner, b.dbs}))
	}
}

// add offers a tool, under its name in guides too. The first of a name keeps
// it.
func (b *offerer) add(t *route, tool tenon.Tool) {
	b.offer.Tools = append(b.offer.Tools, tool)
	b.stands(t, tool.Name, nil)
	key := t.file.namespace + "/" + t.name
	if b.books.tools[key] == nil {
		b.books.tools[key] = &shown{tool, t}
	}
}

// guides offers skills and prompts.
func (b *offerer) guides(all []*guide) {
	for _, g := range all {
		b.told(g.path, g.findings)
		switch {
		case g.failed:
		case b.books.guides[g.id()] != nil:
			b.offer.Diagnostics = append(b.offer.Diagnostics, tenon.Diagnostic{File: g.path, Message: "the " + g.kind + " " + g.id() + " is there already; this one is not served", Kind: kindName})
		default:
			b.books.guides[g.id()] = g
			b.offer.Prompts = append(b.offer.Prompts, g.prompt(b.books))
		}
	}
}
