package app

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
func (o *SourceOptions) kindFlags() []kindFlag {
	documents, files, apps := []kind{aDocument}, []kind{aSchemaFile}, []kind{anApp}
	return []kindFlag{
		{"header", len(o.Header) > 0, documents},
		{"base-url", o.BaseURL != "", []kind{aDocument, aSchemaFile}},
		{"server-variable", len(o.ServerVariable) > 0, documents},
		{"overlay", len(o.Overlay) > 0, documents},
		{"allow-ref", len(o.AllowRef) > 0, documents},
		{"upload-root", o.UploadRoot != "", documents},
		{"follow-pages", o.FollowPages > 0, documents},
		{"auth", len(o.Auth) > 0, documents},
		{"client-cert", len(o.ClientCert) > 0, documents},
		{"auth-origin", len(o.AuthOrigin) > 0, []kind{aDocument, aSchemaFile}},
		{"rename", len(o.Rename) > 0, documents},
		{"set-description", len(o.SetDescription) > 0, documents},
		{"mark-safe", len(o.MarkSafe) > 0, documents},
		{"mark-unsafe", len(o.MarkUnsafe) > 0, documents},
		{"param-rename", len(o.ParamRename) > 0, documents},
		{"param-description", len(o.ParamDescription) > 0, documents},
		{"param-hide", len(o.ParamHide) > 0, documents},
		{"param-const", len(o.ParamConst) > 0, documents},
		{"trust-marks", o.TrustMarks, []kind{aDocument, aSchemaFile}},
		{"handler-reads", len(o.HandlerReads) > 0, files},
		{"handler-writes", len(o.HandlerWrites) > 0, files},
		{"handler-secrets", len(o.HandlerSecrets) > 0, files},
		{"allow-library", len(o.AllowLibrary) > 0, files},
		{"selection", o.Selection != "", files},
		{"strict", o.Strict, files},
		{"worker-env", len(o.WorkerEnv) > 0, apps},
		{"trust-worker-port", o.TrustWorkerPort, apps},
		{"publish-incompatible-schemas", o.PublishIncompatibleSchemas, apps},
	}
}

// fitting refuses flags that say nothing to any of the descriptions which they
// are given for.
func fitting(sources []Source) error {
	heard, from, order := map[string]bool{}, map[string]kindFlag{}, []string{}
	for _, p := range sources {
		for _, k := range p.Options.kindFlags() {
			if !k.given {
				continue
			}
			if _, known := from[k.name]; !known {
				order = append(order, k.name)
			}
			from[k.name] = k
			heard[k.name] = heard[k.name] || slices.Contains(k.kinds, kindFor(p.Spec))
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
		return invalid(name, " is for %s, and no description that it is given for is one", strings.Join(kinds, " or "))
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

// isChoice tells a warning about --include and --exclude from those about the names
// in flags for schema files.
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
		case !isChoice(f) && kindFor(s.Spec) == aSchemaFile && s.Options.asksFor(f.Message):
			n++
		}
	}
	return n
}

// asksFor reports whether the flag and the name with which a warning begins are
// among those that were given.
func (o *SourceOptions) asksFor(warning string) bool {
	flag, rest, _ := strings.Cut(warning, " ")
	name, _, _ := strings.Cut(rest, ": ")
	given := map[string][]string{"--handler-reads": o.HandlerReads, "--handler-writes": o.HandlerWrites, "--handler-secrets": o.HandlerSecrets, "--allow-library": o.AllowLibrary}
	return slices.Contains(given[flag], name)
}
