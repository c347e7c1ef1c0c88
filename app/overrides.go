package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

// changeFlags are the flags that offer operations otherwise than their document
// says.
type changeFlags struct {
	rename, describe, safe, unsafe                  []string
	paramRename, paramDescribe, paramHide, paramFix []string
}

func (f *changeFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.rename, "rename", nil, "name the tool of an operation, as RULE=NAME; rules as for --only (repeatable)")
	fs.StringArrayVar(&f.describe, "redescribe", nil, "give operations this description, as RULE=TEXT (repeatable)")
	fs.StringArrayVar(&f.safe, "mark-safe", nil, "operations that match change nothing, whatever their method (repeatable)")
	fs.StringArrayVar(&f.unsafe, "mark-unsafe", nil, "operations that match may change something, whatever their method (repeatable)")
	fs.StringArrayVar(&f.paramRename, "param-rename", nil, "name an argument, as '[RULE ]PARAMETER=NAME'; without a RULE in all operations (repeatable)")
	fs.StringArrayVar(&f.paramDescribe, "param-redescribe", nil, "give an argument this description, as '[RULE ]PARAMETER=TEXT' (repeatable)")
	fs.StringArrayVar(&f.paramHide, "param-hide", nil, "take an optional argument away, as '[RULE ]PARAMETER' (repeatable)")
	fs.StringArrayVar(&f.paramFix, "param-fix", nil, "always send this value and take the argument away, as '[RULE ]PARAMETER=VALUE', JSON or a text (repeatable)")
}

// changes reads the flags.
func (f *changeFlags) changes() ([]openapi.OperationOverride, error) {
	yes, no := true, false
	var all []openapi.OperationOverride
	for _, rule := range f.safe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &yes})
	}
	for _, rule := range f.unsafe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &no})
	}
	for _, one := range []struct {
		flag  string
		given []string
		set   func(c *openapi.OperationOverride, value string)
	}{
		{"rename", f.rename, func(c *openapi.OperationOverride, v string) { c.Name = v }},
		{"redescribe", f.describe, func(c *openapi.OperationOverride, v string) { c.Description = v }},
	} {
		for _, given := range one.given {
			rule, value, found := strings.Cut(given, "=")
			if !found || rule == "" || value == "" {
				return nil, usagef("--%s %q: write RULE=VALUE", one.flag, given)
			}
			c := openapi.OperationOverride{Operations: rule}
			one.set(&c, value)
			all = append(all, c)
		}
	}
	return f.parameters(all)
}

func (f *changeFlags) parameters(all []openapi.OperationOverride) ([]openapi.OperationOverride, error) {
	for _, one := range []struct {
		flag  string
		given []string
		set   func(p *openapi.ParameterOverride, value string)
	}{
		{"param-rename", f.paramRename, func(p *openapi.ParameterOverride, v string) { p.Rename = v }},
		{"param-redescribe", f.paramDescribe, func(p *openapi.ParameterOverride, v string) { p.Description = v }},
		{"param-hide", f.paramHide, func(p *openapi.ParameterOverride, _ string) { p.Hide = true }},
		{"param-fix", f.paramFix, func(p *openapi.ParameterOverride, v string) { p.Fix = jsonOrText(v) }},
	} {
		for _, given := range one.given {
			place, value, found := strings.Cut(given, "=")
			if found == (one.flag == "param-hide") {
				return nil, usagef("--%s %q: write %s", one.flag, given, map[bool]string{true: "'[RULE ]PARAMETER'", false: "'[RULE ]PARAMETER=VALUE'"}[found])
			}
			rule, name := "", place
			if i := strings.LastIndexByte(place, ' '); i >= 0 {
				rule, name = strings.TrimSpace(place[:i]), place[i+1:]
			}
			p := openapi.ParameterOverride{Name: name}
			one.set(&p, value)
			all = append(all, openapi.OperationOverride{Operations: rule, Parameters: []openapi.ParameterOverride{p}})
		}
	}
	return all, nil
}

func jsonOrText(s string) json.RawMessage {
	if rawjson.Check([]byte(s)) == nil {
		return json.RawMessage(s)
	}
	return rawjson.AppendString(nil, s)
}
