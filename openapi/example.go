package openapi

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// maxExampleDepth bounds the nesting of examples that are put together from members.
const maxExampleDepth = 8

// ExampleArguments returns the arguments of a call by the examples in the document:
// of every required parameter and body, and of others that have one. nil: a required
// one has none. Nothing is invented; a default and a single value count as examples.
func (o *operation) ExampleArguments() []byte {
	p := o.planned()
	args := []byte{'{'}
	add := func(name string, value []byte) {
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(append(rawjson.AppendString(args, name), ':'), value...)
	}
	for i := range p.params {
		q := &p.params[i]
		if q.hidden || q.fixed != nil || q.arg == "" {
			continue
		}
		value := o.example(q.node)
		if value == nil {
			value = o.schemaExample(q.schema, q.required, maxExampleDepth)
		}
		switch {
		case value != nil:
			add(q.arg, value)
		case q.required:
			return nil
		}
	}
	b := &p.body
	if b.arg == "" || b.hidden || b.fixed != nil {
		return append(args, '}')
	}
	value := o.bodyExample(b)
	switch {
	case value != nil:
		add(b.arg, value)
	case b.required:
		return nil
	}
	return append(args, '}')
}

func (o *operation) bodyExample(b *body) []byte {
	if b.write == binaryBody || b.write == unsupportedBody {
		return nil
	}
	for media, v := range b.node.Get("content").Each() {
		if entry := o.api.doc.Follow(v); media == b.media {
			if value := o.example(entry); value != nil {
				return value
			}
		}
	}
	return o.schemaExample(b.schema, b.required, maxExampleDepth)
}

// schemaExample is the example that a schema has, else one of those of the members
// that it requires.
func (o *operation) schemaExample(at document.Value, required bool, depth int) []byte {
	s, err := o.api.doc.Deref(at)
	if err != nil || !s.OK() || depth == 0 {
		return nil
	}
	if value := s.Get("example"); value.OK() {
		return value.Raw()
	}
	for _, value := range s.Get("examples").Each() {
		return value.Raw()
	}
	if !required {
		return nil
	}
	for _, name := range []string{"default", "const"} {
		if value := s.Get(name); value.OK() {
			return value.Raw()
		}
	}
	if values := s.Get("enum"); values.Len() == 1 {
		for _, value := range values.Each() {
			return value.Raw()
		}
	}
	return o.memberExamples(s, depth)
}

func (o *operation) memberExamples(s document.Value, depth int) []byte {
	if !s.Get("properties").OK() || s.Get("allOf").OK() || s.Get("oneOf").OK() || s.Get("anyOf").OK() {
		return nil
	}
	needed := map[string]bool{}
	for _, name := range s.Get("required").Each() {
		needed[name.Str()] = true
	}
	out := []byte{'{'}
	for name, member := range s.Get("properties").Each() {
		value := o.schemaExample(member, needed[name], depth-1)
		if value == nil && needed[name] {
			return nil
		}
		delete(needed, name)
		if value == nil || o.api.doc.Follow(member).IsTrue("readOnly") {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, name), ':'), value...)
	}
	if len(needed) > 0 { // of no example
		return nil
	}
	return append(out, '}')
}
