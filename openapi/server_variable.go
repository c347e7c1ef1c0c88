package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// expand puts values into the URL of a server: those that the operator chose,
// else the defaults. It is not ok where the server does not take what was
// chosen.
func (a *api) expand(server value) (url string, ok bool) {
	url = server.strAt("url")
	if !strings.Contains(url, "{") {
		return url, true
	}
	for name, v := range server.get("variables").each() {
		chosen, given := a.options.ServerVariables[name]
		if !given {
			chosen = variable(v)
		} else if allowed := allowedValues(v); allowed != nil && !slices.Contains(allowed, chosen) {
			return "", false
		}
		url = strings.ReplaceAll(url, "{"+name+"}", chosen)
	}
	return url, true
}

// variable is the value of a variable that nobody chose: its default, else the
// first of its values.
func variable(v value) string {
	if d := v.get("default"); d.kind() != rawjson.Invalid {
		return text(d)
	}
	for _, e := range v.get("enum").each() {
		return text(e)
	}
	return ""
}

// allowedValues are those that a variable may have; nil: any.
func allowedValues(v value) (all []string) {
	for _, e := range v.get("enum").each() {
		all = append(all, text(e))
	}
	return all
}

// text is a scalar as text: a port may be written as a number.
func text(v value) string {
	if v.kind() == rawjson.String {
		return v.str()
	}
	return string(v.raw())
}

// checkVariables refuses what the operator chose where no server of the
// document has such a variable, or none takes the value.
func (a *api) checkVariables() error {
	if len(a.options.ServerVariables) == 0 {
		return nil
	}
	known := map[string][]string{} // what a variable may be
	free := map[string]bool{}      // whether it may be anything
	for _, v := range a.serverVariables() {
		name, allowed := v.name, allowedValues(v.value)
		known[name] = append(known[name], allowed...)
		free[name] = free[name] || allowed == nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.options.ServerVariables)) {
		chosen := a.options.ServerVariables[name]
		allowed, ok := known[name]
		switch {
		case !ok:
			return usage(fmt.Errorf("%s: no server has a variable %q%s", a.doc.name, name, others(name, slices.Sorted(maps.Keys(known)))))
		case !free[name] && !slices.Contains(allowed, chosen):
			slices.Sort(allowed)
			return usage(fmt.Errorf("%s: the server variable %s is one of %s, not %q", a.doc.name, name, strings.Join(slices.Compact(allowed), ", "), chosen))
		}
	}
	return nil
}

// others says which names there are instead of one.
func others(name string, known []string) string {
	const most = 20
	if len(known) == 0 {
		return "; there are no variables"
	}
	if near := suggest.Near(name, known, 3); near != nil {
		known = near
	}
	return "; there are: " + strings.Join(known[:min(len(known), most)], ", ")
}

type namedValue struct {
	name string

	value
}

// serverVariables are those of all servers: of the document, of paths and of
// operations.
func (a *api) serverVariables() (all []namedValue) {
	add := func(owner value) {
		for _, s := range owner.get("servers").each() {
			server, err := a.doc.deref(s)
			if err != nil {
				continue
			}
			for name, v := range server.get("variables").each() {
				all = append(all, namedValue{name, v})
			}
		}
	}
	add(a.doc.root)
	for _, p := range a.doc.root.get("paths").each() {
		item, err := a.doc.deref(p)
		if err != nil {
			continue
		}
		add(item)
		for _, operation := range item.each() {
			add(operation)
		}
	}
	return all
}
