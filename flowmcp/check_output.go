package flowmcp

import "slices"

// maxOutputDepth is how deep properties may nest, the root counted, elements
// of arrays not.
const maxOutputDepth = 4

// rootTypes are the root types that a media type allows; nil: it is not known.
func rootTypes(mime string) []string {
	switch mime {
	case "application/json":
		return []string{"object", "array"}
	case "image/png", "text/plain":
		return []string{"string"}
	}
	return nil
}

// checkOutput keeps the rules of the output schema page.
func (c *checker) checkOutput(tool *node, path string) {
	n := tool.get("output")
	if !n.there() {
		c.advise("VAL036", tool, path, "is missing: nothing is said of the answer")
		return
	}
	if !n.is(objectKind) {
		c.loose("VAL061", n, path, "must be a plain object")
		return
	}
	mime := outputMime(n)
	roots := rootTypes(mime)
	switch {
	case !n.get("mimeType").there():
		c.loose("VAL060", n, path+".mimeType", "is missing; it is taken for application/json")
	case roots == nil:
		c.loose("VAL060", orElse(n.get("mimeType"), n), path+".mimeType", "must be application/json, image/png or text/plain")
	}
	root := n.get("schema")
	if !root.is(objectKind) {
		c.loose("VAL061", orElse(root, n), path+".schema", "must be a plain object")
		return
	}
	kind := root.get("type").str()
	if roots != nil && isOutputType(kind) && !slices.Contains(roots, kind) {
		c.loose("VAL062", root, path+".schema.type", "%s does not go with %s", kind, mime)
	}
	if mime == "image/png" && root.get("format").str() != "base64" {
		c.loose("VAL062", root, path+".schema.format", "must be base64 for image/png")
	}
	c.checkOutputNode(root, path+".schema", 1)
}

// outputMime is the media type of an output block. JSON is the default of the
// page, which wants it written anyway.
func outputMime(output *node) string {
	if mime := output.get("mimeType"); mime.there() || !output.there() {
		return mime.str()
	}
	return jsonMedia
}

func isOutputType(kind string) bool {
	return slices.Contains([]string{"string", "number", "boolean", "object", "array"}, kind)
}

// checkOutputNode looks at one node of an output schema and those below it.
func (c *checker) checkOutputNode(n *node, path string, depth int) {
	if !n.is(objectKind) {
		c.loose("VAL061", n, path, "must be a plain object")
		return
	}
	kind := n.get("type")
	switch {
	case !kind.there():
		c.loose("VAL061", n, path+".type", "is missing")
	case !isOutputType(kind.str()):
		c.loose("VAL061", kind, path+".type", "must be string, number, boolean, object or array")
	}
	if depth == maxOutputDepth+1 {
		c.warn("VAL063", n, path, "is nested deeper than %d levels", maxOutputDepth)
	}
	n.members(func(key string, value *node) { c.checkOutputKeyword(n, key, value, path) })
	if p := n.get("properties"); p.is(objectKind) {
		p.members(func(key string, value *node) { c.checkOutputNode(value, path+".properties."+key, depth+1) })
	}
	if items := n.get("items"); items.there() {
		c.checkOutputNode(items, path+".items", depth)
	}
}

func (c *checker) checkOutputKeyword(n *node, key string, value *node, path string) {
	at := path + "." + key
	kind := n.get("type").str()
	switch key {
	case "type":
	case "properties":
		if kind != "object" {
			c.loose("VAL064", value, at, "goes only with type object")
		} else if !value.is(objectKind) {
			c.loose("VAL064", value, at, "must be a plain object")
		}
	case "items":
		if kind != "array" {
			c.loose("VAL065", value, at, "goes only with type array")
		}
	case "description":
		if !value.is(stringKind) {
			c.warn("OUT002", value, at, "must be a string")
		}
	case "nullable":
		if !value.is(boolKind) {
			c.loose("OUT002", value, at, "must be a boolean")
		}
	case "enum":
		if len(value.list()) == 0 {
			c.loose("OUT002", value, at, "must be an array that is not empty")
		}
	case "format":
		if !slices.Contains([]string{"base64", "date-time", "uri"}, value.str()) {
			c.warn("OUT002", value, at, "must be base64, date-time or uri")
		}
	case "$ref", "oneOf", "anyOf", "allOf", "required", "additionalProperties", "pattern", "minimum", "maximum":
		c.loose("OUT001", value, at, "is excluded from output schemas and ignored")
	default:
		c.warn("OUT003", value, at, "is not known and ignored")
	}
}
