package clients

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func propertyNames(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		p.properties(n, func(name string, _ rawjson.Node, _ bool) {
			hitIf(!r.pattern.MatchString(name), p.at(at, "properties", name), hit)
		})
	})
}

// properties hands over the properties of a schema, and whether each is required.
func (p *part) properties(n rawjson.Node, do func(name string, value rawjson.Node, required bool)) {
	properties := p.Doc.Get(n, "properties")
	if p.Doc.Kind(properties) != rawjson.Object {
		return
	}
	required := map[string]bool{}
	list := p.Doc.Get(n, "required")
	if p.Doc.Kind(list) == rawjson.Array {
		for m := p.Doc.First(list); m != rawjson.None; m = p.Doc.Next(m) {
			required[p.Doc.Str(m)] = true
		}
	}
	for m := p.Doc.First(properties); m != rawjson.None; m = p.Doc.Next(m) {
		name := p.Doc.Key(m)
		do(name, m, required[name])
	}
}

func noTypeList(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		hitIf(p.Doc.Kind(p.Doc.Get(n, "type")) == rawjson.Array, p.at(at, "type"), hit)
	})
}

// isArray reports whether a schema says array, alone or in a list of types.
func (p *part) isArray(n rawjson.Node) bool { return p.hasType(n, "array") }

func (p *part) hasType(n rawjson.Node, name string) bool {
	kind := p.Doc.Get(n, "type")
	if p.Doc.Kind(kind) != rawjson.Array {
		return p.Doc.IsStr(kind, name)
	}
	for m := p.Doc.First(kind); m != rawjson.None; m = p.Doc.Next(m) {
		if p.Doc.IsStr(m, name) {
			return true
		}
	}
	return false
}

func noEnumAtArray(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		hitIf(p.isArray(n) && p.Doc.Get(n, "enum") != rawjson.None, p.at(at, "enum"), hit)
	})
}

func textEnums(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		list := p.Doc.Get(n, "enum")
		if p.Doc.Kind(list) != rawjson.Array {
			return
		}
		for m := p.Doc.First(list); m != rawjson.None; m = p.Doc.Next(m) {
			if p.Doc.Kind(m) != rawjson.String {
				hit(p.at(at, "enum"))
				return
			}
		}
	})
}

func arraysHaveItems(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		hitIf(p.isArray(n) && p.Doc.Get(n, "items") == rawjson.None, p.at(at), hit)
	})
}

func optionalAtMost(r *Rule, t *prepared, hit func(string)) {
	optional := 0
	t.each(r, func(p *part, _ int32, n rawjson.Node) {
		p.properties(n, func(_ string, _ rawjson.Node, required bool) {
			if !required {
				optional++
			}
		})
	})
	hitIf(optional > r.Params.Max, "/inputSchema", hit)
}

func allRequired(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		p.properties(n, func(name string, _ rawjson.Node, required bool) {
			hitIf(!required, p.at(at, "properties", name), hit)
		})
	})
}

// optionalTakeNull follows no references: one that leads to a type with null
// counts as if it did not take it.
func optionalTakeNull(r *Rule, t *prepared, hit func(string)) {
	p := t.in(r)
	if p == nil || p.Doc.Kind(p.Doc.Root()) != rawjson.Object {
		return
	}
	p.properties(p.Doc.Root(), func(name string, value rawjson.Node, required bool) {
		hitIf(!required && !p.takesNull(value), p.at(0, "properties", name), hit)
	})
}

func (p *part) takesNull(n rawjson.Node) bool {
	if p.Doc.Kind(n) != rawjson.Object {
		return p.Doc.IsTrue(n)
	}
	for _, of := range []string{"anyOf", "oneOf"} {
		for m := p.Doc.First(p.Doc.Get(n, of)); m != rawjson.None; m = p.Doc.Next(m) {
			if p.takesNull(m) {
				return true
			}
		}
	}
	if p.hasType(n, "null") {
		return true
	}
	for _, k := range []string{"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"} {
		if p.Doc.Get(n, k) != rawjson.None {
			return false
		}
	}
	return true
}

func closedObjects(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		more := p.Doc.Get(n, "additionalProperties")
		open := p.Doc.IsTrue(more) || p.Doc.Kind(more) == rawjson.Object && p.Doc.Len(more) > 0
		hitIf(open, p.at(at, "additionalProperties"), hit)
	})
}

// takesAll reports whether a schema is true, {}, or a list of all types, so that it
// takes everything. Annotations change nothing.
func (p *part) takesAll(n rawjson.Node) bool {
	if p.Doc.Kind(n) != rawjson.Object {
		return p.Doc.IsTrue(n)
	}
	for m := p.Doc.First(n); m != rawjson.None; m = p.Doc.Next(m) {
		switch p.Doc.Key(m) {
		case "description", "title", "$comment", "default", "examples", "deprecated":
		case "type":
			for _, name := range []string{"object", "array", "string", "number", "boolean", "null"} {
				if p.Doc.Kind(m) != rawjson.Array || !p.hasType(n, name) {
					return false
				}
			}
		case "items", "additionalProperties":
			if !p.takesAll(m) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func noAnyBranch(r *Rule, t *prepared, hit func(string)) {
	t.each(r, func(p *part, at int32, n rawjson.Node) {
		list := p.Doc.Get(n, "anyOf")
		if p.Doc.Kind(list) != rawjson.Array {
			return
		}
		for m := p.Doc.First(list); m != rawjson.None; m = p.Doc.Next(m) {
			if p.takesAll(m) {
				hit(p.at(at, "anyOf"))
				return
			}
		}
	})
}

func propertiesAtRoot(r *Rule, t *prepared, hit func(string)) {
	p := t.in(r)
	if p == nil {
		return
	}
	root := p.Doc.Root()
	named := p.Doc.Get(root, "properties")
	for _, of := range []string{"anyOf", "oneOf", "allOf"} {
		list := p.Doc.Get(root, of)
		if p.Doc.Kind(list) != rawjson.Array {
			continue
		}
		for m := p.Doc.First(list); m != rawjson.None; m = p.Doc.Next(m) {
			inside := p.Doc.Get(m, "properties")
			for one := p.Doc.First(inside); one != rawjson.None; one = p.Doc.Next(one) {
				if p.Doc.Get(named, p.Doc.Key(one)) == rawjson.None {
					hit(p.at(0, of))
					return
				}
			}
		}
	}
}
