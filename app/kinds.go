package main

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// kind is what a description is.
type kind string

const (
	aDocument   kind = "an OpenAPI document"
	aSchemaFile kind = "a FlowMCP schema file"
	anApp       kind = "a function app"
)

func kindFor(where string) kind {
	switch {
	case isApp(where):
		return anApp
	case isSchemaFile(where):
		return aSchemaFile
	}
	return aDocument
}

// kindFlag is a flag that says something to some kinds of descriptions only.
type kindFlag struct {
	name  string
	given bool
	kinds []kind
}

// kindFlags are those whose silence would serve something otherwise than the
// operator has said.
func (f *sourceFlags) kindFlags() []kindFlag {
	documents, files, apps := []kind{aDocument}, []kind{aSchemaFile}, []kind{anApp}
	return []kindFlag{
		{"header", len(f.headers) > 0, documents},
		{"base-url", f.baseURL != "", []kind{aDocument, aSchemaFile}},
		{"server-variable", len(f.variables.pairs) > 0, documents},
		{"overlay", len(f.overlays) > 0, documents},
		{"allow-ref", len(f.allowRefs) > 0, documents},
		{"file-root", f.fileRoot != "", documents},
		{"follow-pages", f.pages > 0, documents},
		{"auth", len(f.auth.from) > 0, documents},
		{"client-cert", len(f.auth.certs) > 0, documents},
		{"auth-origin", len(f.auth.origins) > 0, []kind{aDocument, aSchemaFile}},
		{"rename", len(f.changes.rename) > 0, documents},
		{"redescribe", len(f.changes.describe) > 0, documents},
		{"mark-safe", len(f.changes.safe) > 0, documents},
		{"mark-unsafe", len(f.changes.unsafe) > 0, documents},
		{"param-rename", len(f.changes.paramRename) > 0, documents},
		{"param-redescribe", len(f.changes.paramDescribe) > 0, documents},
		{"param-hide", len(f.changes.paramHide) > 0, documents},
		{"param-fix", len(f.changes.paramFix) > 0, documents},
		{"trust-marks", f.trustMarks, []kind{aDocument, aSchemaFile}},
		{"handler-reads", len(f.handlers.reads) > 0, files},
		{"handler-writes", len(f.handlers.writes) > 0, files},
		{"handler-secrets", len(f.handlers.secrets) > 0, files},
		{"allow-library", len(f.handlers.allowed) > 0, files},
		{"selection", f.handlers.choice != "", files},
		{"strict-schemas", f.handlers.strict, files},
		{"app-env", len(f.apps.environ) > 0, apps},
		{"trust-worker-port", f.apps.trusted, apps},
		{"advertise-anyway", f.apps.anyway, apps},
	}
}

// fitting refuses flags that say nothing to any of the descriptions which they
// are given for.
func fitting(plan []planned) error {
	heard, from, order := map[string]bool{}, map[string]kindFlag{}, []string{}
	for _, p := range plan {
		for _, k := range p.flags.kindFlags() {
			if !k.given {
				continue
			}
			if _, known := from[k.name]; !known {
				order = append(order, k.name)
			}
			from[k.name] = k
			heard[k.name] = heard[k.name] || slices.Contains(k.kinds, kindFor(p.where))
		}
	}
	for _, name := range order {
		if heard[name] {
			continue
		}
		var kinds []string
		for _, k := range from[name].kinds {
			kinds = append(kinds, string(k))
		}
		return usagef("--%s is for %s, and no description that it is given for is one", name, strings.Join(kinds, " or "))
	}
	return nil
}

// sharedRules leaves a warning about a rule that matches nothing only where
// nothing matches it in any of the descriptions for which it was given.
func sharedRules(sources []*loaded) [][]tenon.Diagnostic {
	silent := map[string]int{}
	for _, s := range sources {
		for _, f := range s.offer.Diagnostics {
			if f.Kind == tenon.DiagnosticSelector {
				silent[ruleKey(s, f)]++
			}
		}
	}
	left := make([][]tenon.Diagnostic, len(sources))
	for i, s := range sources {
		left[i] = slices.DeleteFunc(slices.Clone(s.offer.Diagnostics), func(f tenon.Diagnostic) bool {
			return f.Kind == tenon.DiagnosticSelector && silent[ruleKey(s, f)] < hearers(sources, s, f)
		})
	}
	return left
}

// isChoice tells a warning about --only and --except from those about the names
// in flags for schema files.
func isChoice(f tenon.Diagnostic) bool { return strings.HasPrefix(f.Message, "the rule ") }

// ruleKey tells the rules of different flags apart.
func ruleKey(s *loaded, f tenon.Diagnostic) string {
	what := strings.NewReplacer(" matches no operation", "", " matches no tool", "").Replace(f.Message)
	c := s.flags.choose
	if isChoice(f) {
		return strings.Join(append(append([]string{what}, c.Include...), c.Exclude...), "\n")
	}
	return what
}

// hearers counts the descriptions for which the same rule was given.
func hearers(sources []*loaded, of *loaded, f tenon.Diagnostic) int {
	n := 0
	for _, s := range sources {
		switch {
		case isChoice(f) && slices.Equal(s.flags.choose.Include, of.flags.choose.Include) && slices.Equal(s.flags.choose.Exclude, of.flags.choose.Exclude):
			n++
		case !isChoice(f) && kindFor(s.where) == aSchemaFile && s.flags.handlers.asksFor(f.Message):
			n++
		}
	}
	return n
}

// asksFor reports whether the flag and the name with which a warning begins are
// among those that were given.
func (f *handlerFlags) asksFor(warning string) bool {
	flag, rest, _ := strings.Cut(warning, " ")
	name, _, _ := strings.Cut(rest, ": ")
	given := map[string][]string{"--handler-reads": f.reads, "--handler-writes": f.writes, "--handler-secrets": f.secrets, "--allow-library": f.allowed}
	return slices.Contains(given[flag], name)
}
