package flowmcp

import (
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// applySelection drops everything that the selection does not name. Its names must
// exist in the files, served or not.
func (b *builder) applySelection(path string, files []*format.File, guides []*format.Guide) error {
	s, findings := format.ReadChoice(path, *b.options.reading())
	if text := format.FirstError(findings); text != "unknown" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: "cannot use the selection " + path + ": " + text}
	}
	known := format.Known(files, guides)
	for kind, names := range s.Wanted {
		for _, name := range names {
			if !known[format.FullName(kind, name)] {
				return &tenon.Error{Code: tenon.CodeBadSource, Message: "SEL003 " + path + " names " + name + ", which is not in the files"}
			}
		}
	}
	chosen := s.Files(files)
	b.features.Diagnostics = slices.DeleteFunc(b.features.Diagnostics, func(f tenon.Diagnostic) bool { return !chosen[f.File] })
	b.features.Tools = slices.DeleteFunc(b.features.Tools, func(t tenon.Tool) bool { return !s.Has(metaID(t.Meta)) })
	b.features.Resources = slices.DeleteFunc(b.features.Resources, func(r tenon.Resource) bool {
		return !slices.ContainsFunc(s.Wanted["resource"], func(name string) bool { return "flowmcp://"+format.FullName("resource", name) == r.URI })
	})
	b.features.Prompts = slices.DeleteFunc(b.features.Prompts, func(p tenon.Prompt) bool {
		return !slices.ContainsFunc(append(s.Wanted["prompt"], s.Wanted["skill"]...), func(name string) bool {
			return format.FullName("prompt", name) == p.Name || format.FullName("skill", name) == p.Name
		})
	})
	b.cases = slices.DeleteFunc(b.cases, func(c TestCase) bool { return !s.Has(c.ID) })
	for i := range b.availability {
		if of := &b.availability[i]; !s.Has(of.ID) {
			of.Served, of.Needs = false, []Need{{Kind: NeedSelection}}
		}
	}
	b.guides(s.Guides)
	return nil
}

func metaID(meta []byte) string {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return ""
	}
	return doc.Str(doc.Get(doc.Root(), "flowmcp/id"))
}
