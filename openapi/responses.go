package openapi

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// declaredResponse is a declared response before its schema is converted.
type declaredResponse struct {
	status string
	media  string
	schema document.Value // not ok: the body has no schema
	lines  document.Value // schema of a stream of JSON lines, either of an item or of the list; see lineSchema
	entry  document.Value // media type object, with examples
	open   bool           // the document does not say whether there is a body
}

// responses lists the declared responses in the order of the document.
func (o *operation) responses(report func(v document.Value, what string)) []declaredResponse {
	var all []declaredResponse
	for status, v := range o.node.Get("responses").Each() {
		if !isStatus(status) {
			continue
		}
		node, err := o.api.doc.Deref(v)
		if err != nil {
			report(v, "response "+status+" ignored: "+err.Error())
			continue
		}
		status = strings.Replace(status, "xx", "XX", 1)
		switch {
		case o.method == "HEAD": // never has a body
			all = append(all, declaredResponse{status: status})
		case o.api.legacy():
			all = o.legacyResponses(all, status, node)
		default:
			all = o.contentResponses(all, status, node, report)
		}
	}
	return all
}

// isStatus reports whether a key of a responses object is a status, such as
// "200", "2XX" or "default", not an extension.
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

func (o *operation) contentResponses(all []declaredResponse, status string, node document.Value, report func(v document.Value, what string)) []declaredResponse {
	before := len(all)
	for media, v := range node.Get("content").Each() {
		entry, err := o.api.doc.Deref(v)
		if err != nil {
			report(v, "response "+status+" "+media+" has no schema: "+err.Error())
		}
		a := declaredResponse{status: status, media: encode.MediaType(media), entry: entry}
		if a.media == "" || repeated(all[before:], a.media) {
			continue
		}
		a.describe(o.api.doc, entry.Get("schema"))
		all = append(all, a)
	}
	if len(all) == before {
		all = append(all, declaredResponse{status: status, open: mayHaveBody(status)})
	}
	return all
}

// mayHaveBody reports whether a response with a status can have a body (RFC
// 9110 §6.4.1 and §15). In 3.x a response without content is undescribed.
func mayHaveBody(status string) bool {
	return status != "204" && status != "205" && status != "304" && status[0] != '1'
}

// describe sets the schema of a body, if it describes values of the media type.
func (a *declaredResponse) describe(d *document.Document, schema document.Value) {
	switch {
	case strings.Contains(a.media, "*") && isBytes(d.Follow(schema)): // bytes of any type
	case encode.IsJSON(a.media):
		a.schema = schema
	case isStream(a.media) && a.media != eventStream:
		a.lines = schema
	}
}

// repeated reports whether a media type is already listed: two keys may differ
// in parameters only.
func repeated(all []declaredResponse, media string) bool {
	for i := range all {
		if all[i].media == media {
			return true
		}
	}
	return false
}

// legacyResponses reads a response of 2.0: one schema for all of produces.
func (o *operation) legacyResponses(all []declaredResponse, status string, node document.Value) []declaredResponse {
	schema := node.Get("schema")
	if !schema.OK() {
		return append(all, declaredResponse{status: status})
	}
	produces := o.node.Get("produces")
	if produces.Len() == 0 {
		produces = o.api.doc.Root.Get("produces")
	}
	file := schema.StrAt("type") == "file"
	before := len(all)
	for _, v := range produces.Each() {
		a := declaredResponse{status: status, media: encode.MediaType(v.Str())}
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
		all = append(all, declaredResponse{status: status, media: "*/*"})
	default:
		all = append(all, declaredResponse{status: status, media: "application/json", schema: schema})
	}
	return all
}

// isSuccess reports whether responses with a status contain data; without any
// declared 2xx those with "default" do.
func isSuccess(status string, declared bool) bool {
	return status[0] == '2' || status == "default" && !declared
}

func declaresSuccess(all []declaredResponse) bool {
	for i := range all {
		if all[i].status[0] == '2' {
			return true
		}
	}
	return false
}

// responseSchema converts a response.
func (o *operation) responseSchema(a declaredResponse) tenon.ResponseSchema {
	v := tenon.ResponseSchema{Status: a.status, MediaType: a.media, Open: a.open}
	v.Schema = o.responseBodySchema(a, convert.Output)
	if a.schema.OK() && a.schema.Get("$ref").OK() {
		f := o.api.schemas.Schema(a.schema, convert.Output)
		v.Definition = convert.Root(objectSchema(f.Body), f.Deps)
	}
	v.Example = o.example(a.entry)
	return v
}

// responseBodySchema returns the schema of a response's body, or nil.
func (o *operation) responseBodySchema(a declaredResponse, dir convert.Direction) []byte {
	switch {
	case a.schema.OK():
		return o.api.standalone(a.schema, dir)
	case isStream(a.media):
		return o.listSchema(a, dir)
	}
	return nil
}

// example returns the first example of a media type object.
func (o *operation) example(entry document.Value) []byte {
	if e := entry.Get("example"); e.OK() {
		return e.Raw()
	}
	for _, e := range entry.Get("examples").Each() {
		if e, err := o.api.doc.Deref(e); err == nil && e.Get("value").OK() {
			return e.Get("value").Raw()
		}
	}
	return nil
}

// standalone returns a schema as a self-contained document.
func (a *api) standalone(schema document.Value, dir convert.Direction) []byte {
	f := a.schemas.Schema(schema, dir)
	return convert.Assemble(objectSchema(f.Body), f.Deps)
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

// accept returns the Accept header with the declared media types, JSON first.
// Without any the upstream decides.
func (o *operation) accept() string {
	const most = 8
	var json, other []string
	for _, a := range o.responses(func(document.Value, string) {}) {
		list := &other
		if encode.IsJSON(a.media) {
			list = &json
		}
		if a.media != "" && !strings.Contains(a.media, "*") && len(*list) < most && encode.IsMediaType(a.media) && !slices.Contains(*list, a.media) {
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

// lineSchema converts the schema of a stream of JSON lines to that of a list.
// Before 3.2 OpenAPI had no field for items: some documents describe the list,
// others one item. Of a described list only items is used, because it arrives
// in parts.
func (o *operation) lineSchema(v document.Value, dir convert.Direction) []byte {
	d := o.api.schemas
	looks := maxListChecks
	switch describesList(o.api.doc, v, &looks) {
	case sometimes:
		f := d.Schema(v, dir)
		either := objectSchema(f.Body)
		doc := append(append([]byte(`{"type":"array","anyOf":[{"items":`), either...), "},"...)
		return convert.Assemble(append(append(doc, either...), "]}"...), f.Deps)
	case always:
		if list := o.api.doc.Follow(v); list.Get("items").OK() {
			return listOf(d.Schema(list.Get("items"), dir))
		}
		return o.api.standalone(v, dir)
	default:
		return listOf(d.Schema(v, dir))
	}
}

func listOf(items convert.Fragment) []byte {
	return convert.Assemble(append(append([]byte(`{"type":"array","items":`), objectSchema(items.Body)...), '}'), items.Deps)
}

// maxListChecks bounds the schemas that describesList visits.
const maxListChecks = 64

// often says how many values of a schema are of some kind.
type often uint8

const (
	never often = iota
	sometimes
	always
)

func oftenOf(some, others bool) often {
	switch {
	case !some:
		return never
	case others:
		return sometimes
	}
	return always
}

// describesList reports whether the values of a schema are lists. looks bounds
// the number of schemas to visit.
func describesList(d *document.Document, v document.Value, looks *int) often {
	if *looks--; *looks < 0 {
		return sometimes
	}
	v = d.Follow(v)
	switch t := v.Get("type"); {
	case t.Kind() == rawjson.String:
		return oftenOf(t.Str() == "array", false)
	case t.Kind() == rawjson.Array:
		lists, others := false, false
		for _, one := range t.Each() {
			lists = lists || one.Str() == "array"
			others = others || one.Str() != "array" && one.Str() != "null"
		}
		return oftenOf(lists, others)
	case v.Get("items").OK() && !v.Get("properties").OK():
		return always
	}
	is := never
	for _, part := range v.Get("allOf").Each() {
		is = max(is, describesList(d, part, looks))
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		lists, others := false, false
		for _, branch := range v.Get(key).Each() {
			one := describesList(d, branch, looks)
			lists, others = lists || one != never, others || one != always
		}
		is = max(is, oftenOf(lists, others))
	}
	return is
}
