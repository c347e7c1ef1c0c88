package flowmcp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxListDepth is how long a chain of lists that depend on each other may be.
const maxListDepth = 3

// list is one shared list: a table that several schema files use.
type list struct {
	name    string
	version string
	fields  map[string]bool
	texts   []string                   // the fields that hold texts
	holds   map[string]map[string]bool // their values; nil: nobody asked yet
	entries []*node
	depends []*node
}

// shelf reads the shared lists of one folder, each once.
type shelf struct {
	dir    string
	strict bool
	read   func(path string) ([]byte, error)
	lists  map[string]*shelved // by the names of their files
	every  []*list             // nil: not read yet
}

type shelved struct {
	list     *list
	missing  bool
	findings []Finding // of the list's own file
}

func newShelf(dir string, strict bool) *shelf {
	return &shelf{dir: dir, strict: strict, read: readFile, lists: map[string]*shelved{}}
}

// listsNear finds the folder of shared lists above a schema file.
func listsNear(file string) string {
	dir := filepath.Dir(file)
	for range 10 {
		if whole, err := filepath.Abs(dir); err == nil && (dir == "." || filepath.Base(dir) == "..") {
			if info, err := os.Stat(filepath.Join(dir, "_lists")); err != nil || !info.IsDir() {
				dir = whole // from here on names of folders tell more than dots
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
func (s *shelf) get(ref string) *shelved {
	if s.dir == "" || !camelPattern.MatchString(ref) {
		return &shelved{missing: true}
	}
	return s.open(kebab(ref) + ".mjs")
}

func (s *shelf) open(name string) *shelved {
	if known := s.lists[name]; known != nil {
		return known
	}
	found := &shelved{missing: true}
	s.lists[name] = found
	if text, err := s.read(filepath.Join(s.dir, name)); err == nil {
		found.missing = false
		found.list, found.findings = parseList(text, s.strict)
	}
	return found
}

// all are the lists of the folder that can be read, in the order of their files.
func (s *shelf) all() []*list {
	if s.every != nil || s.dir == "" {
		return s.every
	}
	s.every = []*list{}
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries[:min(len(entries), maxGuides)] {
		if e.IsDir() || hidden(e.Name()) || filepath.Ext(e.Name()) != ".mjs" {
			continue
		}
		if l := s.open(e.Name()).list; l != nil {
			s.every = append(s.every, l)
		}
	}
	return s.every
}

// kebab puts a hyphen before each capital that follows a small letter.
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

// parseList reads the file of a shared list. nil: it cannot be used.
func parseList(text []byte, strict bool) (*list, []Finding) {
	m, err := parseModule(text)
	if err != nil {
		return nil, []Finding{syntaxFinding(err)}
	}
	c := &checker{m: m, strict: strict, list: true, broken: map[string]bool{}}
	n := c.evaluate("list")
	if n == nil {
		c.fault("LST001", nil, "list", "is not exported")
		return nil, c.findings
	}
	if !n.valid() {
		c.failed = true
	}
	c.checkList(n)
	c.checkSecurity()
	if c.failed {
		return nil, c.findings
	}
	l := &list{name: n.get("meta").get("name").str(), version: n.get("meta").get("version").str(), fields: map[string]bool{}}
	for _, f := range n.get("meta").get("fields").list() {
		l.fields[f.get("key").str()] = true
		if f.get("type").str() == "string" {
			l.texts = append(l.texts, f.get("key").str())
		}
	}
	l.entries = n.get("entries").list()
	l.depends = n.get("meta").get("dependsOn").list()
	return l, c.findings
}

// checkList keeps the rules of a shared list's file.
func (c *checker) checkList(n *node) {
	meta := n.get("meta")
	if meta.get("name").str() == "" {
		c.fault("LST002", meta, "list.meta.name", "is missing")
	}
	if !semver.MatchString(meta.get("version").str()) {
		c.fault("LST003", meta.get("version"), "list.meta.version", "must be a version such as 1.0.0")
	}
	fields := meta.get("fields")
	if len(fields.list()) == 0 {
		c.fault("LST004", fields, "list.meta.fields", "must name at least one field")
	}
	for i, f := range fields.list() {
		path := fmt.Sprintf("list.meta.fields[%d]", i)
		if f.get("key").str() == "" || f.get("type").str() == "" {
			c.fault("LST005", f, path, "must have a key and a type")
		} else if f.get("description").str() == "" {
			c.warn("LST005", f, path, "has no description")
		}
	}
	entries := n.get("entries")
	if len(entries.list()) == 0 {
		c.fault("LST006", entries, "list.entries", "must hold at least one entry")
	}
	for i, e := range entries.list() {
		c.checkEntry(e, fields.list(), fmt.Sprintf("list.entries[%d]", i))
	}
}

func (c *checker) checkEntry(e *node, fields []*node, path string) {
	for _, f := range fields {
		key, value := f.get("key").str(), e.get(f.get("key").str())
		switch {
		case !value.there() || value.is(nullKind):
			if !f.get("optional").yes() {
				c.loose("LST007", e, path, "has no %s", key)
			}
		case value.kind.String() != "a "+f.get("type").str():
			c.loose("LST008", value, path+"."+key, "must be a %s", f.get("type").str())
		}
	}
}

// checkDepends follows the lists that l depends on.
func (c *checker) checkDepends(s *shelf, l *list, at *node, path string, chain []string) {
	for _, d := range l.depends {
		ref := d.get("ref").str()
		next := append(slices.Clip(chain), ref)
		if slices.Contains(chain, ref) {
			c.fault("LST010", at, path, "depends on itself: %s", strings.Join(next, " → "))
			return
		}
		if len(next) > maxListDepth {
			c.fault("LST011", at, path, "the chain %s is longer than %d", strings.Join(next, " → "), maxListDepth)
			return
		}
		on := s.get(ref)
		if on.list == nil || on.list.version != d.get("version").str() {
			c.loose("LST009", at, path, "list %s depends on %s %s, which is not there", l.name, ref, d.get("version").str())
			continue
		}
		c.checkDepends(s, on.list, at, path, next)
	}
}

// reference is a list as one schema file uses it.
type reference struct {
	list    *list
	entries []*node // after the filter
}

// values are the values of a field in the entries, as texts.
func (r *reference) values(field string) []string {
	var all []string
	for _, e := range r.entries {
		switch v := e.get(field); {
		case v.is(stringKind), v.is(numberKind), v.is(boolKind):
			all = append(all, v.text)
		}
	}
	return all
}

// filtered keeps the entries that the reference's filter wants.
func filtered(entries []*node, filter *node) []*node {
	if !filter.is(objectKind) {
		return entries
	}
	var kept []*node
	for _, e := range entries {
		if matches(e.get(filter.get("key").str()), filter) {
			kept = append(kept, e)
		}
	}
	return kept
}

func matches(value, filter *node) bool {
	here := value.there() && !value.is(nullKind)
	if exists := filter.get("exists"); exists.there() {
		return here == exists.yes()
	}
	if want := filter.get("value"); want.there() {
		return same(value, want)
	}
	for _, want := range filter.get("in").list() {
		if same(value, want) {
			return true
		}
	}
	return !filter.get("in").there()
}

func same(a, b *node) bool {
	return a.there() && a.kind == b.kind && a.text == b.text && a.kind != arrayKind && a.kind != objectKind
}

// Patterns of names and versions, from the format's page.
var (
	camelPattern     = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	pascalPattern    = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*$`)
	namespacePattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	semver           = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	hashPattern      = regexp.MustCompile(`^[0-9a-f]{8}$`)
	datePattern      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	placeholder      = regexp.MustCompile(`\{\{([A-Za-z0-9_:]+)\}\}`)
)
