package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// lintOperation reports what a model or client needs and an operation lacks.
func (r *reviewer) lintOperation(o *operation) {
	id, summary, description := o.node.StrAt("operationId"), o.node.StrAt("summary"), o.node.StrAt("description")
	switch {
	case id == "":
		r.at(o.node, SeverityWarning, "operation-id", "the operation has no operationId", "add one; without it the tool is named "+r.options.ToolName("", o.method, o.path))
	case tenon.ToolName(id) != id:
		r.at(o.node.Get("operationId"), SeverityInfo, "operation-id", fmt.Sprintf("%.100q is not a valid tool name", id), "use up to 64 letters, digits, - and _")
	}
	switch {
	case summary == "" && description == "":
		r.at(o.node, SeverityWarning, "description", "the operation has neither summary nor description", "add one; otherwise a model sees only its name")
	case summary == "":
		r.at(o.node, SeverityInfo, "description", "the operation has no summary", "say in one line what it does")
	case len(summary) > r.options.MaxTitle:
		r.at(o.node.Get("summary"), SeverityInfo, "description", fmt.Sprintf("the summary has %d bytes", len(summary)), "keep it to one line; details go into the description")
	}
	if len(description) > r.options.MaxDescription {
		r.at(o.node.Get("description"), SeverityInfo, "description", fmt.Sprintf("the description has %d bytes; the description of a tool is cut at %d", len(description), r.options.MaxDescription), "put the important part first")
	}
	if o.node.Get("tags").Len() == 0 {
		r.at(o.node, SeverityInfo, "tags", "the operation has no tag", "add tags for selection and search")
	}
	if (o.method == "GET" || o.method == "HEAD" || o.method == "DELETE") && o.node.Get("requestBody").OK() {
		r.at(o.node.Get("requestBody"), SeverityWarning, "body", o.method+" with a body has no defined meaning", "use parameters, or another method")
	}
	r.lintResponses(o)
}

// lintContent reports JSON responses without a schema, and what schemas leave open.
func (r *reviewer) lintContent(status string, content document.Value) {
	for media, m := range content.Each() {
		if !isJSONMedia(media) {
			continue
		}
		leave := r.enter(media)
		s := m.Get("schema")
		switch says := s.OK() && (s.Len() > 0 || s.Kind() != rawjson.Object); {
		case says:
			inside := r.enter("schema")
			r.lintAnswer(s, false, 0)
			inside()
		case !m.Get("itemSchema").OK():
			r.at(m, SeverityWarning, "answer-schema", fmt.Sprintf("the response %s %s has no schema", status, media), "add one; without it nothing can be published or validated")
		}
		leave()
	}
}

// lintResponses checks which responses the operation declares.
func (r *reviewer) lintResponses(o *operation) {
	success, failure := false, false
	for status, v := range o.node.Get("responses").Each() {
		answer, err := r.doc.Deref(v)
		if err != nil {
			continue
		}
		failure = failure || strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default"
		if !strings.HasPrefix(status, "2") {
			continue
		}
		success = true
		if ref := v.StrAt("$ref"); ref != "" {
			r.inDefinition(ref, func() { r.lintSuccess(o, status, answer) })
			continue
		}
		leave, inside := r.enter("responses"), r.enter(status)
		r.lintSuccess(o, status, answer)
		inside()
		leave()
	}
	if !success && o.node.Get("responses").Get("default").Kind() == rawjson.Invalid && o.node.Get("responses").Len() > 0 {
		r.at(o.node.Get("responses"), SeverityWarning, "responses", "no success response is declared", "add its 2xx responses")
	}
	if !failure {
		r.at(o.responsesNode(), SeverityInfo, "responses", "no error response is declared", "add default or the 4xx that callers can get")
	}
}

// lintSuccess checks what a success describes of its body.
func (r *reviewer) lintSuccess(o *operation, status string, answer document.Value) {
	if r.doc.Version != document.V20 {
		defer r.enter("content")()
		r.lintContent(status, answer.Get("content"))
		return
	}
	if s := answer.Get("schema"); s.OK() {
		defer r.enter("schema")()
		r.lintAnswer(s, false, 0)
	} else if status == "200" && o.method == "GET" {
		r.at(answer, SeverityInfo, "answer-schema", "the response 200 has no schema", "add one; without it nothing can be published or validated")
	}
}

// responsesNode returns the responses object, or the operation if there is none.
func (o *operation) responsesNode() document.Value {
	if all := o.node.Get("responses"); all.OK() {
		return all
	}
	return o.node
}

func isJSONMedia(media string) bool {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

func (r *reviewer) lintParameter(at, p document.Value) {
	name := p.StrAt("name")
	if p.StrAt("description") == "" && p.Get("schema").StrAt("description") == "" {
		r.at(at, SeverityInfo, "description", fmt.Sprintf("the parameter %s is not described", name), "describe it and its values")
	}
	if p.StrAt("in") == "query" && isCredential(name) {
		r.at(at, SeverityWarning, "credential", fmt.Sprintf("the query parameter %s looks like a credential", name), "declare a security scheme, so that no model has to fill it in")
	}
}

func isCredential(name string) bool {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
	case "apikey", "accesstoken", "authtoken", "password", "secret", "clientsecret":
		return true
	}
	return false
}

// document checks what does not belong to a single operation.
func (r *reviewer) document() {
	root := r.doc.Root
	i := -1
	for _, s := range root.Get("servers").Each() {
		i++
		if u := s.StrAt("url"); strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "http://localhost") && !strings.HasPrefix(u, "http://127.") {
			r.path = []string{"servers", strconv.Itoa(i)}
			r.at(s, SeverityWarning, "server", u+" is not encrypted", "use https")
		}
	}
	if r.doc.Version != document.V20 && root.Get("servers").Len() == 0 && root.Get("paths").Len() > 0 {
		r.path = nil
		r.at(root, SeverityInfo, "server", "no server is declared", "add servers; without them users must set --base-url")
	}
	r.unused()
	r.tags()
}

// unused reports components that nothing refers to.
func (r *reviewer) unused() {
	kept := map[document.Value]bool{}
	for _, e := range newFilter(r.doc, false, func(Operation) bool { return true }).entries {
		kept[e.Value] = e.kept
	}
	for _, g := range componentsOf(r.doc) {
		for name, v := range g.all.Each() {
			if !kept[v] && !strings.HasPrefix(name, "x-") {
				r.path = append(slices.Clone(g.path), name)
				r.at(v, SeverityInfo, "unused", name+" is not used", "tenon filter removes it")
			}
		}
	}
}

// componentGroup is one kind of component of a document.
type componentGroup struct {
	path []string
	all  document.Value
}

// componentsOf returns the parts of the document that are targets of $ref.
func componentsOf(d *document.Document) (all []componentGroup) {
	if d.Version == document.V20 {
		for _, g := range []string{"definitions", "parameters", "responses"} {
			all = append(all, componentGroup{[]string{g}, d.Root.Get(g)})
		}
		return all
	}
	for g, v := range d.Root.Get("components").Each() {
		if g != "securitySchemes" && !strings.HasPrefix(g, "x-") {
			all = append(all, componentGroup{[]string{"components", g}, v})
		}
	}
	return all
}

// tags compares the tags of operations with the declared ones.
func (r *reviewer) tags() {
	declared := map[string]bool{}
	for _, t := range r.doc.Root.Get("tags").Each() {
		declared[t.StrAt("name")] = true
	}
	if len(declared) == 0 {
		return
	}
	told := map[string]bool{}
	for path, item := range r.doc.Root.Get("paths").Each() {
		for key, op := range item.Each() {
			if document.Method(key) == "" {
				continue
			}
			for _, t := range op.Get("tags").Each() {
				if name := t.Str(); !declared[name] && !told[name] {
					told[name] = true
					r.path = []string{"paths", path, key, "tags"}
					r.at(t, SeverityInfo, "tags", fmt.Sprintf("the tag %q is not declared", name), "declare it under tags, with a description")
				}
			}
		}
	}
}
