package review

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// maxAnswerDepth bounds how deep the schema of a response is followed.
const maxAnswerDepth = 200

// lintAnswer reports the places of a response about which its schema says nothing:
// callers can neither be given types for them nor be told that a value is wrong. A
// definition is reported once, however many responses have it. refined: another
// schema already says what stands here.
func (r *reviewer) lintAnswer(v document.Value, refined bool, depth int) {
	place := visit{v, "answer"}
	if refined {
		place.kind = "refinement"
	}
	if r.seen[place] || depth > maxAnswerDepth {
		return
	}
	r.seen[place] = true
	if ref := v.Get("$ref"); ref.Kind() == rawjson.String {
		if target, err := r.doc.Target(ref); err == nil {
			r.inDefinition(ref.Str(), func() { r.lintAnswer(target, refined, depth+1) })
		}
		if refined = true; r.doc.Legacy() {
			return
		}
	}
	if v.Kind() == rawjson.Object && !refined {
		r.saysNothing(v)
	}
	refined = refined || says(v)
	for key, member := range v.Each() {
		leave := r.enter(key)
		switch key {
		case "properties", "patternProperties":
			r.lintMembers(member, depth)
		case "items", "additionalProperties":
			if member.Kind() == rawjson.Object {
				r.lintAnswer(member, false, depth+1)
			}
		case "prefixItems":
			r.lintAnswers(member, false, depth)
		case "allOf":
			r.lintAnswers(member, true, depth)
		case "oneOf", "anyOf":
			r.lintAnswers(member, refined, depth)
		}
		leave()
	}
}

func (r *reviewer) lintMembers(all document.Value, depth int) {
	for name, v := range all.Each() {
		if v.IsTrue("writeOnly") { // no response has it
			continue
		}
		leave := r.enter(name)
		r.lintAnswer(v, false, depth+1)
		leave()
	}
}

func (r *reviewer) lintAnswers(list document.Value, refined bool, depth int) {
	i := 0
	for _, v := range list.Each() {
		leave := r.enter(strconv.Itoa(i))
		r.lintAnswer(v, refined, depth+1)
		leave()
		i++
	}
}

// inDefinition runs f with the place that a reference names as the current one, which
// belongs to no operation.
func (r *reviewer) inDefinition(ref string, f func()) {
	path, method, route := r.path, r.method, r.route
	r.method, r.route, r.path = "", "", nil
	_, fragment, _ := strings.Cut(ref, "#")
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		r.path = append(r.path, unescape.Replace(token))
	}
	f()
	r.path, r.method, r.route = path, method, route
}

// says reports whether a schema itself says of which kind its values are.
func says(v document.Value) bool {
	return slices.ContainsFunc([]string{"type", "enum", "const", "properties", "patternProperties", "additionalProperties", "items", "prefixItems"},
		func(key string) bool { return v.Get(key).OK() })
}

// saysNothing reports a schema that leaves open what its values are.
func (r *reviewer) saysNothing(v document.Value) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return v.Get(key).OK() })
	}
	joined := has("$ref", "allOf", "anyOf", "oneOf", "enum", "const")
	switch {
	case !joined && !says(v):
		r.at(v, SeverityInfo, "coverage", "a value in a response has a schema that says nothing of it", "add its type; callers get any value otherwise")
	case joined:
	case !has("type") && has("properties"):
		r.at(v, SeverityInfo, "coverage", "a value in a response has members that are described, but need not be an object", "add type: object")
	case v.Get("properties").Len() > 0, has("patternProperties"):
	case allows(v, "object") && leavesOpen(v.Get("additionalProperties")):
		r.at(v, SeverityInfo, "coverage", "an object in a response has no members that are described", "declare its properties, or additionalProperties with the schema of its values")
	case allows(v, "array") && !has("items", "prefixItems"):
		r.at(v, SeverityInfo, "coverage", "a list in a response says nothing of its items", "add items with their schema")
	}
}

// allows reports whether type is, or lists, a name.
func allows(v document.Value, name string) bool {
	t := v.Get("type")
	if t.Kind() != rawjson.Array {
		return t.Str() == name
	}
	for _, one := range t.Each() {
		if one.Str() == name {
			return true
		}
	}
	return false
}

// leavesOpen reports whether a value of additionalProperties says nothing of members.
func leavesOpen(v document.Value) bool {
	return v.Kind() != rawjson.Object && string(v.Raw()) != "false"
}
