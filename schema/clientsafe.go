package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Change is one thing that is different between a schema and what of it is
// published.
type Change struct {
	Path    string // JSON Pointer to the schema in which it is
	Keyword string // the keyword; empty: the schema itself
	What    string // what was done, and why
}

// ClientSafe makes a schema document fit to be published to clients that drop
// a whole list of tools when one schema in it does not please them.
func ClientSafe(doc []byte) (safe []byte, changes []Change) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return nil, []Change{{What: "not strict JSON: " + err.Error()}}
	}
	root := parsed.Root()
	p := patches{doc: parsed}
	switch {
	case parsed.Kind(root) != rawjson.Object:
		return nil, []Change{{What: "the root is no object"}}
	case parsed.IsStr(parsed.Get(root, "type"), "object"):
		return doc, nil
	case parsed.Get(root, "type") == rawjson.None:
		p.prepend(root, []byte(`"type":"object"`))
		return p.apply(nil, root), []Change{{Keyword: "type", What: "added"}}
	}
	return nil, []Change{{Keyword: "type", What: "the root is not of type object"}}
}
