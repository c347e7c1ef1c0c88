package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// lintOperation says what a model or a client misses in an operation.
func (r *reviewer) lintOperation(o *operation) {
	id, summary, description := o.node.strAt("operationId"), o.node.strAt("summary"), o.node.strAt("description")
	switch {
	case id == "":
		r.at(o.node, SeverityWarning, "operation-id", "the operation has no operationId", "add one: the tool is named "+propose("", o.method, o.path, maxName)+" until then")
	case tenon.ToolName(id) != id:
		r.at(o.node.get("operationId"), SeverityInfo, "operation-id", fmt.Sprintf("no tool can be named %.100q", id), "use up to 64 letters, digits, - and _")
	}
	switch {
	case summary == "" && description == "":
		r.at(o.node, SeverityWarning, "description", "the operation says neither in a summary nor in a description what it does", "a model has nothing but its name")
	case summary == "":
		r.at(o.node, SeverityInfo, "description", "the operation has no summary", "say in one line what it does")
	case len(summary) > maxTitle:
		r.at(o.node.get("summary"), SeverityInfo, "description", fmt.Sprintf("the summary has %d bytes", len(summary)), "keep it to one line; details go into the description")
	}
	if len(description) > maxDescription {
		r.at(o.node.get("description"), SeverityInfo, "description", fmt.Sprintf("the description has %d bytes; a tool's is cut at %d", len(description), maxDescription), "put what matters first")
	}
	if o.node.get("tags").len() == 0 {
		r.at(o.node, SeverityInfo, "tags", "the operation has no tag", "tags let people choose and models search")
	}
	if (o.method == "GET" || o.method == "HEAD" || o.method == "DELETE") && o.node.get("requestBody").ok() {
		r.at(o.node.get("requestBody"), SeverityWarning, "body", o.method+" with a body: what it means is not defined", "use parameters, or another method")
	}
	r.lintAnswers(o)
}

// lintContent looks for answers in JSON that nothing is known of.
func (r *reviewer) lintContent(status string, content value) {
	for media, m := range content.each() {
		s := m.get("schema")
		if says := s.ok() && (s.len() > 0 || s.kind() != rawjson.Object); says || !isJSONMedia(media) || m.get("itemSchema").ok() {
			continue
		}
		r.at(m, SeverityWarning, "answer-schema", fmt.Sprintf("the answer %s %s has no schema", status, media), "describe it: without a schema nothing can be published or checked")
	}
}

// lintAnswers looks at what a tool can promise.
func (r *reviewer) lintAnswers(o *operation) {
	success, failure := false, false
	for status, v := range o.node.get("responses").each() {
		answer, err := r.doc.deref(v)
		if err != nil {
			continue
		}
		failure = failure || strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default"
		if !strings.HasPrefix(status, "2") {
			continue
		}
		success = true
		r.lintContent(status, answer.get("content"))
		if r.doc.version == v20 && status == "200" && !answer.get("schema").ok() && o.method == "GET" {
			r.at(answer, SeverityInfo, "answer-schema", "the answer 200 has no schema", "describe it: without a schema nothing can be published or checked")
		}
	}
	if !success && o.node.get("responses").get("default").kind() == rawjson.Invalid && o.node.get("responses").len() > 0 {
		r.at(o.node.get("responses"), SeverityWarning, "responses", "no success is declared", "add the 2xx that it answers with")
	}
	if !failure {
		r.at(o.answersAt(), SeverityInfo, "responses", "no error is declared", "add default or the 4xx that callers meet")
	}
}

// answersAt is where the answers stand, or else where they are missing.
func (o *operation) answersAt() value {
	if all := o.node.get("responses"); all.ok() {
		return all
	}
	return o.node
}

func isJSONMedia(media string) bool {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

func (r *reviewer) lintParameter(at, p value) {
	name := p.strAt("name")
	if p.strAt("description") == "" && p.get("schema").strAt("description") == "" {
		r.at(at, SeverityInfo, "description", fmt.Sprintf("the parameter %s is not described", name), "say what it is and what it may hold")
	}
	if p.strAt("in") == "query" && isCredential(name) {
		r.at(at, SeverityWarning, "credential", fmt.Sprintf("the query parameter %s looks like a credential", name), "declare a security scheme: then no model has to fill it in")
	}
}

func isCredential(name string) bool {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
	case "apikey", "accesstoken", "authtoken", "password", "secret", "clientsecret":
		return true
	}
	return false
}

// whole looks at what belongs to no single operation.
func (r *reviewer) whole() {
	root := r.doc.root
	i := -1
	for _, s := range root.get("servers").each() {
		i++
		if u := s.strAt("url"); strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "http://localhost") && !strings.HasPrefix(u, "http://127.") {
			r.path = []string{"servers", strconv.Itoa(i)}
			r.at(s, SeverityWarning, "server", u+" is not encrypted", "use https")
		}
	}
	if r.doc.version != v20 && root.get("servers").len() == 0 && root.get("paths").len() > 0 {
		r.path = nil
		r.at(root, SeverityInfo, "server", "no server is named", "add servers, or callers have to give --base-url")
	}
	r.unused()
	r.tags()
}

// unused names the components that nothing needs.
func (r *reviewer) unused() {
	kept := map[value]bool{}
	for _, e := range newFilter(r.doc, Options{}, &chooser{}).entries {
		kept[e.value] = e.kept
	}
	for _, g := range r.doc.components() {
		for name, v := range g.all.each() {
			if !kept[v] && !strings.HasPrefix(name, "x-") {
				r.path = append(slices.Clone(g.path), name)
				r.at(v, SeverityInfo, "unused", "nothing needs "+name, "tenon filter leaves it out")
			}
		}
	}
}

// group is one kind of component of a document.
type group struct {
	path []string
	all  value
}

// components are the parts of the document that stand there to be referred to
// by $ref.
func (d *document) components() (all []group) {
	if d.version == v20 {
		for _, g := range []string{"definitions", "parameters", "responses"} {
			all = append(all, group{[]string{g}, d.root.get(g)})
		}
		return all
	}
	for g, v := range d.root.get("components").each() {
		if g != "securitySchemes" && !strings.HasPrefix(g, "x-") {
			all = append(all, group{[]string{"components", g}, v})
		}
	}
	return all
}

// tags compares the tags of operations with those that are declared.
func (r *reviewer) tags() {
	declared := map[string]bool{}
	for _, t := range r.doc.root.get("tags").each() {
		declared[t.strAt("name")] = true
	}
	if len(declared) == 0 {
		return
	}
	told := map[string]bool{}
	for path, item := range r.doc.root.get("paths").each() {
		for key, op := range item.each() {
			if method(key) == "" {
				continue
			}
			for _, t := range op.get("tags").each() {
				if name := t.str(); !declared[name] && !told[name] {
					told[name] = true
					r.path = []string{"paths", path, key, "tags"}
					r.at(t, SeverityInfo, "tags", fmt.Sprintf("the tag %q is not declared", name), "declare it under tags, with a description")
				}
			}
		}
	}
}
