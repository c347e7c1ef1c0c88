package main

import (
	"reflect"
	"strings"
	"testing"

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
		"validate, lint":             verdict{},
		"inspect":                    inspection{},
		"flowmcp check":              countedReport{},
		"flowmcp schemas":            schemaFile{},
		"flowmcp doctor":             diagnosis{},
		"flowmcp list":               availability{},
		"flowmcp hash":               hashReport{},
		"flowmcp lists refs":         flowmcp.ListUse{},
		"functions list, check":      appReport{},
		"flowmcp test (one outcome)": caseOutcome{},
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
