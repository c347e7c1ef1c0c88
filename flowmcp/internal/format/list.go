package format

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// maxListDepth is the maximum length of a chain of dependent lists.
const maxListDepth = 3

// List is one shared list: a table used by several schema files.
type List struct {
	Name    string
	version string
	Fields  map[string]bool
	texts   []string                   // fields of type string
	holds   map[string]map[string]bool // their values; nil: not computed
	Entries []*module.Node
	depends []*module.Node
}

// listFolder reads the shared lists of one folder, each once.
type listFolder struct {
	dir    string
	strict bool
	read   func(path string) ([]byte, error)
	lists  map[string]*cachedList // by file name
	every  []*List                // nil: not read yet
}

type cachedList struct {
	list     *List
	missing  bool
	findings []Finding // in the list's own file
}

// NewListFolder returns the lists of a folder, which are read on demand.
func NewListFolder(dir string, strict bool) *listFolder {
	return &listFolder{dir: dir, strict: strict, read: readFile, lists: map[string]*cachedList{}}
}

// ListsNear returns the folder of shared lists above a schema file, or "".
func ListsNear(file string) string {
	dir := filepath.Dir(file)
	for range 10 {
		if whole, err := filepath.Abs(dir); err == nil && (dir == "." || filepath.Base(dir) == "..") {
			if info, err := os.Stat(filepath.Join(dir, "_lists")); err != nil || !info.IsDir() {
				dir = whole // dots are not enough from here on
			}
		}
		for _, name := range []string{"_lists", "_shared"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
				return filepath.Join(dir, name)
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// get reads the list that a schema file calls ref.
func (s *listFolder) get(ref string) *cachedList {
	if s.dir == "" || !camelPattern.MatchString(ref) {
		return &cachedList{missing: true}
	}
	return s.open(kebab(ref) + ".mjs")
}

func (s *listFolder) open(name string) *cachedList {
	if known := s.lists[name]; known != nil {
		return known
	}
	found := &cachedList{missing: true}
	s.lists[name] = found
	if text, err := s.read(filepath.Join(s.dir, name)); err == nil {
		found.missing = false
		found.list, found.findings = ParseList(text, s.strict)
	}
	return found
}

// all returns the valid lists of the folder, in the order of their files.
func (s *listFolder) all() []*List {
	if s.every != nil || s.dir == "" {
		return s.every
	}
	s.every = []*List{}
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries[:min(len(entries), maxGuides)] {
		if e.IsDir() || isHidden(e.Name()) || filepath.Ext(e.Name()) != ".mjs" {
			continue
		}
		if l := s.open(e.Name()).list; l != nil {
			s.every = append(s.every, l)
		}
	}
	return s.every
}

// kebab inserts a hyphen before each capital that follows a small letter or a
// digit.
func kebab(s string) string {
	var b strings.Builder
	var before rune
	for _, r := range s {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// ParseList reads the file of a shared list. The list is nil where the file has
// errors.
func ParseList(text []byte, strict bool) (*List, []Finding) {
	m, err := module.Parse(text)
	if err != nil {
		return nil, []Finding{syntaxFinding(err)}
	}
	c := &checker{m: m, strict: strict, list: true, broken: map[string]bool{}}
	n := c.evaluate("list")
	if n == nil {
		c.error("LST001", nil, "list", "is not exported")
		return nil, c.findings
	}
	if !n.Valid() {
		c.failed = true
	}
	c.checkList(n)
	c.checkSecurity()
	if c.failed {
		return nil, c.findings
	}
	l := &List{Name: n.Get("meta").Get("name").Str(), version: n.Get("meta").Get("version").Str(), Fields: map[string]bool{}}
	for _, f := range n.Get("meta").Get("fields").List() {
		l.Fields[f.Get("key").Str()] = true
		if f.Get("type").Str() == "string" {
			l.texts = append(l.texts, f.Get("key").Str())
		}
	}
	l.Entries = n.Get("entries").List()
	l.depends = n.Get("meta").Get("dependsOn").List()
	return l, c.findings
}

// checkList checks the file of a shared list.
func (c *checker) checkList(n *module.Node) {
	meta := n.Get("meta")
	if meta.Get("name").Str() == "" {
		c.error("LST002", meta, "list.meta.name", "is missing")
	}
	if !Semver.MatchString(meta.Get("version").Str()) {
		c.error("LST003", meta.Get("version"), "list.meta.version", "must be a version such as 1.0.0")
	}
	fields := meta.Get("fields")
	if len(fields.List()) == 0 {
		c.error("LST004", fields, "list.meta.fields", "must name at least one field")
	}
	for i, f := range fields.List() {
		path := fmt.Sprintf("list.meta.fields[%d]", i)
		if f.Get("key").Str() == "" || f.Get("type").Str() == "" {
			c.error("LST005", f, path, "must have a key and a type")
		} else if f.Get("description").Str() == "" {
			c.warn("LST005", f, path, "has no description")
		}
	}
	entries := n.Get("entries")
	if len(entries.List()) == 0 {
		c.error("LST006", entries, "list.entries", "must hold at least one entry")
	}
	for i, e := range entries.List() {
		c.checkEntry(e, fields.List(), fmt.Sprintf("list.entries[%d]", i))
	}
}

func (c *checker) checkEntry(e *module.Node, fields []*module.Node, path string) {
	for _, f := range fields {
		key, value := f.Get("key").Str(), e.Get(f.Get("key").Str())
		switch {
		case !value.Exists() || value.Is(module.Null):
			if !f.Get("optional").IsTrue() {
				c.lenient("LST007", e, path, "has no %s", key)
			}
		case value.Kind.String() != "a "+f.Get("type").Str():
			c.lenient("LST008", value, path+"."+key, "must be a %s", f.Get("type").Str())
		}
	}
}

// checkDepends checks the lists that l depends on.
func (c *checker) checkDepends(s *listFolder, l *List, at *module.Node, path string, chain []string) {
	for _, d := range l.depends {
		ref := d.Get("ref").Str()
		next := append(slices.Clip(chain), ref)
		if slices.Contains(chain, ref) {
			c.error("LST010", at, path, "depends on itself: %s", strings.Join(next, " → "))
			return
		}
		if len(next) > maxListDepth {
			c.error("LST011", at, path, "the chain %s is longer than %d", strings.Join(next, " → "), maxListDepth)
			return
		}
		on := s.get(ref)
		if on.list == nil || on.list.version != d.Get("version").Str() {
			c.lenient("LST009", at, path, "list %s depends on %s %s, which is missing", l.Name, ref, d.Get("version").Str())
			continue
		}
		c.checkDepends(s, on.list, at, path, next)
	}
}

// ListReference is a list as one schema file uses it.
type ListReference struct {
	List    *List
	Entries []*module.Node // after the filter
}

// Values returns the values of a field as strings.
func (r *ListReference) Values(field string) []string {
	var all []string
	for _, e := range r.Entries {
		switch v := e.Get(field); {
		case v.Is(module.String), v.Is(module.Number), v.Is(module.Bool):
			all = append(all, v.Text)
		}
	}
	return all
}

// filtered returns the entries that the reference's filter selects.
func filtered(entries []*module.Node, filter *module.Node) []*module.Node {
	if !filter.Is(module.Object) {
		return entries
	}
	var kept []*module.Node
	for _, e := range entries {
		if matches(e.Get(filter.Get("key").Str()), filter) {
			kept = append(kept, e)
		}
	}
	return kept
}

func matches(value, filter *module.Node) bool {
	here := value.Exists() && !value.Is(module.Null)
	if exists := filter.Get("exists"); exists.Exists() {
		return here == exists.IsTrue()
	}
	if want := filter.Get("value"); want.Exists() {
		return same(value, want)
	}
	for _, want := range filter.Get("in").List() {
		if same(value, want) {
			return true
		}
	}
	return !filter.Get("in").Exists()
}

func same(a, b *module.Node) bool {
	return a.Exists() && a.Kind == b.Kind && a.Text == b.Text && a.Kind != module.Array && a.Kind != module.Object
}

// Patterns of names and versions, from the format's page.
var (
	camelPattern     = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	pascalPattern    = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*$`)
	NamespacePattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	Semver           = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	hashPattern      = regexp.MustCompile(`^[0-9a-f]{8}$`)
	datePattern      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	placeholder      = regexp.MustCompile(`\{\{([A-Za-z0-9_:]+)\}\}`)
)

// ListUse describes how one schema file uses one shared list.
type ListUse struct {
	List    string `json:"list"`
	Version string `json:"version"` // required by the file
	File    string `json:"file"`
	// Tools are the enums with values from the list. A file without them may
	// use the list in its handlers.
	Tools    []ListedEnum `json:"tools"`
	Handlers bool         `json:"handlers"` // the handlers refer to the list
}

// ListedEnum is a parameter with values from a field of a list.
type ListedEnum struct {
	Tool  string `json:"id"` // qualified name
	Key   string `json:"key"`
	Field string `json:"field"`
}

// ListUses returns the uses of shared lists by the schema files at spec, in the
// order of their paths.
func ListUses(ctx context.Context, spec string) ([]ListUse, error) {
	files, err := ReadFiles(ctx, spec, Options{}, false)
	if err != nil {
		return nil, err
	}
	var all []ListUse
	for _, f := range files {
		for _, n := range f.Main.Get("sharedLists").List() {
			u := ListUse{List: n.Get("ref").Str(), Version: n.Get("version").Str(), File: f.Path, Tools: []ListedEnum{}}
			u.Tools = append(u.Tools, f.enumsOf(u.List)...)
			u.Handlers = f.Handlers.Names[u.List]
			all = append(all, u)
		}
	}
	return all, nil
}

// enumsOf returns the parameters with values from a list.
func (f *File) enumsOf(list string) []ListedEnum {
	var all []ListedEnum
	ToolsOf(f.Main).Members(func(name string, tool *module.Node) {
		for _, p := range tool.Get("parameters").List() {
			for _, m := range placeholder.FindAllStringSubmatch(p.Get("z").Get("primitive").Str(), -1) {
				from, field, _ := strings.Cut(m[1], ":")
				e := ListedEnum{Tool: QualifiedName(f.Namespace, f.Path, name), Key: p.Get("position").Get("key").Str(), Field: field}
				if from == list && !slices.Contains(all, e) {
					all = append(all, e)
				}
			}
		}
	})
	return all
}

// SharedList is a table used by several schema files.
type SharedList struct {
	File     string
	Name     string
	Version  string
	Fields   []string
	Entries  [][]byte // JSON objects; nil where the list has errors
	Findings []Finding
}

// SharedLists reads the lists in a folder, in the order of their files. spec
// may also be a schema file or a folder of them, for the folder of lists above
// it.
func SharedLists(spec string) ([]SharedList, error) {
	dir := spec
	if base := filepath.Base(spec); base != "_lists" && base != "_shared" {
		if found := ListsNear(filepath.Join(spec, "x")); found != "" {
			dir = found
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, WithoutPath(err)
	}
	var all []SharedList
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".mjs" {
			continue
		}
		text, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		l := SharedList{File: filepath.Join(dir, e.Name())}
		read, findings := ParseList(text, false)
		l.Findings = findings
		if read != nil {
			l.Name, l.Version = read.Name, read.version
			for field := range read.Fields {
				l.Fields = append(l.Fields, field)
			}
			slices.Sort(l.Fields)
			for _, n := range read.Entries {
				l.Entries = append(l.Entries, n.AppendJSON(nil))
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// enoughValues is the number of values that must match a list before an enum
// counts as a copy of it: pairs such as 0 and 1, or true and false, occur in
// many lists.
const enoughValues = 3

// checkEnum checks that enums do not repeat the values of a shared list and
// that z.enum names lists.
func (c *checker) checkEnum(p *Parameter, z *module.Node) {
	for i, item := range z.Get("enum").List() {
		if m := placeholder.FindString(item.Str()); m == "" || m != item.Str() {
			c.strictOnly("VAL107", item, index(p.path+".z.enum", i), "must name a field of a shared list, such as {{listName:alias}}")
		}
	}
	if c.lists == nil || p.Type.Primitive != "enum" || len(p.Type.Members) < enoughValues || placeholder.MatchString(z.Get("primitive").Str()) {
		return
	}
	for _, l := range c.lists.all() {
		if field := l.holding(p.Type.Members); field != "" {
			c.strictOnly("VAL107", orElse(z.Get("primitive"), z), p.path+".z.primitive", "its %d values are all in the shared list %s; declare it, with a filter where it has more, and write {{%s:%s}}", len(p.Type.Members), l.Name, l.Name, field)
			return
		}
	}
}

// holding returns the string field that has all these values, alias first, or
// "".
func (l *List) holding(texts []string) string {
	if l.holds == nil {
		l.holds = map[string]map[string]bool{}
		for _, field := range l.texts {
			l.holds[field] = map[string]bool{}
			for _, value := range (&ListReference{List: l, Entries: l.Entries}).Values(field) {
				l.holds[field][value] = true
			}
		}
	}
	for _, field := range append([]string{"alias"}, l.texts...) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !l.holds[field][text] }) {
			return field
		}
	}
	return ""
}
