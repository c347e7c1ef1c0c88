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
)

// Selection says which operations of a document become tools. The zero value
// takes all. It is applied before anything is converted.
//
// A rule is one of
//
//	tag:NAME        operations with the tag, upper and lower case alike
//	method:GET      operations of the method
//	path:/a/*/b     operations of the path; * stands for one segment or part of it, ** for any number
//	id:repos_*      operations by their operationId, as it is or as a tool's name has it, with * for anything
//	/regexp/        operations for which it matches "GET /a/{id} operationId"
//	GET /a/{id}     one operation; method and path may hold * and **
//	@FILE           the rules in the lines of a file; empty lines and those with # are skipped
//	anything else   as id:
type Selection struct {
	Include  []string // operations that match any of these; empty: all
	Exclude  []string // of them, not those that match any of these
	ReadOnly bool     // of them, only those that change nothing
}

// maxRules bounds the rules of a source, those in files included.
const maxRules = 10_000

// Subject is what the rules of a [Selection] look at: an operation, or a tool of
// another kind of description as far as it has the same.
type Subject struct {
	Method, Path string
	IDs          []string // its names; /regexp/ sees the first
	Tags         []string
}

// Selector is a [Selection] that was read. It is not for concurrent use.
type Selector struct{ c *chooser }

// Chooser reads the rules.
func (c Selection) Chooser() (*Selector, error) {
	read, err := c.read()
	return &Selector{read}, err
}

// Takes reports whether s is chosen by Only and Except.
func (c *Selector) Takes(s Subject) bool { return c.c.picks(s) }

// Unused are the rules that nothing has matched.
func (c *Selector) Unused() []UnusedRule { return c.c.unused() }

// UnusedRule is a rule that has matched nothing.
type UnusedRule struct{ Text, Meant string } // Meant asks what may have been meant; empty: nothing is like it

// chooser is a Choice that was read.
type chooser struct {
	only, except []rule
	readOnly     bool

	ids, paths, tags map[string]bool // that rules were held against
}

// rule is one way to match an operation.
type rule struct {
	text    string
	matches func(s Subject) bool
	used    bool
}

func (c Selection) read() (*chooser, error) {
	ch := &chooser{readOnly: c.ReadOnly}
	var err error
	if ch.only, err = readRules(c.Include); err == nil {
		ch.except, err = readRules(c.Exclude)
	}
	if err != nil {
		return nil, usage(err)
	}
	return ch, nil
}

// ParseSelector says what is wrong with a rule of a [Selection]. Where the rule names
// a file, it is not opened.
func ParseSelector(text string) error {
	if strings.HasPrefix(text, "@") {
		return nil
	}
	_, err := readRule(text)
	return err
}

func readRules(texts []string) (rules []rule, err error) {
	add := func(from, text string) error {
		matches, err := readRule(text)
		if err != nil {
			return fmt.Errorf("%srule %q: %w", from, text, err)
		}
		if rules = append(rules, rule{text: text, matches: matches}); len(rules) > maxRules {
			return fmt.Errorf("there are more than %d rules", maxRules)
		}
		return nil
	}
	for _, text := range texts {
		if name, isFile := strings.CutPrefix(text, "@"); isFile {
			err = ruleFile(name, add)
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

// ruleFile gives the rules of a file to add, with the lines where they stand.
func ruleFile(name string, add func(from, text string) error) error {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("rules of %s: %w", name, plain(err))
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
		return fmt.Errorf("rules of %s: a line has more than %d bytes", name, bufio.MaxScanTokenSize)
	} else if err != nil {
		return fmt.Errorf("rules of %s: %w", name, plain(err))
	}
	return nil
}

func readRule(text string) (func(Subject) bool, error) {
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

// glob is a pattern in which * stands for anything but a slash and ** for
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

// takes reports whether o becomes a tool.
func (c *chooser) takes(o *operation) bool {
	return (len(c.only)+len(c.except) == 0 || c.picks(o.subject())) && (o.safe || !c.readOnly)
}

func (c *chooser) picks(s Subject) bool {
	c.note(s)
	return (len(c.only) == 0 || anyMatches(c.only, s)) && !anyMatches(c.except, s)
}

// subject is the operation as rules see it.
func (o *operation) subject() Subject {
	s := Subject{Method: o.method, Path: o.path, IDs: []string{o.node.strAt("operationId")}}
	if id := s.IDs[0]; id != "" {
		s.IDs = append(s.IDs, tenon.ToolName(id))
	}
	for _, t := range o.node.get("tags").each() {
		if t.kind() == rawjson.String {
			s.Tags = append(s.Tags, t.str())
		}
	}
	return s
}

// anyMatches tries all rules, so that it is known which match nothing.
func anyMatches(rules []rule, s Subject) (found bool) {
	for i := range rules {
		if (!found || !rules[i].used) && rules[i].matches(s) {
			found, rules[i].used = true, true
		}
	}
	return found
}

// unused names the rules that no operation matched: most are mistakes.
func (c *chooser) unused() (all []UnusedRule) {
	for _, list := range [][]rule{c.only, c.except} {
		for i := range list {
			if text := list[i].text; !list[i].used {
				all = append(all, UnusedRule{text, c.meant(text)})
			}
		}
	}
	return all
}

// maxNoted bounds what is kept of the operations for the question what was meant.
const maxNoted = 50_000

// note keeps what a rule may have been meant for.
func (c *chooser) note(s Subject) {
	if c.ids == nil {
		c.ids, c.paths, c.tags = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	if len(c.ids) >= maxNoted {
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

// meant asks for what there is instead of what a rule names.
func (c *chooser) meant(text string) string {
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
