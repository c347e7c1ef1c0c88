package app

import (
	"encoding/json"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

// overrides are the changes of operations that options ask for.
func overrides(o *SourceOptions) ([]openapi.OperationOverride, error) {
	yes, no := true, false
	var all []openapi.OperationOverride
	for _, rule := range o.MarkSafe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &yes})
	}
	for _, rule := range o.MarkUnsafe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &no})
	}
	for _, one := range []struct {
		flag  string
		given []string
		set   func(c *openapi.OperationOverride, value string)
	}{
		{"rename", o.Rename, func(c *openapi.OperationOverride, v string) { c.Name = v }},
		{"set-description", o.SetDescription, func(c *openapi.OperationOverride, v string) { c.Description = v }},
	} {
		for _, given := range one.given {
			rule, value, found := strings.Cut(given, "=")
			if !found || rule == "" || value == "" {
				return nil, invalid(one.flag, " %q: write SELECTOR=VALUE", given)
			}
			c := openapi.OperationOverride{Operations: rule}
			one.set(&c, value)
			all = append(all, c)
		}
	}
	return parameterOverrides(o, all)
}

func parameterOverrides(o *SourceOptions, all []openapi.OperationOverride) ([]openapi.OperationOverride, error) {
	for _, one := range []struct {
		flag  string
		given []string
		set   func(p *openapi.ParameterOverride, value string)
	}{
		{"param-rename", o.ParamRename, func(p *openapi.ParameterOverride, v string) { p.Rename = v }},
		{"param-description", o.ParamDescription, func(p *openapi.ParameterOverride, v string) { p.Description = v }},
		{"param-hide", o.ParamHide, func(p *openapi.ParameterOverride, _ string) { p.Hide = true }},
		{"param-const", o.ParamConst, func(p *openapi.ParameterOverride, v string) { p.Const = jsonOrText(v) }},
	} {
		for _, given := range one.given {
			place, value, found := strings.Cut(given, "=")
			if found == (one.flag == "param-hide") {
				return nil, invalid(one.flag, " %q: write %s", given, map[bool]string{true: "'[SELECTOR ]PARAMETER'", false: "'[SELECTOR ]PARAMETER=VALUE'"}[found])
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
