package openapi

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"regexp"
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
	if ch.only, err = readRules(nil, c.Only, true); err != nil {
		return nil, err
	}
	ch.except, err = readRules(nil, c.Except, true)
	return ch, err
}

func readRules(rules []rule, texts []string, files bool) ([]rule, error) {
	for _, text := range texts {
		if name, isFile := strings.CutPrefix(text, "@"); isFile && files {
			lines, err := ruleFile(name)
			if err != nil {
				return nil, usage(err)
			}
			if rules, err = readRules(rules, lines, false); err != nil {
				return nil, err
			}
			continue
		}
		matches, err := readRule(text)
		if err != nil {
			return nil, usage(fmt.Errorf("rule %q: %w", text, err))
		}
		if rules = append(rules, rule{text: text, matches: matches}); len(rules) > maxRules {
			return nil, usage(fmt.Errorf("there are more than %d rules", maxRules))
		}
	}
	return rules, nil
}

func usage(err error) error { return &tenon.Error{Code: tenon.CodeUsage, Message: err.Error()} }

func ruleFile(name string) ([]string, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("rules of %s: %w", name, plain(err))
	}
	defer f.Close()
	var lines []string
	scan := bufio.NewScanner(f)
	for scan.Scan() && len(lines) <= maxRules {
		if line := strings.TrimSpace(scan.Text()); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, scan.Err()
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
		if err != nil {
			return nil, errors.New("not a regular expression (RE2)")
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
