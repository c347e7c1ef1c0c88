package tenon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packages is the plan of the house: every package, and the packages of this module that
// its non-test files may import. docs/architecture.md gives the reasons. A
// planned package that does not exist yet is skipped; an unplanned one fails.
func packages() map[string][]string {
	return map[string][]string{
		"internal/rawjson":          {},
		"internal/suggest":          {},
		"internal/ecmaregexp":       {},
		"schema":                    {"internal/rawjson", "internal/ecmaregexp", "internal/schemadoc"},
		"schema/gotype":             {"internal/publish", "internal/rawjson", "schema"},
		"schema/sample":             {"internal/rawjson", "schema"},
		"schema/projection":         {"internal/ecmaregexp", "internal/rawjson", "internal/schemadoc", "internal/suggest"},
		"internal/clients":          {"internal/rawjson", "internal/schemadoc"},
		"internal/typedecl":         {"internal/publish", "internal/rawjson", "internal/schemadoc"},
		"internal/profile":          {"internal/publish", "internal/rawjson", "internal/schemadoc"},
		"internal/publish":          {"internal/ecmaregexp", "internal/rawjson", "internal/schemadoc"},
		"internal/schemadoc":        {"internal/rawjson"},
		"internal/incident":         {},
		"internal/memstore":         {".", "internal/inflight"},
		"internal/idempotency":      {".", "internal/reservedargs"},
		"internal/inflight":         {},
		"internal/deadline":         {},
		"internal/reservedargs":     {"internal/rawjson"},
		"internal/toolname":         {},
		"internal/argnames":         {"schema", "internal/rawjson"},
		"internal/envelope":         {"schema", "internal/rawjson", "internal/publish", "schema/projection"},
		"internal/stream":           {"internal/incident"},
		"internal/describe":         {"schema", "internal/rawjson", "internal/suggest", "schema/sample"},
		"internal/projection":       {"schema", "internal/rawjson", "internal/envelope", "schema/projection", "schema/sample"},
		".":                         {"schema", "internal/toolname"},
		"gateway":                   {".", "schema", "internal/rawjson", "internal/memstore", "internal/envelope", "internal/reservedargs", "internal/toolname", "internal/argnames", "internal/incident", "internal/deadline", "internal/projection", "internal/describe", "internal/stream", "internal/inflight", "internal/publish", "internal/profile", "internal/typedecl"},
		"gofunc":                    {".", "schema", "internal/rawjson", "internal/elicitation", "schema/gotype"},
		"internal/elicitation":      {".", "schema", "internal/rawjson", "internal/envelope"},
		"tenontest":                 {".", "gateway", "gofunc", "schema", "schema/sample"},
		"internal/yaml":             {"internal/rawjson"},
		"internal/config":           {"internal/rawjson", "internal/suggest", "internal/yaml"},
		"internal/charset":          {},
		"internal/egress":           {"internal/rawjson", "internal/incident", "internal/inflight"},
		"internal/proc":             {"internal/incident"},
		"internal/sandbox":          {"internal/proc", "internal/rawjson", "internal/incident", "internal/sandbox/engine"},
		"internal/sandbox/engine":   {"internal/rawjson"},
		"internal/bundle":           {"internal/proc"},
		"internal/jq":               {"internal/rawjson"},
		"internal/bookshop":         {},
		"internal/doccomments":      {},
		"internal/jsonpath":         {"internal/rawjson"},
		"internal/sqlite":           {"internal/rawjson"},
		"internal/watch":            {},
		"openapi/internal/document": {".", "internal/rawjson", "internal/yaml", "internal/egress", "internal/jsonpath", "internal/watch", "internal/incident"},
		"openapi/internal/convert":  {"internal/rawjson", "openapi/internal/document"},
		"openapi/internal/encode":   {".", "internal/rawjson", "openapi/internal/document"},
		"openapi/internal/review":   {".", "internal/rawjson", "openapi/internal/document", "openapi/internal/encode"},
		"openapi":                   {".", "schema", "internal/rawjson", "internal/suggest", "internal/charset", "internal/egress", "internal/deadline", "internal/watch", "internal/incident", "internal/publish", "internal/memstore", "internal/idempotency", "openapi/internal/document", "openapi/internal/convert", "openapi/internal/encode", "openapi/internal/review"},
		"flowmcp":                   {".", "schema", "internal/rawjson", "internal/suggest", "internal/charset", "internal/egress", "internal/sandbox", "internal/sqlite", "internal/watch", "internal/redact", "internal/atomicfile", "flowmcp/internal/module", "flowmcp/internal/format", "internal/publish"},
		"flowmcp/library":           {".", "schema", "internal/rawjson", "internal/suggest", "flowmcp/internal/module", "flowmcp/internal/format", "schema/sample"},
		"flowmcp/internal/format":   {".", "schema", "internal/rawjson", "internal/suggest", "internal/sandbox", "internal/sqlite", "flowmcp/internal/module"},
		"recording":                 {"internal/rawjson", "internal/redact", "internal/filelock"},
		"internal/filelock":         {},
		"internal/toolcase":         {".", "schema", "internal/jsonpath", "internal/rawjson", "internal/suggest", "internal/yaml"},
		"internal/redact":           {},
		"internal/atomicfile":       {},
		"internal/clientconfig":     {"internal/atomicfile"},
		"internal/mcpb":             {},
		"internal/keyring":          {"internal/atomicfile", "internal/incident"},
		"flowmcp/internal/module":   {"internal/rawjson", "internal/charset"},
		"functionapp":               {".", "internal/rawjson"},
		"functionapp/worker":        {".", "gateway", "gofunc", "schema", "functionapp", "internal/rawjson", "internal/publish"},
		"functionapp/host":          {".", "functionapp", "internal/rawjson", "internal/proc", "internal/watch", "internal/incident", "internal/inflight", "internal/publish"},
		"internal/docgen":           {".", "gateway", "internal/markup", "internal/rawjson"},
		"internal/markup":           {},
		"search":                    {".", "gateway", "internal/rawjson", "internal/envelope", "internal/suggest", "internal/typedecl"},
		"internal/jsonrpc":          {"internal/rawjson"},
		"internal/mcpclient":        {".", "internal/egress", "internal/incident", "internal/jsonrpc", "internal/proc", "internal/rawjson"},
		"server":                    {".", "gateway", "internal/jsonrpc", "internal/elicitation", "internal/rawjson", "internal/incident", "internal/inflight"},
		"telemetry":                 {".", "gateway", "server", "internal/incident"},
		"audit":                     {".", "gateway", "internal/rawjson"},
		"inspector":                 {".", "gateway", "internal/rawjson"},
		"redis":                     {".", "internal/incident"},
		"auth":                      {"internal/egress", "internal/incident"},
		"internal/limit":            {".", "gateway", "auth", "internal/inflight"},
		"internal/roll":             {".", "internal/incident"},
		"internal/sealed":           {"."},
		"internal/access":           {"gateway", "auth"},
		"internal/vault":            {"internal/atomicfile"},
		"internal/enrollment":       {"auth", "internal/markup", "internal/vault"},
		"guard":                     {"."},
		"evidence":                  {".", "schema", "internal/rawjson", "internal/atomicfile", "internal/filelock", "internal/incident"},
		"app": {
			".", "gateway", "search", "openapi", "flowmcp", "recording", "functionapp/host", "redis", "server", "auth", "inspector", "guard", "audit", "telemetry", "evidence",
			"internal/access", "internal/limit", "internal/memstore", "internal/roll", "internal/sealed", "internal/vault", "internal/enrollment", "internal/rawjson", "internal/suggest", "internal/config", "internal/egress", "internal/jq", "internal/incident", "internal/proc", "internal/clients", "internal/toolname",
		},
		"cmd/tenon": {
			".", "app", "gateway", "openapi", "flowmcp", "flowmcp/library", "evidence", "recording", "functionapp/host", "server",
			"internal/rawjson", "internal/suggest", "internal/config", "internal/yaml", "internal/egress", "internal/bundle", "internal/bookshop", "internal/doccomments", "internal/incident", "internal/docgen", "internal/proc", "internal/watch", "internal/atomicfile", "internal/mcpclient",
			"internal/clientconfig", "internal/keyring", "internal/mcpb", "internal/typedecl", "internal/clients", "internal/toolcase",
		},
	}
}

// keepers names the outside packages that only one package, or those below it,
// may import.
func keepers() map[string]string {
	return map[string]string{
		"github.com/santhosh-tekuri/jsonschema/": "schema",
		"golang.org/x/text/":                     "internal/charset",
		"golang.org/x/oauth2":                    "internal/egress",
		"golang.org/x/time/":                     "internal/egress",
		"github.com/sony/gobreaker/":             "internal/egress",
		"github.com/andybalholm/brotli":          "internal/egress",
		"github.com/klauspost/compress/":         "internal/egress",
		"go.yaml.in/yaml/":                       "internal/yaml",
		"github.com/spf13/cobra":                 "cmd/tenon",
		"golang.org/x/term":                      "cmd/tenon",
		"golang.org/x/crypto/":                   "cmd/tenon",
		"modernc.org/quickjs":                    "internal/sandbox",
		"modernc.org/libquickjs":                 "internal/sandbox/engine",
		"modernc.org/libc":                       "internal/sandbox/engine",
		"modernc.org/sqlite":                     "internal/sqlite",
		"github.com/redis/go-redis/":             "redis",
		"github.com/tdewolff/parse/":             "flowmcp",
		"github.com/itchyny/gojq":                "internal/jq",
		"github.com/evanw/esbuild":               "internal/bundle",
		"github.com/fsnotify/fsnotify":           "internal/watch",
		"github.com/go-jose/go-jose/":            "auth",
		"github.com/zalando/go-keyring":          "internal/keyring",
		"github.com/tailscale/hujson":            "internal/clientconfig",
		"github.com/pelletier/go-toml/":          "internal/clientconfig",
		"go.opentelemetry.io/otel":               "telemetry",
		"github.com/prometheus/client_golang/":   "telemetry",
		"google.golang.org/protobuf/":            "telemetry",
		"os/exec":                                "internal/proc",
		"os/signal":                              "cmd/tenon",
		"golang.org/x/sys/windows":               "internal/proc",
	}
}

// separate are the folders with a go.mod of their own, and those that hold no
// package of the product.
func separate(name string) bool {
	return slices.Contains([]string{"testdata", "examples", "bench", "docs", "adapters", "deploy"}, name) || name != "." && strings.HasPrefix(name, ".")
}

const module = "github.com/tenon-mcp/tenon"

// TestHousePlan fails for an unplanned package, a wrong arrow, a library in the
// wrong package and an internal type in a public signature.
func TestHousePlan(t *testing.T) {
	plan := packages()
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && separate(d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		folder := path.Dir(filepath.ToSlash(file))
		if _, planned := plan[folder]; !planned {
			t.Errorf("%s: package %q is not in the plan", file, folder)
			return nil
		}
		seen[folder] = true
		checkFile(t, file, folder, plan[folder])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{".", "schema", "openapi", "server", "cmd/tenon"} {
		if !seen[folder] {
			t.Errorf("package %q was not looked at: the walk is broken", folder)
		}
	}
}

func checkFile(t *testing.T, file, folder string, allowed []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}  // names under which f imports internal packages
	foreign := map[string]bool{} // those of them that are internal to the whole module
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		to, inside := strings.CutPrefix(imported, module)
		to = strings.TrimPrefix(to, "/")
		if inside && to == "" {
			to = "."
		}
		if inside && !slices.Contains(allowed, to) {
			t.Errorf("%s: package %q may not import %q", file, folder, to)
		}
		if inside && strings.Contains("/"+to, "/internal/") {
			hidden[path.Base(to)] = true
			foreign[path.Base(to)] = strings.HasPrefix(to, "internal/")
		}
		for prefix, keeper := range keepers() {
			if strings.HasPrefix(imported, prefix) && folder != keeper && !strings.HasPrefix(folder, keeper+"/") {
				t.Errorf("%s: only package %q may import %q", file, keeper, imported)
			}
		}
	}
	if strings.Contains(folder, "internal/") || strings.HasPrefix(folder, "cmd/") {
		return
	}
	for _, name := range leaks(f, hidden, foreign) {
		t.Errorf("%s: exported %s names an internal type", file, name)
	}
}

// leaks returns the exported declarations of f whose types name a hidden
// package. An alias may name a type of an internal package that is not
// internal to the whole module.
func leaks(f *ast.File, hidden, foreign map[string]bool) []string {
	var found []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && !ofHidden(d) && mentions(d.Type, hidden) {
				found = append(found, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok || !ts.Name.IsExported() {
					continue
				}
				if ts.Assign.IsValid() && mentions(ts.Type, foreign) || !ts.Assign.IsValid() && mentions(ts.Type, hidden) {
					found = append(found, ts.Name.Name)
				}
			}
		}
	}
	return found
}

// ofHidden reports whether d is a method of a type that is not exported: nobody
// outside reads its signature.
func ofHidden(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return false
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, ok := of.(*ast.Ident)
	return ok && !name.IsExported()
}

// mentions reports whether a type uses a hidden package outside its unexported
// fields.
func mentions(n ast.Node, hidden map[string]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if st, ok := n.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				public := len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported)
				found = found || public && mentions(field.Type, hidden)
			}
			return false
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, isName := sel.X.(*ast.Ident)
			found = found || isName && hidden[x.Name]
		}
		return true
	})
	return found
}

// TestSizes keeps packages and files small enough to read.
func TestSizes(t *testing.T) {
	const maxFile, maxRoot = 500, 1500
	root := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && separate(d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines := strings.Count(string(text), "\n")
		if lines > maxFile {
			t.Errorf("%s has %d lines: has it become two subjects?", file, lines)
		}
		if path.Dir(filepath.ToSlash(file)) == "." {
			root += lines
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if root > maxRoot {
		t.Errorf("the root has %d lines: something has become a subject and wants a package", root)
	}
}

// TestPlanIsDocumented compares the packages that exist with the table in
// docs/architecture.md.
func TestPlanIsDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for folder := range packages() {
		if _, err := os.Stat(folder); err != nil {
			continue
		}
		name := "`" + folder + "`"
		if folder == "." {
			name = "root"
		}
		if !strings.Contains(string(text), "| "+name+" |") {
			t.Errorf("docs/architecture.md has no row for package %s", name)
		}
	}
	for lib, keeper := range keepers() {
		if _, err := os.Stat(keeper); err == nil && strings.Contains(lib, ".") && !strings.Contains(string(text), strings.TrimSuffix(lib, "/")) {
			t.Errorf("docs/architecture.md does not name the library %s of package %s", lib, keeper)
		}
	}
}
