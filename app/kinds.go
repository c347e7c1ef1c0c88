package app

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// kind is a kind of description: what app knows of it. The rest is in its package.
// What a source of it can do beyond Load it says by its methods: [tenon.Watcher],
// [tenon.Settler], [introduced] and io.Closer.
type kind struct {
	what       string   // one of them, in errors
	forms      string   // what SPEC can be, in errors
	extensions []string // of its files; names of sources are without them
	// recognizes tells from the name, or from what is in a folder; nil: it is what
	// nothing else is.
	recognizes func(spec string) bool
	// unfold returns the descriptions in a folder, each a source; nil: a folder is
	// one source.
	unfold func(dir string) ([]string, error)
	open   func(s *loaded, o openapi.Options, e Env) (tenon.Source, error)
	// takes reports whether --include and --exclude take a tool; nil: the source
	// knows.
	takes func(rules *openapi.Selector, t *tenon.Tool) bool
	// settings are those that say nothing to some kinds, and something to this one:
	// silence about them would serve something otherwise than the operator said.
	settings []string
	// ownRequests: requests to upstreams are made by a process that is not this one.
	ownRequests bool
}

// kinds are all kinds of descriptions. A SPEC is of the last one that recognizes it.
func kinds() []kind {
	return []kind{
		{
			what: "an OpenAPI document", forms: "an OpenAPI document (a file or a URL)", extensions: documentExtensions(),
			unfold: documentsIn, open: openDocument,
			settings: []string{
				"header", "base-url", "server-variable", "overlay", "allow-ref", "upload-root", "follow-pages", "auth", "client-cert", "auth-origin",
				"rename", "set-description", "mark-safe", "mark-unsafe", "param-rename", "param-description", "param-hide", "param-const", "trust-marks",
			},
		},
		{
			what: "a FlowMCP schema file", forms: "a FlowMCP schema file (.mjs) or a folder of them", extensions: []string{schemaFileExtension},
			recognizes: isSchemaFile, open: openSchemaFile,
			settings: []string{
				"base-url", "auth-origin", "trust-marks", "server-param", "handler-reads", "handler-writes", "handler-secrets", "allow-library", "selection", "strict",
			},
		},
		{
			what: "a function app", forms: "the folder of a function app",
			recognizes: isApp, open: openFunctionApp, takes: takesFunction, ownRequests: true,
			settings: []string{"worker-env", "trust-worker-port", "publish-incompatible-schemas"},
		},
	}
}

func kindOf(spec string) kind {
	all := kinds()
	for _, k := range slices.Backward(all) {
		if k.recognizes != nil && k.recognizes(spec) {
			return k
		}
	}
	return all[0]
}

// formsOfSpec says what the argument for a description may be.
func formsOfSpec() string {
	var forms []string
	for _, k := range kinds() {
		forms = append(forms, k.forms)
	}
	last := len(forms) - 1
	return "a description is " + strings.Join(forms[:last], ", ") + ", or " + forms[last]
}

// recognized are sources with their kinds, and in place of a folder of several
// descriptions each of them.
func recognized(sources []Source) ([]*loaded, error) {
	var all []*loaded
	for _, s := range sources {
		k := kindOf(s.Spec)
		var specs []string
		var err error
		if k.unfold != nil {
			specs, err = k.unfold(s.Spec)
		}
		if err != nil {
			return nil, s.located(err)
		}
		if specs == nil {
			all = append(all, &loaded{Source: s, kind: k})
		}
		for _, spec := range specs {
			one := &loaded{Source: s, kind: k}
			one.Name, _ = SplitSpec(spec)
			one.Spec = spec
			all = append(all, one)
		}
	}
	for _, s := range all {
		s.alone = len(all) == 1
	}
	return all, nil
}

// isSet reports whether the field of a setting holds something.
func isSet(field any) bool {
	switch p := field.(type) {
	case *string:
		return *p != ""
	case *bool:
		return *p
	case *int:
		return *p > 0
	case *[]string:
		return len(*p) > 0
	}
	return false
}

// fitting refuses settings that say nothing to any of the descriptions which they
// are given for.
func fitting(sources []*loaded) error {
	byName := settingsByName()
	for _, k := range kinds() {
		for _, name := range k.settings {
			setting := byName[name]
			isGiven, heard := false, false
			for _, s := range sources {
				if isSet(setting.source(s.Options)) {
					isGiven, heard = true, heard || slices.Contains(s.kind.settings, name)
				}
			}
			if isGiven && !heard {
				return invalid(name, " is for %s, and no description that it is given for is one", strings.Join(kindsThatHear(name), " or "))
			}
		}
	}
	return nil
}

// kindsThatHear are the kinds to which a setting says something.
func kindsThatHear(setting string) []string {
	var all []string
	for _, k := range kinds() {
		if slices.Contains(k.settings, setting) {
			all = append(all, k.what)
		}
	}
	return all
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

// isChoice tells a warning about --include and --exclude from those about the names
// in settings of one kind.
func isChoice(f tenon.Diagnostic) bool { return !strings.HasPrefix(f.Message, "--") }

// ruleKey tells the rules of different flags apart.
func ruleKey(s *loaded, f tenon.Diagnostic) string {
	what := strings.NewReplacer(" matches no operation", "", " matches no tool", "").Replace(f.Message)
	c := s.Options
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
		case isChoice(f) && slices.Equal(s.Options.Include, of.Options.Include) && slices.Equal(s.Options.Exclude, of.Options.Exclude):
			n++
		case !isChoice(f) && s.asksFor(f.Message):
			n++
		}
	}
	return n
}

// asksFor reports whether the setting and the name with which a warning begins are
// among those that were given.
func (s *loaded) asksFor(warning string) bool {
	flag, rest, _ := strings.Cut(warning, " ")
	name, _, _ := strings.Cut(rest, ": ")
	setting, known := Find(strings.TrimPrefix(flag, "--"))
	if !known || !slices.Contains(s.kind.settings, setting.Name) {
		return false
	}
	all, isList := setting.source(s.Options).(*[]string)
	return isList && slices.Contains(*all, name)
}
