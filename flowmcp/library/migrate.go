package flowmcp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// Migrate brings a schema file of version 3 to version 4: routes are called
// tools, and the version is 4.0.0. Everything else stays as it was, byte by
// byte. done says what was changed; nothing there was nothing to do.
func Migrate(text []byte) (migrated []byte, done []string, err error) {
	m, err := parseModule(text)
	if err != nil {
		return nil, nil, err
	}
	exported, _ := m.exported("main")
	main, ok := exported.(*js.ObjectExpr)
	if !ok {
		return nil, nil, errors.New("main is not exported as an object")
	}
	e := &evaluator{m: m}
	c := &checker{m: m, broken: map[string]bool{}}
	var edits []edit
	names := map[string]bool{}
	for _, p := range main.List {
		name := nameOf(p)
		if v, isName := p.Value.(*js.Var); isName && string(v.Data) == "routes" {
			return nil, nil, errors.New("routes is a name in main; write its value there")
		}
		if p.Spread || name == nil || name.IsComputed() {
			return nil, nil, errors.New("main has members whose names are computed; write them there")
		}
		key := e.key(name.Literal)
		names[key] = true
		change, what, err := m.migrateMember(key, name.Literal, p.Value)
		if err != nil {
			return nil, nil, err
		}
		if what != "" {
			edits, done = append(edits, change), append(done, what)
		}
	}
	if version := c.evaluate("main").get("version"); version.there() && !semver.MatchString(version.str()) || version.str() != "" && !strings.HasPrefix(version.text, "3.") && !strings.HasPrefix(version.text, "4.") {
		return nil, nil, fmt.Errorf("its version is %s, and only 3.x is brought to version 4", version.appendJSON(nil))
	}
	if names["routes"] && names["tools"] {
		return nil, nil, errors.New("main has both tools and routes: which are meant cannot be told")
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.at - a.at })
	migrated = slices.Clone(text)
	for _, x := range edits {
		migrated = slices.Replace(migrated, x.at, x.at+x.size, []byte(x.to)...)
	}
	return migrated, done, nil
}

// edit replaces so many bytes of a file.
type edit struct {
	at, size int
	to       string
}

// migrateMember says what becomes of a member of main; done is empty where it
// stays.
func (m *module) migrateMember(key string, name js.LiteralExpr, member js.IExpr) (change edit, done string, err error) {
	at := m.offset(name.Data)
	value, isText := member.(*js.LiteralExpr)
	switch {
	case at < 0:
	case key == "routes":
		size := len(name.Data)
		if name.Data[0] == '\'' || name.Data[0] == '"' {
			at, size = at+1, size-2
		}
		return edit{at, size, "tools"}, "routes became tools", nil
	case key == "version" && !isText:
		return edit{}, "", errors.New("the version is no text in main; write its value there")
	case key == "version" && value.TokenType == js.StringToken && strings.HasPrefix(string(value.Data[1:]), "3."):
		return edit{m.offset(value.Data) + 1, len(value.Data) - 2, "4.0.0"}, fmt.Sprintf("version %s became 4.0.0", value.Data[1:len(value.Data)-1]), nil
	}
	return edit{}, "", nil
}
