package tenon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retired are the private words that this module gave up, each with what is
// said in its place: the term of Go, HTTP, JSON Schema, OpenAPI or MCP.
var retired = map[string]string{
	"bookcase": "index",
	"breach":   "violation",
	"breaches": "violations",
	"door":     "transport, endpoint or client",
	"doors":    "transports, endpoints",
	"dress":    "wrap in an envelope",
	"dressed":  "wrapped in an envelope",
	"fault":    "diagnostic, violation or error",
	"faults":   "diagnostics, violations or errors",
	"feed":     "change feed",
	"hasten":   "fast path",
	"heal":     "coerce",
	"healed":   "coerced",
	"heals":    "coerces",
	"honest":   "accurate",
	"honesty":  "validation",
	"hush":     "mute",
	"lax":      "a mutation of .ci/mutants",
	"meant":    "suggestion",
	"mend":     "repair, fix",
	"mended":   "repaired, fixed",
	"mending":  "repairing",
	"mends":    "repairs, fixes",
	"outlet":   "notifier",
	"outlets":  "notifiers",
	"patience": "timeout",
	"patient":  "timer",
	"promise":  "contract",
	"promised": "published, declared",
	"promises": "contracts",
	"replies":  "responses",
	"reply":    "response",
	"room":     "package, space or capacity",
	"rooms":    "packages",
	"shape":    "envelope, form or structure",
	"shaped":   "formed",
	"shapes":   "envelopes, forms",
	"shelf":    "shared list",
	"shelved":  "cached",
	"shelves":  "shared lists",
	"stairs":   "property tree",
	"wall":     "validation",
	"walls":    "validations",
}

// retiredElsewhere are words that the field uses below a folder.
var retiredElsewhere = map[string][]string{
	"mend":     {"internal/ecmaregexp"},                                    // a script in ISO 15924
	"promise":  {"internal/sandbox", "internal/typedecl", "flowmcp"},       // JavaScript's
	"promises": {"internal/sandbox", "internal/bundle", "flowmcp", "docs"}, // fs/promises of Node
	"feed":     {"server"},                                                 // the change feed itself
	"shape":    {"internal/sandbox/engine"},                                // QuickJS: the hidden class of an object
	"shapes":   {"internal/sandbox/engine"},
	"reply":    {"search"}, // a verb of queries
}

// ordinary are words that only names give up: in a sentence they are plain
// English.
var ordinary = map[string]bool{
	"feed": true, "meant": true, "patience": true, "patient": true, "room": true, "shelf": true, "shelves": true,
}

// TestRetiredWords looks for them in declared names, comments and texts of Go
// files, in names of files and in documents. The changelog tells old names.
func TestRetiredWords(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", ".cache", "node_modules", "testdata", "out"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		name = filepath.ToSlash(name)
		if name == "CHANGELOG.md" || name == "words_test.go" {
			return nil
		}
		findRetired(t, name, 0, words(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))), name)
		switch filepath.Ext(name) {
		case ".go":
			findRetiredInGo(t, name)
		case ".md":
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(text), "\n") {
				findRetired(t, name, i+1, prose(line), line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func findRetiredInGo(t *testing.T, name string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	at := func(n ast.Node) int { return files.Position(n.Pos()).Line }
	for _, group := range file.Comments {
		for i, line := range strings.Split(group.Text(), "\n") {
			findRetired(t, name, at(group)+i, prose(line), line)
		}
	}
	for _, id := range declared(file) {
		findRetired(t, name, at(id), words(id.Name), id.Name)
	}
	if strings.HasSuffix(name, "_test.go") {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			findRetired(t, name, at(text), prose(text.Value), text.Value)
		}
		return true
	})
}

func findRetired(t *testing.T, name string, line int, words []string, text string) {
	t.Helper()
	for _, word := range words {
		instead, ok := retired[word]
		if !ok || slices.ContainsFunc(retiredElsewhere[word], within(name)) {
			continue
		}
		if len(text) > 100 {
			text = text[:100] + " …"
		}
		t.Errorf("%s:%d: %q, say %s: %s", name, line, word, instead, strings.TrimSpace(text))
	}
}

// within returns what says whether a file is below a folder.
func within(name string) func(dir string) bool {
	return func(dir string) bool { return strings.HasPrefix(name, dir+"/") }
}

// declared returns the names that a file gives: of types, functions, variables,
// fields, parameters.
func declared(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok {
						ids = append(ids, id)
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					ids = append(ids, id)
				}
			}
		}
		return true
	})
	return ids
}

var proseWord = regexp.MustCompile(`[A-Za-z]+`)

// prose returns the words of a sentence that can be retired ones.
func prose(text string) []string {
	found := proseWord.FindAllString(strings.ToLower(text), -1)
	return slices.DeleteFunc(found, func(word string) bool { return ordinary[word] })
}

// words returns the words of a name in lower case: "toolName", "tool_name".
func words(name string) []string {
	var found []string
	start := 0
	runes := []rune(name)
	end := func(i int) {
		if i > start {
			found = append(found, strings.ToLower(string(runes[start:i])))
		}
		start = i
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			start = i + 1
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return found
}
