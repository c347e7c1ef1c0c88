package typedecl

import (
	"cmp"
	"slices"
	"strings"
)

// bytesPerToken is what the text of types weighs in models: 3.6 to 4.3 bytes with
// o200k_base, measured over large catalogs; less is on the safe side.
const bytesPerToken = 3.5

// share of a budget that one declaration can have before it is shortened.
const share = 0.8

// Brief is declarations in TypeScript within a budget, for a model that reads them.
type Brief struct {
	Text    string
	Left    []string // types that Text mentions and does not declare, and members that it leaves out as TYPE.MEMBER, at any depth
	Unknown []string // names that were asked for and are not there
}

// Brief declares functions, by the names of their tools, and types by their own, in
// about as many tokens as budget: what was asked for, arguments with short comments,
// then breadth first the types that are mentioned, one a line. What is left out is
// named and can be asked for by that name.
func (s *Set) Brief(budget int, names ...string) Brief {
	p := &briefer{typescript: typescript{declarations: s.briefly()}, rest: int(float64(budget) * bytesPerToken), shown: map[*named]bool{}}
	p.mention = func(n *named) string {
		if !p.shown[n] && !slices.Contains(p.queue, n) {
			p.queue = append(p.queue, n)
		}
		return p.nameOf[n]
	}
	for _, name := range names {
		if !p.asked(name) {
			p.unknown = append(p.unknown, name)
		}
	}
	for i := 0; i < len(p.queue); i++ { // it grows
		p.follow(p.queue[i])
	}
	for _, n := range p.queue {
		if !p.shown[n] {
			p.left = append(p.left, p.nameOf[n])
		}
	}
	return Brief{Text: p.out.String() + p.note(), Left: p.left, Unknown: p.unknown}
}

// briefer writes declarations until a budget is used up.
type briefer struct {
	typescript

	out     strings.Builder
	rest    int // bytes
	queue   []*named
	shown   map[*named]bool
	left    []string
	unknown []string
}

// asked declares what has that name.
func (p *briefer) asked(name string) bool {
	for _, f := range p.functions {
		switch name {
		case f.tool.Name, f.name:
			p.declareFunction(f)
			return true
		case f.argsName:
			p.full(name, name, f.args)
			return f.args != nil
		case f.dataName:
			p.full(name, name, f.data)
			return f.data != nil
		}
		if p.below(name, f.argsName, f.args) || p.below(name, f.dataName, f.data) {
			return true
		}
	}
	for _, n := range p.types {
		if p.nameOf[n] == name {
			p.shown[n] = true
			p.full(name, name, p.typeOf(n))
			return true
		}
		if p.below(name, p.nameOf[n], p.typeOf(n)) {
			return true
		}
	}
	return false
}

// take appends a text that has been asked for, whatever is left of the budget.
func (p *briefer) take(text string) {
	p.out.WriteString(text)
	p.rest -= len(text)
}

// declareFunction declares a function: with comments, without, or with some of its
// arguments, whatever fits.
func (p *briefer) declareFunction(f *function) {
	about := firstSentence(cmp.Or(f.tool.Description, f.tool.Title))
	if f.data != nil && !f.tool.Enforced {
		if about != "" && !strings.ContainsAny(about[len(about)-1:], ".!?") {
			about += "."
		}
		about = strings.TrimSpace(about + " Not enforced: a result can differ.")
	}
	if about != "" {
		p.take("/** " + strings.ReplaceAll(about, "*/", "*\\/") + " */\n")
	}
	head, tail := "declare function "+f.name+"(", "): Promise<unknown>;\n"
	if f.data != nil {
		most := p.share()
		if f.args != nil {
			most /= 2
		}
		known := len(p.queue)
		text := p.compactly(f.data)
		if len(text) > most {
			p.queue = p.queue[:known] // what is not shown mentions nothing
			text = p.some(f.dataName, f.data, most)
		}
		tail = "): Promise<" + text + ">;\n"
	}
	if f.args == nil {
		p.take(head + tail)
		return
	}
	head += "args"
	if f.optional {
		head += "?"
	}
	p.take(head + ": " + p.fitting(f.argsName, f.args, p.share()-len(tail)) + tail)
}

// share is what one declaration can have of the rest of the budget.
func (p *briefer) share() int { return int(float64(max(p.rest, 0)) * share) }

// full declares a type that was asked for, whose members are asked for below path.
func (p *briefer) full(name, path string, t *Type) {
	if t != nil {
		p.take("type " + name + " = " + p.fitting(path, t, p.share()) + ";\n")
	}
}

// fitting writes a type with short comments, without, or in part.
func (p *briefer) fitting(path string, t *Type, most int) string {
	known := len(p.queue)
	p.short = true
	text, _ := p.typ(t, "")
	p.short = false
	if len(text) <= most {
		return text
	}
	if text = p.compactly(t); len(text) <= most {
		return text
	}
	p.queue = p.queue[:known]
	return p.some(path, t, most)
}

// compactly writes a type on one line.
func (p *briefer) compactly(t *Type) string {
	p.compact = true
	text, _ := p.typ(t, "")
	p.compact = false
	return text
}

// follow declares a type that something mentions, if it fits.
func (p *briefer) follow(n *named) {
	if p.shown[n] {
		return
	}
	t := p.typeOf(n)
	if p.broken[n] {
		t = anything()
	}
	known := len(p.queue)
	text := p.compactly(t)
	line := "type " + p.nameOf[n] + " = " + text + ";\n"
	if len(line) > p.rest-p.names() {
		p.queue = p.queue[:known] // what it mentions nobody sees
		return
	}
	p.shown[n] = true
	p.take(line)
}

// names is about how many bytes the names take that are left out now.
func (p *briefer) names() (bytes int) {
	for _, n := range p.queue {
		if !p.shown[n] {
			bytes += len(p.nameOf[n]) + len(", ")
		}
	}
	return bytes
}

// note says which types are left out; members are named where they would stand.
func (p *briefer) note() string {
	types := slices.DeleteFunc(slices.Clone(p.left), func(name string) bool { return strings.Contains(name, ".") })
	if len(types) == 0 {
		return ""
	}
	return "// Not shown, ask for them by name: " + strings.Join(types, ", ") + "\n"
}
