package flowmcp

import (
	"context"
	"slices"
	"strings"
)

// ListUse says how one schema file uses one shared list.
type ListUse struct {
	List    string `json:"list"`
	Version string `json:"version"` // that it wants
	File    string `json:"file"`
	// Tools are the enums that take their values from the list. A file without
	// may use it in its handlers.
	Tools    []ListedEnum `json:"tools"`
	Handlers bool         `json:"handlers"` // the handlers name the list
}

// ListedEnum is a parameter whose values come from a field of a list.
type ListedEnum struct {
	Tool  string `json:"id"` // its name in full
	Key   string `json:"key"`
	Field string `json:"field"`
}

// ListUses finds the schema files at spec that use shared lists, in the order
// of their paths.
func ListUses(ctx context.Context, spec string) ([]ListUse, error) {
	files, err := readFiles(ctx, spec, Options{}, false)
	if err != nil {
		return nil, err
	}
	var all []ListUse
	for _, f := range files {
		for _, n := range f.main.get("sharedLists").list() {
			u := ListUse{List: n.get("ref").str(), Version: n.get("version").str(), File: f.path, Tools: []ListedEnum{}}
			u.Tools = append(u.Tools, f.enumsOf(u.List)...)
			u.Handlers = f.handlers.names[u.List]
			all = append(all, u)
		}
	}
	return all, nil
}

// enumsOf are the parameters whose values come from a list.
func (f *file) enumsOf(list string) []ListedEnum {
	var all []ListedEnum
	toolsOf(f.main).members(func(name string, tool *node) {
		for _, p := range tool.get("parameters").list() {
			for _, m := range placeholder.FindAllStringSubmatch(p.get("z").get("primitive").str(), -1) {
				from, field, _ := strings.Cut(m[1], ":")
				e := ListedEnum{Tool: qualifiedName(f.namespace, f.path, name), Key: p.get("position").get("key").str(), Field: field}
				if from == list && !slices.Contains(all, e) {
					all = append(all, e)
				}
			}
		}
	})
	return all
}
