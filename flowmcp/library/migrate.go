package library

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Migrate converts a schema file of version 3 to version 4: it renames routes
// to tools and sets the version to 4.0.0. Everything else stays unchanged, byte
// by byte. done lists the changes; it is empty where none were needed.
func Migrate(text []byte) (migrated []byte, done []string, err error) {
	m, err := module.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	exported, _ := m.Export("main")
	main, ok := exported.(*js.ObjectExpr)
	if !ok {
		return nil, nil, errors.New("main is not exported as an object")
	}
	e := &module.Evaluator{Module: m}
	var edits []edit
	names := map[string]bool{}
	for _, p := range main.List {
		name := module.NameOf(p)
		if v, isName := p.Value.(*js.Var); isName && string(v.Data) == "routes" {
			return nil, nil, errors.New("routes is a variable in main; inline its value")
		}
		if p.Spread || name == nil || name.IsComputed() {
			return nil, nil, errors.New("main has computed member names; write them literally")
		}
		key := e.Key(name.Literal)
		names[key] = true
		change, what, err := migrateMember(m, key, name.Literal, p.Value)
		if err != nil {
			return nil, nil, err
		}
		if what != "" {
			edits, done = append(edits, change), append(done, what)
		}
	}
	if version := format.Evaluate(m, "main").Get("version"); version.Exists() && !format.Semver.MatchString(version.Str()) || version.Str() != "" && !strings.HasPrefix(version.Text, "3.") && !strings.HasPrefix(version.Text, "4.") {
		return nil, nil, fmt.Errorf("its version is %s; only 3.x can be migrated", version.AppendJSON(nil))
	}
	if names["routes"] && names["tools"] {
		return nil, nil, errors.New("main has both tools and routes, which is ambiguous")
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.at - a.at })
	migrated = slices.Clone(text)
	for _, x := range edits {
		migrated = slices.Replace(migrated, x.at, x.at+x.size, []byte(x.to)...)
	}
	return migrated, done, nil
}

// edit replaces size bytes of a file.
type edit struct {
	at, size int
	to       string
}

// migrateMember returns the change to a member of main; done is empty where it
// stays.
func migrateMember(m *module.Module, key string, name js.LiteralExpr, member js.IExpr) (change edit, done string, err error) {
	at := m.Offset(name.Data)
	value, isText := member.(*js.LiteralExpr)
	switch {
	case at < 0:
	case key == "routes":
		size := len(name.Data)
		if name.Data[0] == '\'' || name.Data[0] == '"' {
			at, size = at+1, size-2
		}
		return edit{at, size, "tools"}, "renamed routes to tools", nil
	case key == "version" && !isText:
		return edit{}, "", errors.New("the version is not a string literal in main; inline its value")
	case key == "version" && value.TokenType == js.StringToken && strings.HasPrefix(string(value.Data[1:]), "3."):
		return edit{m.Offset(value.Data) + 1, len(value.Data) - 2, "4.0.0"}, fmt.Sprintf("changed version %s to 4.0.0", value.Data[1:len(value.Data)-1]), nil
	}
	return edit{}, "", nil
}
