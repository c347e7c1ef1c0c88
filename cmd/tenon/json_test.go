package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestMembersOfReports holds what commands print as JSON against docs/json.md:
// one thing has one name.
func TestMembersOfReports(t *testing.T) {
	otherwise := map[string]string{
		"spec": "file", "findings": "issues", "faults": "issues", "diagnostics": "issues", "severity": "type", "level": "type",
		"code": "rule", "hint": "suggestion", "errors": "error_count", "infos": "info_count", "tool": "name or id", "why_not": "why", "hash": "schemaHash",
	}
	for command, printed := range map[string]any{
		"validate, lint":        verdict{},
		"inspect":               inspection{},
		"flowmcp check":         countedReport{},
		"flowmcp schemas":       schemaFile{},
		"doctor":                doctorReport{},
		"flowmcp list":          availability{},
		"flowmcp hash":          hashReport{},
		"flowmcp lists refs":    flowmcp.ListUse{},
		"functions list, check": appReport{},
		"test (one outcome)":    testOutcome{},
		"install":               installed{},
		"bundle":                bundled{},
		"drift":                 driftJSON{},
	} {
		members := map[string]bool{}
		collect(reflect.TypeOf(printed), members)
		if len(members) == 0 {
			t.Errorf("%s prints nothing", command)
		}
		for m := range members {
			if want := otherwise[m]; want != "" {
				t.Errorf("%s has %q, which is %s elsewhere", command, m, want)
			}
		}
		if members["message"] && !members["issues"] {
			t.Errorf("%s has messages outside of issues", command)
		}
	}
}

// collect notes the members that a type has as JSON, at any depth.
func collect(t reflect.Type, members map[string]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		collect(t.Elem(), members)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				members[name] = true
			}
			if f.IsExported() && name != "-" {
				collect(f.Type, members)
			}
		}
	default:
	}
}

// TestJSONMembers holds what every command with --json prints against the table
// of docs/json.md: no other members, one kind of value for one member, and
// numbers that are counts by their names.
func TestJSONMembers(t *testing.T) {
	if raced {
		t.Skip("the program is packed, which takes a minute under the race detector")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ok.json":               shopWith("a"),
		"large.json":            `{"openapi":"3.1.0","info":{"title":"Large","version":"1"},"servers":[{"url":"https://large.example"}],"paths":{"/a":{"get":{"responses":{"200":{"description":"a","content":{"application/json":{"schema":{"type":"object","properties":{"one":{"type":"object","properties":{"two":{"type":"object","properties":{"three":{"type":"string"}}}}},"four":{}}}}}}}}}}}`,
		"keyed.json":            `{"openapi":"3.1.0","info":{"title":"Keyed","version":"1"},"servers":[{"url":"https://keyed.example"}],"security":[{"key":[]}],"components":{"securitySchemes":{"key":{"type":"http","scheme":"bearer"}}},"paths":{"/a":{"get":{"responses":{}}}}}`,
		"bad.json":              `{"openapi":"3.1.0","info":{"version":"1"},"paths":{"/a/{id}":{"get":{"responses":{}}}}}`,
		"shelf/_lists/inks.mjs": `export const list = { meta: { name: 'inks', version: '1.0.0', fields: [ { key: 'name', type: 'string' } ] }, entries: [ { name: 'red' } ] }`,
		"shelf/ink/ink.mjs": `export const main = { namespace: 'ink', name: 'Ink', description: 'Ink', version: '4.0.0', root: 'https://ink.example', requiredServerParams: [ 'INK_KEY' ], sharedLists: [ { ref: 'inks', version: '1.0.0' } ],
			tools: { mix: { method: 'GET', path: '/mix', description: 'Mixes', parameters: [ { position: { key: 'ink', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{inks:name}})', options: [] } } ], tests: [ { _description: 'red', ink: 'red' } ] } } }`,
		"app/host.json":          `{"customHandler":{"description":{"defaultExecutablePath":"adder"}}}`,
		"app/Good/function.json": `{"bindings":[{"type":"mcpToolTrigger","name":"c","toolName":"good","description":"","toolProperties":"[]","outputSchema":"{\"type\":\"object\"}"}]}`,
		"app/Bad/function.json":  `{"bindings":[{"type":"mcpToolTrigger","name":"c","toolName":"bad","description":"","outputSchema":"{\"type\":\"string\"}"}]}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	m := members{t: t, documented: documentedMembers(t), kinds: map[string]string{}, from: map[string]string{}}
	t.Chdir(dir)
	writeShop(t)
	protocol := []string{"tenon tools", "tenon call", "tenon functions call"} // print what MCP defines
	cases := map[string]string{
		"tenon inspect": "--evidence ledger.ndjson shop.json --max-output-schema 120 large.json", "tenon validate": "bad.json", "tenon lint": "bad.json",
		"tenon check":         "ok.json --http 127.0.0.1:0 --oauth-issuer http://127.0.0.1:1 --oauth-resource http://127.0.0.1:2/mcp --as alice --require-scope read=id:a",
		"tenon flowmcp check": "shelf", "tenon flowmcp list": "shelf", "tenon flowmcp schemas": "shelf", "tenon flowmcp hash": "shelf",
		"tenon doctor": "the-server-of-a-shop-with-a-name-that-leaves-no-space=ok.json shelf --all", "tenon flowmcp search": "shelf mix", "tenon test": "shelf", "tenon flowmcp lists refs": "shelf",
		"tenon functions list": "app", "tenon functions check": "app",
		"tenon bundle":  "-o out.mcpb ok.json",
		"tenon drift":   "--evidence ledger.ndjson --baseline known.yaml shop.json",
		"tenon install": "cursor --scope project --dry-run --binary ok.json keyed.json",
	}
	eachCommand(rootCommand(env{}), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Flags().Lookup("json") == nil || slices.Contains(protocol, path) {
			return
		}
		args, known := cases[path]
		if !known {
			t.Errorf("%s has --json and is not in this test", path)
			return
		}
		var out strings.Builder
		e := env{in: strings.NewReader(""), out: &out, err: io.Discard, getenv: func(string) (string, bool) { return "", false }}
		run(t.Context(), e, append(append(strings.Fields(path)[1:], "--json"), strings.Fields(args)...))
		var value any
		if err := json.Unmarshal([]byte(out.String()), &value); err != nil || len(out.String()) < 5 {
			t.Errorf("%s prints %q: %v", path, out.String(), err)
			return
		}
		m.add(path, value)
	})
	for name := range m.documented {
		if m.kinds[name] == "" && name != "more_count" && name != "tags" && name != "libraries" && name != "kind" {
			t.Errorf("docs/json.md has the member %s, which nothing here prints", name)
		}
	}
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, do)
	}
}

// documentedMembers are those in the first column of the table of docs/json.md,
// and those of an issue.
func documentedMembers(t *testing.T) map[string]bool {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| member | means |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	all := map[string]bool{}
	for row := range strings.Lines(table) {
		cell := strings.Split(row, "|")[1]
		if strings.Contains(cell, "issues") {
			cell = row
		}
		for _, name := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(cell, -1) {
			all[name[1]] = true
		}
	}
	for _, word := range []string{"error", "warning", "info"} { // values of type
		delete(all, word)
	}
	return all
}

// members collects the members that commands print.
type members struct {
	t          *testing.T
	documented map[string]bool
	kinds      map[string]string // of their values
	from       map[string]string // the command that printed them first
}

func (m *members) add(command string, value any) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			m.add(command, v)
		}
	case map[string]any:
		for name, v := range value {
			kind := fmt.Sprintf("%T", v)
			_, number := v.(float64)
			size := slices.Contains([]string{"bytes", "inputSchemaBytes", "outputSchemaBytes", "line", "case", "millis", "score"}, name)
			switch before := m.kinds[name]; {
			case !m.documented[name]:
				m.t.Errorf("%s prints the member %s, which docs/json.md does not have", command, name)
			case before != "" && before != kind:
				m.t.Errorf("%s prints %s as %s, %s as %s", command, name, kind, m.from[name], before)
			case number != (strings.HasSuffix(name, "_count") || size):
				m.t.Errorf("%s prints %s as %s; a count, and nothing else, ends in _count", command, name, kind)
			}
			m.kinds[name], m.from[name] = kind, command
			m.add(command, v)
		}
	}
}
