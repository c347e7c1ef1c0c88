package flowmcp

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of a schema file, from the format's page.
const (
	maxTools     = 8
	maxResources = 2
)

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// defaultLibraries is what the format allows by itself; compat adds what the
// reference allows, and xml2js, which the format's page has in its example.
func defaultLibraries(strict bool) []string {
	all := []string{"ethers", "moment", "indicatorts", "@erc725/erc725.js", "ccxt", "axios"}
	if strict {
		return all
	}
	return append(all, "zlib", "crypto", "buffer", "path", "url", "util", "stream", "querystring", "yahoo-finance2",
		"trading-signals", "xml2js", "talib", "technicalindicators", "vega-lite", "vega", "canvas", "pinata", "irys", "better-sqlite3")
}

// OnAllowList reports whether schema files may require a library that the
// operator has not named.
func OnAllowList(library string) bool { return slices.Contains(defaultLibraries(false), library) }

func mainKeys() []string {
	return []string{
		"namespace", "name", "description", "version", "schemaVersion", "schemaHash", "root", "tools", "routes", "docs", "termsOfService",
		"termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName", "tags", "requiredServerParams",
		"requiredLibraries", "headers", "sharedLists", "resources", "prompts", "meta", "skills",
	}
}

// checkMain keeps the rules of the file itself.
func (c *checker) checkMain(f *file, r rules) {
	main := f.main
	if main == nil {
		c.fault("VAL001", nil, "main", "is not exported")
		return
	}
	if !main.is(objectKind) {
		c.fault("VAL002", main, "main", "must be a plain object")
		return
	}
	for i, key := range main.keys {
		if key != "tools" && key != "routes" && !main.items[i].valid() {
			c.failed = true // reported when it was read
		}
		if !slices.Contains(mainKeys(), key) {
			c.warn("VAL003", main.items[i], "main."+key, "is not a field of the format")
		}
	}
	c.checkIdentity(f)
	c.checkVersions(f)
	c.checkRoot(f)
	c.checkParts(f)
	c.checkTexts(f)
	c.checkServerParams(f)
	c.checkLibraries(f, r)
	if main.get("meta").there() {
		if shared := main.get("meta"); shared.get("isReadOnly").there() {
			c.checkMeta(shared, "main.meta")
		}
	}
}

// checkIdentity looks at who the file is.
func (c *checker) checkIdentity(f *file) {
	main := f.main
	c.wantString("VAL010", "namespace", main)
	c.wantString("VAL012", "name", main)
	c.wantString("VAL013", "description", main)
	if f.namespace != "" && !namespacePattern.MatchString(f.namespace) {
		c.fault("VAL011", main.get("namespace"), "main.namespace", "%q must match %s", f.namespace, namespacePattern)
	}
	if f.name != "" && !pascalPattern.MatchString(f.name) {
		c.letter("NAM001", main.get("name"), "main.name", "%q is not PascalCase", f.name)
	}
	if base := fileBase(f.path); !pascalPattern.MatchString(base) {
		c.letter("NAM002", nil, "file", "the file's name %q is not PascalCase", filepath.Base(f.path))
	}
	if dir := provider(f.path); dir != "" && f.namespace != "" && dir != f.namespace {
		c.warn("VAL019", main.get("namespace"), "main.namespace", "is %q in the folder %q", f.namespace, dir)
	}
}

func (c *checker) wantString(code, key string, main *node) {
	switch n := main.get(key); {
	case !n.there():
		c.fault(code, main, "main."+key, "is missing")
	case !n.is(stringKind):
		c.fault(code, n, "main."+key, "must be a string, not %s", n.kind)
	case n.text == "":
		c.fault(code, n, "main."+key, "is empty")
	}
}

// checkVersions looks at both axes of versions and at the hash.
func (c *checker) checkVersions(f *file) {
	version := f.main.get("version")
	switch {
	case semver.MatchString(version.str()) && strings.HasPrefix(version.text, "4."):
	case semver.MatchString(version.str()) && strings.HasPrefix(version.text, "3."):
		c.warn("VAL014", version, "main.version", "%s is accepted during migration only; use 4.x", version.text)
	default:
		c.fault("VAL014", orElse(version, f.main), "main.version", "must match 4.x.y")
	}
	switch own := f.main.get("schemaVersion"); {
	case !own.there():
		c.letter("VAL080", f.main, "main.schemaVersion", "is missing")
	case !semver.MatchString(own.str()):
		c.loose("VAL080", own, "main.schemaVersion", "must be a version such as 1.0.0")
	}
	switch hash := f.main.get("schemaHash"); {
	case !hash.there():
		c.letter("VAL081", f.main, "main.schemaHash", "is missing; it is %s", f.hash)
	case !hashPattern.MatchString(hash.str()):
		c.loose("VAL081", hash, "main.schemaHash", "must be 8 hexadecimal digits; it is %s", f.hash)
	case hash.text != f.hash:
		c.loose("VAL081", hash, "main.schemaHash", "says %s, and the file has %s", hash.text, f.hash)
	}
}

func orElse(n, other *node) *node {
	if n != nil {
		return n
	}
	return other
}

// checkRoot looks at the base URL.
func (c *checker) checkRoot(f *file) {
	root := f.main.get("root")
	at := orElse(root, f.main)
	switch {
	case !root.there() && len(toolsOf(f.main).keysOrNone()) == 0:
	case !root.there():
		c.fault("VAL015", at, "main.root", "is missing")
	case !root.is(stringKind):
		c.fault("VAL015", at, "main.root", "must be a string, not %s", root.kind)
	case root.text == "":
		c.loose("VAL015", at, "main.root", "is empty: only handlers could make a request")
	case !strings.HasPrefix(root.text, "https://") && len(toolsOf(f.main).keysOrNone()) == 0:
		c.loose("VAL082", at, "main.root", "must start with https://; nothing is sent there")
	case !strings.HasPrefix(root.text, "https://"):
		c.fault("VAL082", at, "main.root", "must start with https://")
	case strings.HasSuffix(root.text, "/"):
		c.loose("VAL082", at, "main.root", "must not end with /")
	}
}

// keysOrNone are the keys of an object, none of another value.
func (n *node) keysOrNone() []string {
	if !n.is(objectKind) {
		return nil
	}
	return n.keys
}

// checkParts looks at tools, routes and resources as wholes.
func (c *checker) checkParts(f *file) {
	tools, routes := f.main.get("tools"), f.main.get("routes")
	resources := f.main.get("resources")
	switch {
	case tools.there() && routes.there():
		c.fault("VAL017", routes, "main.routes", "cannot stand beside tools")
	case routes.there():
		c.warn("VAL018", routes, "main.routes", "is deprecated; call it tools")
	case len(toolsOf(f.main).keysOrNone()) == 0 && !resources.there() && !f.main.get("prompts").there():
		c.fault("VAL016", f.main, "main.tools", "defines nothing, and there are no resources or prompts")
	}
	all := toolsOf(f.main)
	if all.there() && !all.is(objectKind) {
		c.fault("VAL016", all, "main.tools", "must be a plain object, not %s", all.kind)
	}
	if n := len(all.keysOrNone()); n > maxTools {
		c.loose("VAL031", all, "main.tools", "has %d tools; %d are allowed", n, maxTools)
	}
	if resources.there() && !resources.is(objectKind) {
		c.fault("RES001", resources, "main.resources", "must be a plain object")
	}
	if n := len(resources.keysOrNone()); n > maxResources {
		c.loose("RES005", resources, "main.resources", "has %d resources; %d are allowed", n, maxResources)
	}
	resources.members(func(name string, n *node) {
		if !camelPattern.MatchString(name) {
			c.letter("RES017", n, "main.resources."+name, "is not camelCase")
		}
	})
	if skills := f.main.get("skills"); skills.there() {
		c.loose("VAL016", skills, "main.skills", "is forbidden since version 4")
	}
}

// checkTexts looks at what is only told.
func (c *checker) checkTexts(f *file) {
	main := f.main
	c.wantStrings("VAL020", "docs", main)
	c.wantStrings("VAL021", "tags", main)
	for i, tag := range main.get("tags").strs() {
		if !namespacePattern.MatchString(tag) {
			c.letter("NAM003", main.get("tags"), index("main.tags", i), "%q must match %s", tag, namespacePattern)
		}
	}
	if len(main.get("docs").strs()) == 0 {
		c.info("VAL027", main, "main.docs", "names no documentation")
	}
	if terms := main.get("termsOfService"); !strings.HasPrefix(terms.str(), "https://") && terms.str() != "no-tos-found" {
		c.info("VAL028", orElse(terms, main), "main.termsOfService", "names no terms of service")
	}
	for _, key := range []string{"termsOfService", "termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName"} {
		if n := main.get(key); n.there() && !n.is(stringKind) && !n.is(nullKind) {
			c.loose("VAL028", n, "main."+key, "must be a string or null, not %s", n.kind)
		}
	}
	if n := main.get("termsOfServiceCheckedAt"); n.str() != "" && !datePattern.MatchString(n.text) {
		c.warn("VAL028", n, "main.termsOfServiceCheckedAt", "must be a date such as 2026-01-31")
	}
	main.get("headers").members(func(name string, n *node) {
		if !n.is(stringKind) {
			c.fault("VAL023", n, "main.headers."+name, "must be a string, not %s", n.kind)
		}
	})
	if h := main.get("headers"); h.there() && !h.is(objectKind) {
		c.fault("VAL023", h, "main.headers", "must be a plain object")
	}
	if l := main.get("sharedLists"); l.there() && !l.is(arrayKind) {
		c.fault("VAL024", l, "main.sharedLists", "must be an array")
	}
}

func (c *checker) wantStrings(code, key string, main *node) {
	n := main.get(key)
	if n.there() && (!n.is(arrayKind) || len(n.strs()) != len(n.items)) {
		c.loose(code, n, "main."+key, "must be an array of strings")
	}
}

// checkServerParams reads which server parameters there are, and looks at the
// headers that name some.
func (c *checker) checkServerParams(f *file) {
	n := f.main.get("requiredServerParams")
	if n.there() && (!n.is(arrayKind) || len(n.strs()) != len(n.items)) {
		c.fault("VAL022", n, "main.requiredServerParams", "must be an array of strings")
	}
	for _, key := range n.strs() {
		f.server[key] = true
	}
	f.main.get("headers").members(func(name string, n *node) {
		if n.is(stringKind) {
			c.splitMarks(f, n, "main.headers."+name, func(string) string { return "" })
		}
	})
}

func (c *checker) checkLibraries(f *file, r rules) {
	n := f.main.get("requiredLibraries")
	if n.there() && (!n.is(arrayKind) || len(n.strs()) != len(n.items)) {
		c.fault("VAL025", n, "main.requiredLibraries", "must be an array of strings")
	}
	allowed := append(defaultLibraries(r.strict), r.libraries...)
	for i, name := range n.strs() {
		if !slices.Contains(allowed, name) {
			failed := c.failed
			c.fault("SEC020", n, index("main.requiredLibraries", i), "the library %q is not on the allow-list; --allow-library %s allows it", name, name)
			c.failed, f.refused = failed, append(f.refused, name)
		}
	}
}
