package openapi

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Selection says which operations of a document become tools. The zero value
// selects all. It is applied before anything is converted.
//
// A selector is one of
//
//	tag:NAME        operations with the tag, ignoring case
//	method:GET      operations with the method
//	path:/a/*/b     operations with the path; * matches one segment or part of it, ** any number
//	id:repos_*      operations by operationId, as written or as in the tool's name; * matches anything
//	/regexp/        operations for which it matches "GET /a/{id} operationId"
//	GET /a/{id}     one operation; method and path may contain * and **
//	@FILE           the selectors in the lines of a file; empty lines and lines with # are skipped
//	anything else   like id:
type Selection struct {
	Include  []string // operations that match any of these; empty: all
	Exclude  []string // except those that match any of these
	ReadOnly bool     // of them, only those that change nothing
}

// maxSelectors bounds the selectors of a source, including those in files.
const maxSelectors = 10_000

// Subject is what the selectors of a [Selection] are matched against: an
// operation, or a tool from another kind of description with the corresponding
// fields.
type Subject struct {
	Method, Path string
	IDs          []string // its names; /regexp/ is matched with the first
	Tags         []string
}

// Selector is a parsed [Selection]. It is not safe for concurrent use.
type Selector struct{ selection *selection }

// Selector parses the selectors.
func (c Selection) Selector() (*Selector, error) {
	read, err := c.parse()
	return &Selector{read}, err
}

// Takes reports whether s is selected by Include and Exclude.
func (c *Selector) Takes(s Subject) bool { return c.selection.matches(s) }

// Unused returns the selectors that have matched nothing.
func (c *Selector) Unused() []UnusedSelector { return c.selection.unused() }

// UnusedSelector is a selector that has matched nothing.
type UnusedSelector struct{ Text, Suggestion string } // Suggestion is empty if nothing is similar

// selection is a parsed Selection.
type selection struct {
	include, exclude []selector
	readOnly         bool

	ids, paths, tags map[string]bool // names that selectors were compared with
}

// selector is a parsed selector.
type selector struct {
	text    string
	matches func(s Subject) bool
	used    bool
}

func (c Selection) parse() (*selection, error) {
	ch := &selection{readOnly: c.ReadOnly}
	var err error
	if ch.include, err = parseSelectors(c.Include); err == nil {
		ch.exclude, err = parseSelectors(c.Exclude)
	}
	if err != nil {
		return nil, usage(err)
	}
	return ch, nil
}

// ParseSelector checks a selector of a [Selection]. It does not open the file
// of @FILE.
func ParseSelector(text string) error {
	if strings.HasPrefix(text, "@") {
		return nil
	}
	_, err := parseSelector(text)
	return err
}

// Matcher compiles a selector of a [Selection] other than @FILE. What it returns is
// safe for concurrent use.
func Matcher(text string) (func(Subject) bool, error) {
	if strings.HasPrefix(text, "@") {
		return nil, errors.New("a file of selectors is for --include and --exclude; write them one by one")
	}
	return parseSelector(text)
}

func parseSelectors(texts []string) (rules []selector, err error) {
	add := func(from, text string) error {
		matches, err := parseSelector(text)
		if err != nil {
			return fmt.Errorf("%sselector %q: %w", from, text, err)
		}
		if rules = append(rules, selector{text: text, matches: matches}); len(rules) > maxSelectors {
			return fmt.Errorf("more than %d selectors", maxSelectors)
		}
		return nil
	}
	for _, text := range texts {
		if name, isFile := strings.CutPrefix(text, "@"); isFile {
			err = readSelectorFile(name, add)
		} else {
			err = add("", text)
		}
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func usage(err error) error { return &tenon.Error{Code: tenon.CodeUsage, Message: err.Error()} }

// readSelectorFile passes the selectors of a file to add, with their lines.
func readSelectorFile(name string, add func(from, text string) error) error {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("read selectors of %s: %w", name, document.WithoutPath(err))
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := add(fmt.Sprintf("%s:%d: ", name, n), line); err != nil {
			return err
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("read selectors of %s: a line has more than %d bytes", name, bufio.MaxScanTokenSize)
	} else if err != nil {
		return fmt.Errorf("read selectors of %s: %w", name, document.WithoutPath(err))
	}
	return nil
}

func parseSelector(text string) (func(Subject) bool, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "tag":
		return func(s Subject) bool {
			return slices.ContainsFunc(s.Tags, func(tag string) bool { return strings.EqualFold(tag, rest) })
		}, nil
	case "method":
		return func(s Subject) bool { return strings.EqualFold(s.Method, rest) }, nil
	case "path":
		g, err := glob(rest)
		return func(s Subject) bool { return g.MatchString(s.Path) }, err
	case "id":
		return byID(rest)
	}
	if len(text) > 1 && text[0] == '/' && strings.HasSuffix(text, "/") {
		re, err := regexp.Compile(text[1 : len(text)-1])
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("not a regular expression (RE2): %s in %s", bad.Code, bad.Expr)
		} else if err != nil {
			return nil, err
		}
		return func(s Subject) bool {
			id := ""
			if len(s.IDs) > 0 {
				id = s.IDs[0]
			}
			return re.MatchString(s.Method + " " + s.Path + " " + id)
		}, nil
	}
	if method, path, found := strings.Cut(text, " "); found {
		return byPlace(method, strings.TrimSpace(path))
	}
	return byID(text)
}

func byID(text string) (func(Subject) bool, error) {
	g, err := glob(text)
	return func(s Subject) bool { return slices.ContainsFunc(s.IDs, g.MatchString) }, err
}

func byPlace(method, path string) (func(Subject) bool, error) {
	m, err := glob(strings.ToUpper(method))
	if err != nil {
		return nil, err
	}
	p, err := glob(path)
	return func(s Subject) bool { return m.MatchString(s.Method) && p.MatchString(s.Path) }, err
}

// glob compiles a pattern in which * matches anything but a slash and **
// anything.
func glob(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, errors.New("the pattern is empty")
	}
	quoted := regexp.QuoteMeta(text)
	quoted = strings.ReplaceAll(quoted, `\*\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\*`, `[^/]*`)
	return regexp.Compile("^" + quoted + "$")
}

// selects reports whether o becomes a tool.
func (c *selection) selects(o *operation) bool {
	return (len(c.include)+len(c.exclude) == 0 || c.matches(o.subject())) && (o.safe || !c.readOnly)
}

func (c *selection) matches(s Subject) bool {
	c.recordNames(s)
	return (len(c.include) == 0 || anyMatches(c.include, s)) && !anyMatches(c.exclude, s)
}

// subject returns what selectors are matched against.
func (o *operation) subject() Subject {
	s := Subject{Method: o.method, Path: o.path, IDs: []string{o.node.StrAt("operationId")}}
	if id := s.IDs[0]; id != "" {
		s.IDs = append(s.IDs, tenon.ToolName(id))
	}
	for _, t := range o.node.Get("tags").Each() {
		if t.Kind() == rawjson.String {
			s.Tags = append(s.Tags, t.Str())
		}
	}
	return s
}

// labels returns what an operator's selectors match, whoever has them.
func (o *operation) labels() tenon.Labels {
	s := o.subject()
	return tenon.Labels{Method: s.Method, Path: s.Path, IDs: s.IDs, Tags: s.Tags, Scopes: o.scopes()}
}

// scopes returns those of the first alternative in the operation's security, or in
// the document's.
func (o *operation) scopes() (all []string) {
	list := o.node.Get("security")
	if list.Kind() != rawjson.Array {
		list = o.api.doc.Root.Get("security")
	}
	for _, alternative := range list.Each() {
		for _, scopes := range alternative.Each() {
			for _, scope := range scopes.Each() {
				if !slices.Contains(all, scope.Str()) {
					all = append(all, scope.Str())
				}
			}
		}
		break
	}
	return all
}

// anyMatches tries all rules, to find out which match nothing.
func anyMatches(rules []selector, s Subject) (found bool) {
	for i := range rules {
		if (!found || !rules[i].used) && rules[i].matches(s) {
			found, rules[i].used = true, true
		}
	}
	return found
}

// unused returns the selectors that no operation matched: most are mistakes.
func (c *selection) unused() (all []UnusedSelector) {
	for _, list := range [][]selector{c.include, c.exclude} {
		for i := range list {
			if text := list[i].text; !list[i].used {
				all = append(all, UnusedSelector{text, c.suggest(text)})
			}
		}
	}
	return all
}

// maxRecordedNames bounds the names that are kept for suggestions.
const maxRecordedNames = 50_000

// recordNames records names for suggestions.
func (c *selection) recordNames(s Subject) {
	if c.ids == nil {
		c.ids, c.paths, c.tags = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	if len(c.ids) >= maxRecordedNames {
		return
	}
	for _, id := range s.IDs {
		c.ids[id] = true
	}
	for _, tag := range s.Tags {
		c.tags[tag] = true
	}
	c.paths[s.Path] = true
}

// suggest suggests existing names that are similar to a selector's.
func (c *selection) suggest(text string) string {
	const most = 3
	kind, rest, found := strings.Cut(text, ":")
	among := c.ids
	switch {
	case found && kind == "tag":
		among = c.tags
	case found && kind == "path":
		among = c.paths
	case found && kind == "id":
	case found && kind == "method", strings.HasPrefix(text, "/"):
		return ""
	default:
		rest = text
		if _, path, isPlace := strings.Cut(text, " "); isPlace {
			rest, among = strings.TrimSpace(path), c.paths
		}
	}
	near := suggest.Near(strings.Trim(rest, "*"), slices.Sorted(maps.Keys(among)), most)
	if near == nil {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
