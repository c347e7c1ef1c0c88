package openapi

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// answer is one declared answer before its schema is converted.
type answer struct {
	status string
	media  string
	schema value // not ok: the body is not described
	lines  value // of a stream of JSON lines: its schema, of an item or of the list; see lineSchema
	entry  value // where its examples stand
	open   bool  // the document says nothing about a body
}

// answers lists what the operation declares, in the order of the document.
func (o *operation) answers(fault func(v value, what string)) []answer {
	var all []answer
	for status, v := range o.node.get("responses").each() {
		if !isStatus(status) {
			continue
		}
		node, err := o.api.doc.deref(v)
		if err != nil {
			fault(v, "answer "+status+" is left out: "+err.Error())
			continue
		}
		status = strings.Replace(status, "xx", "XX", 1)
		switch {
		case o.method == "HEAD": // never has a body
			all = append(all, answer{status: status})
		case o.api.legacy():
			all = o.legacyAnswers(all, status, node)
		default:
			all = o.contentAnswers(all, status, node, fault)
		}
	}
	return all
}

// isStatus tells a status from an extension: "200", "2XX", "default".
func isStatus(s string) bool {
	if s == "default" {
		return true
	}
	if len(s) != 3 || s[0] < '1' || s[0] > '5' {
		return false
	}
	digits := s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9'
	return digits || strings.EqualFold(s[1:], "XX")
}

func (o *operation) contentAnswers(all []answer, status string, node value, fault func(v value, what string)) []answer {
	before := len(all)
	for media, v := range node.get("content").each() {
		entry, err := o.api.doc.deref(v)
		if err != nil {
			fault(v, "answer "+status+" "+media+" is not described: "+err.Error())
		}
		a := answer{status: status, media: mediaType(media), entry: entry}
		if a.media == "" || repeated(all[before:], a.media) {
			continue
		}
		a.describe(o.api.doc, entry.get("schema"))
		all = append(all, a)
	}
	if len(all) == before {
		all = append(all, answer{status: status, open: mayHaveBody(status)})
	}
	return all
}

// mayHaveBody tells the statuses whose answers have a body (RFC 9110 §6.4.1 and
// §15): where an answer of 3.x has no content, nothing is said about it.
func mayHaveBody(status string) bool {
	return status != "204" && status != "205" && status != "304" && status[0] != '1'
}

// describe takes in the schema of a body, where it says something about the
// media type.
func (a *answer) describe(d *document, schema value) {
	switch {
	case strings.Contains(a.media, "*") && isBytes(d.follow(schema)): // bytes of any type
	case isJSON(a.media):
		a.schema = schema
	case isStream(a.media) && a.media != eventStream:
		a.lines = schema
	}
}

// repeated tells whether a media type was there already: two keys may differ
// in parameters only.
func repeated(all []answer, media string) bool {
	for i := range all {
		if all[i].media == media {
			return true
		}
	}
	return false
}

// legacyAnswers reads an answer of 2.0: one schema for all that is produced.
func (o *operation) legacyAnswers(all []answer, status string, node value) []answer {
	schema := node.get("schema")
	if !schema.ok() {
		return append(all, answer{status: status})
	}
	produces := o.node.get("produces")
	if produces.len() == 0 {
		produces = o.api.doc.root.get("produces")
	}
	file := schema.strAt("type") == "file"
	before := len(all)
	for _, v := range produces.each() {
		a := answer{status: status, media: mediaType(v.str())}
		if a.media == "" || repeated(all[before:], a.media) {
			continue
		}
		if !file {
			a.describe(o.api.doc, schema)
		}
		all = append(all, a)
	}
	switch {
	case len(all) > before:
	case file:
		all = append(all, answer{status: status, media: "*/*"})
	default:
		all = append(all, answer{status: status, media: "application/json", schema: schema})
	}
	return all
}

// mediaType is a media type or range in lower case and without parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// isJSON tells whether a schema describes bodies of a media type. Ranges
// count: generators write "*/*" where they mean JSON.
func isJSON(media string) bool {
	switch media {
	case "application/json", "text/json", "*/*", "application/*":
		return true
	}
	return strings.HasSuffix(media, "+json")
}

// isSuccess tells the statuses of an answer that holds data; without any
// declared 2xx that is "default".
func isSuccess(status string, declared bool) bool {
	return status[0] == '2' || status == "default" && !declared
}

func declaresSuccess(all []answer) bool {
	for i := range all {
		if all[i].status[0] == '2' {
			return true
		}
	}
	return false
}

// variant converts an answer.
func (o *operation) variant(a answer) tenon.ResponseSchema {
	v := tenon.ResponseSchema{Status: a.status, MediaType: a.media, Open: a.open}
	v.Schema = o.bodyOf(a, output)
	v.Example = o.example(a.entry)
	return v
}

// bodyOf is the schema of an answer's body, nil if nothing is said of it.
func (o *operation) bodyOf(a answer, dir direction) []byte {
	switch {
	case a.schema.ok():
		return o.api.standalone(a.schema, dir)
	case isStream(a.media):
		return o.listSchema(a, dir)
	}
	return nil
}

// example is the first example of a media type's entry.
func (o *operation) example(entry value) []byte {
	if e := entry.get("example"); e.ok() {
		return e.raw()
	}
	for _, e := range entry.get("examples").each() {
		if e, err := o.api.doc.deref(e); err == nil && e.get("value").ok() {
			return e.get("value").raw()
		}
	}
	return nil
}

// standalone is a schema as a document of its own.
func (a *api) standalone(schema value, dir direction) []byte {
	f := a.doc.convert(schema, dir)
	return assemble(objectSchema(f.body), f.deps)
}

// objectSchema writes a boolean schema as an object.
func objectSchema(body []byte) []byte {
	switch string(body) {
	case "true":
		return []byte("{}")
	case "false":
		return []byte(`{"not":{}}`)
	}
	return body
}

// accept lists the declared media types for the Accept header: JSON first and
// best. Without any the upstream decides.
func (o *operation) accept() string {
	const most = 8
	var json, other []string
	for _, a := range o.answers(func(value, string) {}) {
		list := &other
		if isJSON(a.media) {
			list = &json
		}
		if a.media != "" && !strings.Contains(a.media, "*") && len(*list) < most && validMedia(a.media) && !slices.Contains(*list, a.media) {
			*list = append(*list, a.media)
		}
	}
	switch {
	case len(json)+len(other) == 0:
		return "application/json, */*;q=0.5"
	case len(json) == 0:
		return strings.Join(other, ", ")
	case len(other) == 0:
		return strings.Join(json, ", ")
	}
	return strings.Join(json, ", ") + ", " + strings.Join(other, ";q=0.5, ") + ";q=0.5"
}

// validMedia keeps a document from writing anything but a media type into the
// header.
func validMedia(s string) bool {
	major, minor, found := strings.Cut(s, "/")
	return found && isToken(major) && isToken(minor)
}
