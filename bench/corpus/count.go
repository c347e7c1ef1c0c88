package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenon-mcp/tenon"
)

// counts are of operations, and of all their arguments together: parameters
// that can be sent, and a body as one. Of them some are named by a path alone:
// the specification wants each to be declared (3.1 §4.8.2), and a reader of
// declarations has none; but without them the operation cannot be called.
type counts struct{ operations, arguments, undeclared int }

// compare counts with another reader of the same document.
func compare(r *row, spec string, tools []tenon.Tool) {
	ours := counts{operations: r.Tools + r.Skipped}
	for _, t := range tools {
		c, err := t.Contract.Contract()
		if err != nil {
			r.Differs = err.Error()
			return
		}
		var input struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(c.Input, &input); err != nil {
			r.Differs = err.Error()
			return
		}
		ours.arguments += len(input.Properties)
	}
	theirs, err := byKin(spec)
	r.Oracle = "kin-openapi"
	if err != nil {
		r.OracleErr = err.Error()
		r.Oracle = "raw JSON"
		if theirs, err = byHand(spec); err != nil {
			r.Oracle, r.Differs = "none", err.Error()
			return
		}
	}
	r.Undeclared, theirs.undeclared = theirs.undeclared, 0
	if ours != theirs {
		r.Differs = fmt.Sprintf("%d operations and %d arguments, %s has %d and %d", ours.operations, ours.arguments, r.Oracle, theirs.operations, theirs.arguments)
	}
}

func byKin(spec string) (n counts, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	doc, err := openapi3.NewLoader().LoadFromFile(spec)
	if err != nil {
		return counts{}, err
	}
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			n.operations++
			args := arguments{}
			for _, list := range []openapi3.Parameters{item.Parameters, op.Parameters} {
				for _, p := range list {
					if p.Value != nil {
						args.add(path, p.Value.In, p.Value.Name)
					}
				}
			}
			security := &doc.Security
			if op.Security != nil {
				security = op.Security
			}
			for _, together := range *security {
				for name := range together {
					if doc.Components == nil || doc.Components.SecuritySchemes[name] == nil || doc.Components.SecuritySchemes[name].Value == nil {
						continue
					}
					s := doc.Components.SecuritySchemes[name].Value
					args.leaveOut(s.Type, s.In, s.Name)
				}
			}
			n.add(path, args)
			if op.RequestBody != nil && op.RequestBody.Value != nil && len(op.RequestBody.Value.Content) > 0 {
				n.arguments++
			}
		}
	}
	return n, nil
}

// add counts what was declared, and what the path names besides.
func (n *counts) add(path string, args arguments) {
	path, _, _ = strings.Cut(path, "#") // which tells operations of one path apart
	for _, found := range inBraces.FindAllStringSubmatch(path, -1) {
		key, name := found[1], found[2]
		if !args[argument("path", name)] && !args[argument("query", key)] {
			args[argument("path", name)] = true
			n.undeclared++
		}
	}
	n.arguments += len(args)
}

// inBraces finds the name of a parameter, and before it the key whose value it
// is where it stands so in a query.
var inBraces = regexp.MustCompile(`(?:[?&]([^=&{}?]+)=)?\{([^{}/]+)\}`)

// arguments are parameters, each place and name once.
type arguments map[string]bool

// add leaves out what is no argument of a tool: headers that the client sets
// itself, and parameters for which the path has no place.
func (a arguments) add(path, in, name string) {
	lower := strings.ToLower(name)
	switch {
	case name == "":
	case in == "header" && strings.Contains(" accept content-type authorization host content-length transfer-encoding connection keep-alive upgrade te trailer expect accept-encoding proxy-authorization proxy-connection ", " "+lower+" "):
	case in == "path" && !strings.Contains(path, "{"+name+"}"):
	default:
		a[argument(in, name)] = true
	}
}

// leaveOut takes away what repeats a credential that the operation demands:
// the operator gives it, not the caller.
func (a arguments) leaveOut(kind, in, name string) {
	if kind == "apiKey" {
		delete(a, argument(in, name))
	}
}

func argument(in, name string) string {
	if in == "header" {
		name = strings.ToLower(name)
	}
	return in + " " + name
}

// byHand counts in the raw JSON, knowing nothing but references.
func byHand(spec string) (n counts, err error) {
	raw, err := os.ReadFile(spec)
	if err != nil {
		return n, err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return n, err
	}
	follow := func(v any) map[string]any {
		for range 20 {
			m, _ := v.(map[string]any)
			ref, ok := m["$ref"].(string)
			if !ok {
				return m
			}
			v = any(doc)
			for _, token := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				if list, ok := v.([]any); ok {
					i, err := strconv.Atoi(token)
					if err != nil || i >= len(list) {
						return nil
					}
					v = list[i]
					continue
				}
				m, _ := v.(map[string]any)
				v = m[strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(token)]
			}
		}
		return nil
	}
	paths, _ := doc["paths"].(map[string]any)
	for path, v := range paths {
		item := follow(v)
		for method, v := range item {
			if !strings.Contains(" get put post delete options head patch trace query ", " "+method+" ") {
				continue
			}
			op := follow(v)
			n.operations++
			args := arguments{}
			for _, list := range []any{item["parameters"], op["parameters"]} {
				all, _ := list.([]any)
				for _, p := range all {
					m := follow(p)
					in, _ := m["in"].(string)
					name, _ := m["name"].(string)
					args.add(path, in, name)
				}
			}
			security, own := op["security"].([]any)
			if !own {
				security, _ = doc["security"].([]any)
			}
			components, _ := doc["components"].(map[string]any)
			schemes, _ := components["securitySchemes"].(map[string]any)
			for _, together := range security {
				names, _ := together.(map[string]any)
				for name := range names {
					s := follow(schemes[name])
					kind, _ := s["type"].(string)
					in, _ := s["in"].(string)
					name, _ := s["name"].(string)
					args.leaveOut(kind, in, name)
				}
			}
			n.add(path, args)
			if content, _ := follow(op["requestBody"])["content"].(map[string]any); len(content) > 0 {
				n.arguments++
			}
		}
	}
	return n, nil
}
