package argnames

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func unescaped(token string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(token) }

// publishViolations renames the arguments in violations to their published names.
func (n *Names) publishViolations(violations []schema.Violation) []schema.Violation {
	if n == nil {
		return violations
	}
	for i := range violations {
		v := &violations[i]
		if quoted, found := strings.CutPrefix(v.Expected, "member "); found {
			if name, err := strconv.Unquote(quoted); err == nil {
				v.Expected = "member " + strconv.Quote(n.member(v.Path, name))
			}
		}
		v.Path = n.Pointer(v.Path)
	}
	return violations
}

// member returns the published name of a member of the object at a location.
func (n *Names) member(pointer, name string) string {
	if n.published[name] == "" {
		return name
	}
	whole := n.Pointer(pointer + "/" + escaped(name))
	return unescaped(whole[strings.LastIndexByte(whole, '/')+1:])
}

// Pointer converts a JSON Pointer into restored arguments to published names.
func (n *Names) Pointer(pointer string) string {
	if n == nil || pointer == "" {
		return pointer
	}
	w := walker{Names: n}
	schemas := []rawjson.Node{n.schema.Root()}
	var told strings.Builder
	for token := range strings.SplitSeq(pointer[1:], "/") {
		name := unescaped(token)
		schemas = w.all(schemas)
		inside := w.member(schemas, name)
		switch index, err := strconv.Atoi(token); {
		case w.declares(schemas, name) && n.published[name] != "":
			token = escaped(n.published[name])
		case err == nil && index >= 0:
			inside = append(inside, w.element(schemas, index)...)
		}
		told.WriteString("/" + token)
		schemas = inside
	}
	return told.String()
}
