package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// join adds what was seen at another place.
func (s *seen) join(o *seen) {
	if o == nil { // anything may have been there
		s.kinds = isAny
		return
	}
	s.kinds |= o.kinds
}

// schema appends the schema of what was seen.
func (s *seen) schema(dst []byte) []byte {
	if s == nil || s.kinds == 0 || s.kinds == isAny {
		return append(dst, "{}"...)
	}
	dst = s.types(append(dst, '{'))
	dst = s.object(dst)
	if s.items != nil {
		dst = s.items.schema(append(dst, `,"items":`...))
	}
	return append(dst, '}')
}

func (s *seen) types(dst []byte) []byte {
	var names []string
	left := s.kinds
	if left&isFraction != 0 {
		left |= isInteger // number says both
	}
	for _, name := range []string{"object", "array", "string", "number", "integer", "boolean", "null"} {
		if set := typeNamed(name); left&set == set {
			left &^= set
			names = append(names, name)
		}
	}
	dst = append(dst, `"type":`...)
	if len(names) == 1 {
		return rawjson.AppendString(dst, names[0])
	}
	return append(listNames(append(dst, '['), names), ']')
}

func (s *seen) object(dst []byte) []byte {
	if s.others != nil {
		return s.others.schema(append(dst, `,"additionalProperties":`...))
	}
	var required []string
	for i, name := range s.names {
		if i == 0 {
			dst = append(dst, `,"properties":{`...)
		} else {
			dst = append(dst, ',')
		}
		m := s.members[name]
		dst = m.schema(append(rawjson.AppendString(dst, name), ':'))
		if m.times == s.objects {
			required = append(required, name)
		}
	}
	if len(s.names) > 0 {
		dst = append(dst, '}')
	}
	if len(required) > 0 {
		dst = append(listNames(append(dst, `,"required":[`...), required), ']')
	}
	return dst
}

func listNames(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	return dst
}
