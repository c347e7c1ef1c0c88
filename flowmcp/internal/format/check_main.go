package format

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Limits of a schema file, from the format's page.
const (
	maxTools     = 8
	maxResources = 2
)

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// defaultLibraries returns the format's allow-list; compat mode adds what the
// reference implementation allows, and xml2js from the example on the format's
// page.
func defaultLibraries(strict bool) []string {
	all := []string{"ethers", "moment", "indicatorts", "@erc725/erc725.js", "ccxt", "axios"}
	if strict {
		return all
	}
	return append(all, "zlib", "crypto", "buffer", "path", "url", "util", "stream", "querystring", "yahoo-finance2",
		"trading-signals", "xml2js", "talib", "technicalindicators", "vega-lite", "vega", "canvas", "pinata", "irys", "better-sqlite3")
}

// OnAllowList reports whether schema files may require a library without the
// operator's permission.
func OnAllowList(library string) bool { return slices.Contains(defaultLibraries(false), library) }

func mainKeys() []string {
	return []string{
		"namespace", "name", "description", "version", "schemaVersion", "schemaHash", "root", "tools", "routes", "docs", "termsOfService",
		"termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName", "tags", "requiredServerParams",
		"requiredLibraries", "headers", "sharedLists", "resources", "prompts", "meta", "skills",
	}
}

// checkMain checks main as a whole.
func (c *checker) checkMain(f *File, r Rules) {
	main := f.Main
	if main == nil {
		c.error("VAL001", nil, "main", "is not exported")
		return
	}
	if !main.Is(module.Object) {
		c.error("VAL002", main, "main", "must be a plain object")
		return
	}
	for i, key := range main.Keys {
		if key != "tools" && key != "routes" && !main.Items[i].Valid() {
			c.failed = true // reported by evaluate
		}
		if !slices.Contains(mainKeys(), key) {
			c.warn("VAL003", main.Items[i], "main."+key, "is not a field of the format")
		}
	}
	c.checkIdentity(f)
	c.checkVersions(f)
	c.checkRoot(f)
	c.checkParts(f)
	c.checkTexts(f)
	c.checkServerParams(f)
	c.checkLibraries(f, r)
	if main.Get("meta").Exists() {
		if shared := main.Get("meta"); shared.Get("isReadOnly").Exists() {
			c.checkMeta(shared, "main.meta")
		}
	}
}

// checkIdentity checks namespace, name and description.
func (c *checker) checkIdentity(f *File) {
	main := f.Main
	c.wantString("VAL010", "namespace", main)
	c.wantString("VAL012", "name", main)
	c.wantString("VAL013", "description", main)
	if f.Namespace != "" && !NamespacePattern.MatchString(f.Namespace) {
		c.error("VAL011", main.Get("namespace"), "main.namespace", "%q must match %s", f.Namespace, NamespacePattern)
	}
	if f.Name != "" && !pascalPattern.MatchString(f.Name) {
		c.strictOnly("NAM001", main.Get("name"), "main.name", "%q is not PascalCase", f.Name)
	}
	if base := FileBase(f.Path); !pascalPattern.MatchString(base) {
		c.strictOnly("NAM002", nil, "file", "the file's name %q is not PascalCase", filepath.Base(f.Path))
	}
	if dir := provider(f.Path); dir != "" && f.Namespace != "" && dir != f.Namespace {
		c.warn("VAL019", main.Get("namespace"), "main.namespace", "is %q in the folder %q", f.Namespace, dir)
	}
}

func (c *checker) wantString(code, key string, main *module.Node) {
	switch n := main.Get(key); {
	case !n.Exists():
		c.error(code, main, "main."+key, "is missing")
	case !n.Is(module.String):
		c.error(code, n, "main."+key, "must be a string, not %s", n.Kind)
	case n.Text == "":
		c.error(code, n, "main."+key, "is empty")
	}
}

// checkVersions checks both versions and the hash.
func (c *checker) checkVersions(f *File) {
	version := f.Main.Get("version")
	switch {
	case Semver.MatchString(version.Str()) && strings.HasPrefix(version.Text, "4."):
	case Semver.MatchString(version.Str()) && strings.HasPrefix(version.Text, "3."):
		c.warn("VAL014", version, "main.version", "%s is accepted during migration only; use 4.x", version.Text)
	default:
		c.error("VAL014", orElse(version, f.Main), "main.version", "must match 4.x.y")
	}
	switch own := f.Main.Get("schemaVersion"); {
	case !own.Exists():
		c.strictOnly("VAL080", f.Main, "main.schemaVersion", "is missing")
	case !Semver.MatchString(own.Str()):
		c.lenient("VAL080", own, "main.schemaVersion", "must be a version such as 1.0.0")
	}
	switch hash := f.Main.Get("schemaHash"); {
	case !hash.Exists():
		c.strictOnly("VAL081", f.Main, "main.schemaHash", "is missing; it is %s", f.Hash)
	case !hashPattern.MatchString(hash.Str()):
		c.lenient("VAL081", hash, "main.schemaHash", "must be 8 hexadecimal digits; it is %s", f.Hash)
	case hash.Text != f.Hash:
		c.lenient("VAL081", hash, "main.schemaHash", "is %s, but the file has %s", hash.Text, f.Hash)
	}
}

func orElse(n, other *module.Node) *module.Node {
	if n != nil {
		return n
	}
	return other
}

// checkRoot checks the base URL.
func (c *checker) checkRoot(f *File) {
	root := f.Main.Get("root")
	at := orElse(root, f.Main)
	switch {
	case !root.Exists() && len(ToolsOf(f.Main).ObjectKeys()) == 0:
	case !root.Exists():
		c.error("VAL015", at, "main.root", "is missing")
	case !root.Is(module.String):
		c.error("VAL015", at, "main.root", "must be a string, not %s", root.Kind)
	case root.Text == "":
		c.lenient("VAL015", at, "main.root", "is empty: only handlers could make a request")
	case !strings.HasPrefix(root.Text, "https://") && len(ToolsOf(f.Main).ObjectKeys()) == 0:
		c.lenient("VAL082", at, "main.root", "must start with https://; nothing is sent there")
	case !strings.HasPrefix(root.Text, "https://"):
		c.error("VAL082", at, "main.root", "must start with https://")
	case strings.HasSuffix(root.Text, "/"):
		c.lenient("VAL082", at, "main.root", "must not end with /")
	}
}

// checkParts checks tools, routes and resources as a whole.
func (c *checker) checkParts(f *File) {
	tools, routes := f.Main.Get("tools"), f.Main.Get("routes")
	resources := f.Main.Get("resources")
	switch {
	case tools.Exists() && routes.Exists():
		c.error("VAL017", routes, "main.routes", "cannot be combined with tools")
	case routes.Exists():
		c.warn("VAL018", routes, "main.routes", "is deprecated; call it tools")
	case len(ToolsOf(f.Main).ObjectKeys()) == 0 && !resources.Exists() && !f.Main.Get("prompts").Exists():
		c.error("VAL016", f.Main, "main.tools", "defines nothing, and there are no resources or prompts")
	}
	all := ToolsOf(f.Main)
	if all.Exists() && !all.Is(module.Object) {
		c.error("VAL016", all, "main.tools", "must be a plain object, not %s", all.Kind)
	}
	if n := len(all.ObjectKeys()); n > maxTools {
		c.lenient("VAL031", all, "main.tools", "has %d tools; %d are allowed", n, maxTools)
	}
	if resources.Exists() && !resources.Is(module.Object) {
		c.error("RES001", resources, "main.resources", "must be a plain object")
	}
	if n := len(resources.ObjectKeys()); n > maxResources {
		c.lenient("RES005", resources, "main.resources", "has %d resources; %d are allowed", n, maxResources)
	}
	resources.Members(func(name string, n *module.Node) {
		if !camelPattern.MatchString(name) {
			c.strictOnly("RES017", n, "main.resources."+name, "is not camelCase")
		}
	})
	if skills := f.Main.Get("skills"); skills.Exists() {
		c.lenient("VAL016", skills, "main.skills", "is forbidden since version 4")
	}
}

// checkTexts checks the informational fields.
func (c *checker) checkTexts(f *File) {
	main := f.Main
	c.wantStrings("VAL020", "docs", main)
	c.wantStrings("VAL021", "tags", main)
	for i, tag := range main.Get("tags").Strings() {
		if !NamespacePattern.MatchString(tag) {
			c.strictOnly("NAM003", main.Get("tags"), index("main.tags", i), "%q must match %s", tag, NamespacePattern)
		}
	}
	if len(main.Get("docs").Strings()) == 0 {
		c.info("VAL027", main, "main.docs", "names no documentation")
	}
	if terms := main.Get("termsOfService"); !strings.HasPrefix(terms.Str(), "https://") && terms.Str() != "no-tos-found" {
		c.info("VAL028", orElse(terms, main), "main.termsOfService", "names no terms of service")
	}
	for _, key := range []string{"termsOfService", "termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName"} {
		if n := main.Get(key); n.Exists() && !n.Is(module.String) && !n.Is(module.Null) {
			c.lenient("VAL028", n, "main."+key, "must be a string or null, not %s", n.Kind)
		}
	}
	if n := main.Get("termsOfServiceCheckedAt"); n.Str() != "" && !datePattern.MatchString(n.Text) {
		c.warn("VAL028", n, "main.termsOfServiceCheckedAt", "must be a date such as 2026-01-31")
	}
	main.Get("headers").Members(func(name string, n *module.Node) {
		if !n.Is(module.String) {
			c.error("VAL023", n, "main.headers."+name, "must be a string, not %s", n.Kind)
		}
	})
	if h := main.Get("headers"); h.Exists() && !h.Is(module.Object) {
		c.error("VAL023", h, "main.headers", "must be a plain object")
	}
	if l := main.Get("sharedLists"); l.Exists() && !l.Is(module.Array) {
		c.error("VAL024", l, "main.sharedLists", "must be an array")
	}
}

func (c *checker) wantStrings(code, key string, main *module.Node) {
	n := main.Get(key)
	if n.Exists() && (!n.Is(module.Array) || len(n.Strings()) != len(n.Items)) {
		c.lenient(code, n, "main."+key, "must be an array of strings")
	}
}

// checkServerParams reads the names of the server parameters and checks the
// headers that use them.
func (c *checker) checkServerParams(f *File) {
	n := f.Main.Get("requiredServerParams")
	if n.Exists() && (!n.Is(module.Array) || len(n.Strings()) != len(n.Items)) {
		c.error("VAL022", n, "main.requiredServerParams", "must be an array of strings")
	}
	for _, key := range n.Strings() {
		f.ServerParams[key] = true
	}
	f.Main.Get("headers").Members(func(name string, n *module.Node) {
		if n.Is(module.String) {
			c.splitPlaceholders(f, n, "main.headers."+name, func(string) string { return "" })
		}
	})
}

func (c *checker) checkLibraries(f *File, r Rules) {
	n := f.Main.Get("requiredLibraries")
	if n.Exists() && (!n.Is(module.Array) || len(n.Strings()) != len(n.Items)) {
		c.error("VAL025", n, "main.requiredLibraries", "must be an array of strings")
	}
	allowed := append(defaultLibraries(r.strict), r.libraries...)
	for i, name := range n.Strings() {
		if !slices.Contains(allowed, name) {
			failed := c.failed
			c.error("SEC020", n, index("main.requiredLibraries", i), "the library %q is not on the allow-list; --allow-library %s allows it", name, name)
			c.failed, f.BlockedLibraries = failed, append(f.BlockedLibraries, name)
		}
	}
}

// idKinds returns the kinds of a qualified name.
func idKinds() []string {
	return []string{"tool", "resource", "prompt", "list", "skill", "selection", "agent"}
}

// checkID checks a qualified name, namespace/kind/name, of the given kind; an
// empty kind is any. A source may precede it with a colon. It returns false
// where the name is malformed, so that it is not looked up.
func (c *checker) checkID(at *module.Node, path, kind, id string) bool {
	if source, rest, ok := strings.Cut(id, ":"); ok && !strings.Contains(source, "/") {
		id = rest
	}
	parts := strings.Split(id, "/")
	switch last := len(parts) - 1; {
	case last == 0 || last > 2:
		c.lenient("ID001", at, path, "%q is not a name of the form namespace/kind/name", id)
	case !NamespacePattern.MatchString(parts[0]):
		c.lenient("ID002", at, path, "the namespace of %q must match %s", id, NamespacePattern)
	case parts[last] == "":
		c.lenient("ID004", at, path, "%q has no name after its last slash", id)
	case last == 2 && !slices.Contains(idKinds(), parts[1]):
		c.lenient("ID003", at, path, "the kind of %q must be one of %s", id, strings.Join(idKinds(), ", "))
	case last == 2 && kind != "" && parts[1] != kind:
		c.lenient("ID003", at, path, "%q must name a %s here", id, kind)
	case last == 1:
		c.strictOnly("ID005", at, path, "%q lacks the kind; write the qualified name", id)
		return true
	default:
		return true
	}
	return false
}

// checkFullID also accepts a bare name of the same namespace, with a finding:
// the format requires the qualified name.
func (c *checker) checkFullID(at *module.Node, path, kind, scope, id string) bool {
	if id == "" || strings.Contains(id, "/") {
		return c.checkID(at, path, kind, id)
	}
	c.strictOnly("ID006", at, path, "%q must be a qualified name: %s", id, QualifiedID(kind, scope, id))
	return true
}

// checkPlaceholderID checks a name in a placeholder, which may be bare or leave out
// its kind.
func (c *checker) checkPlaceholderID(at *module.Node, path, kind, name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		return true
	}
	if len(parts) == 2 {
		name = parts[0] + "/" + kind + "/" + parts[1]
	}
	return c.checkID(at, path, kind, name)
}

// guideOnlyPlaceholder matches a placeholder that is only valid in the text of a skill or a
// prompt.
var guideOnlyPlaceholder = regexp.MustCompile(`\{\{\s*(tool|resource|skill|prompt|input):[^{}]*\}\}`)

// checkPlaceholders reports placeholders of skills and prompts in main, where nothing
// fills them in: placeholders there are arguments, server parameters and fields
// of lists, and a list may have one of these names.
func (c *checker) checkPlaceholders(f *File) {
	for i, key := range f.Main.ObjectKeys() {
		c.checkPlaceholdersIn(f, f.Main.Items[i], "main."+key)
	}
}

func (c *checker) checkPlaceholdersIn(f *File, n *module.Node, path string) {
	m := guideOnlyPlaceholder.FindStringSubmatch(n.Str())
	_, isList := f.Lists[slices.Concat(m, []string{"", ""})[1]]
	switch {
	case m != nil && !isList && !strings.HasSuffix(path, ".z.primitive"): // there it is an undeclared list
		c.lenient("PH004", n, path, "the placeholder %s belongs in the content of a skill or a prompt; it is not replaced here", m[0])
	case n.Is(module.Array):
		for i, item := range n.Items {
			c.checkPlaceholdersIn(f, item, index(path, i))
		}
	default:
		n.Members(func(key string, value *module.Node) { c.checkPlaceholdersIn(f, value, path+"."+key) })
	}
}
