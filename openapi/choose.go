package openapi

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Choice says which operations of a document become tools. The zero value
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
type Choice struct {
	Only     []string // operations that match any of these; empty: all
	Except   []string // of them, not those that match any of these
	ReadOnly bool     // of them, only those that change nothing
}

// maxRules bounds the rules of a source, those in files included.
const maxRules = 10_000

// chooser is a Choice that was read.
type chooser struct {
	only, except []rule
	readOnly     bool
}

// rule is one way to match an operation.
type rule struct {
	text    string
	matches func(o *operation, tags value) bool
	used    bool
}

func (c Choice) read() (*chooser, error) {
	ch := &chooser{readOnly: c.ReadOnly}
	var err error
	if ch.only, err = readRules(c.Only); err == nil {
		ch.except, err = readRules(c.Except)
	}
	if err != nil {
		return nil, usage(err)
	}
	return ch, nil
}

// CheckRule says what is wrong with a rule of a [Choice]. Where the rule names
// a file, it is not opened.
func CheckRule(text string) error {
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

func readRule(text string) (func(*operation, value) bool, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "tag":
		return func(_ *operation, tags value) bool {
			for _, t := range tags.each() {
				if t.kind() == rawjson.String && strings.EqualFold(t.str(), rest) {
					return true
				}
			}
			return false
		}, nil
	case "method":
		return func(o *operation, _ value) bool { return strings.EqualFold(o.method, rest) }, nil
	case "path":
		g, err := glob(rest)
		return func(o *operation, _ value) bool { return g.MatchString(o.path) }, err
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
		return func(o *operation, _ value) bool {
			return re.MatchString(o.method + " " + o.path + " " + o.node.strAt("operationId"))
		}, nil
	}
	if method, path, found := strings.Cut(text, " "); found {
		return byPlace(method, strings.TrimSpace(path))
	}
	return byID(text)
}

func byID(text string) (func(*operation, value) bool, error) {
	g, err := glob(text)
	return func(o *operation, _ value) bool {
		id := o.node.strAt("operationId")
		return g.MatchString(id) || id != "" && g.MatchString(tenon.LegalName(id))
	}, err
}

func byPlace(method, path string) (func(*operation, value) bool, error) {
	m, err := glob(strings.ToUpper(method))
	if err != nil {
		return nil, err
	}
	p, err := glob(path)
	return func(o *operation, _ value) bool { return m.MatchString(o.method) && p.MatchString(o.path) }, err
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
	tags := o.node.get("tags")
	return (len(c.only) == 0 || anyMatches(c.only, o, tags)) && !anyMatches(c.except, o, tags) && (o.safe || !c.readOnly)
}

// anyMatches tries all rules, so that it is known which match nothing.
func anyMatches(rules []rule, o *operation, tags value) (found bool) {
	for i := range rules {
		if (!found || !rules[i].used) && rules[i].matches(o, tags) {
			found, rules[i].used = true, true
		}
	}
	return found
}

// unused names the rules that no operation matched: most are mistakes.
func (c *chooser) unused() (texts []string) {
	for _, list := range [][]rule{c.only, c.except} {
		for i := range list {
			if !list[i].used {
				texts = append(texts, list[i].text)
			}
		}
	}
	return texts
}
