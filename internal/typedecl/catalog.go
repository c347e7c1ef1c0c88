package typedecl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Tool is what declarations say of a tool.
type Tool struct {
	Name, Title, Description string

	Input    []byte // schema of the arguments; nil: any object
	Data     []byte // schema of the data; nil: none is declared
	Within   string // member of structuredContent that holds the data; empty: it is the data
	Enforced bool   // a response that violates Data is an error
	ReadOnly bool
}

// Set holds the tools of one source. Definitions that several schemas share are
// declared once. A Set is not safe for concurrent use.
type Set struct {
	advice bool
	bundle publish.Bundle
	tools  []Tool // with the bodies of their schemas
	brief  *declarations
}

// NewSet returns an empty set. With advice, an alternative of a schema that
// accepts anything is left out: a server that reports violations instead of
// refusing them publishes its schemas so.
func NewSet(advice bool) *Set { return &Set{advice: advice} }

// Add adds a tool. Schemas that cannot be read are said to be unknown. What t
// holds must not be changed afterwards.
func (s *Set) Add(t Tool) {
	for _, doc := range []*[]byte{&t.Input, &t.Data} {
		if *doc == nil {
			continue
		}
		body, err := s.bundle.Add(*doc)
		if err != nil {
			body = []byte(`"` + unreadable + `"`)
		}
		*doc = body
	}
	s.tools, s.brief = append(s.tools, t), nil
}

// briefly is the set as it is declared in TypeScript, read once.
func (s *Set) briefly() *declarations {
	if s.brief == nil {
		s.brief = s.declare(typescriptWords())
	}
	return s.brief
}

// unreadable stands where a schema is not JSON: a string is not a schema either.
const unreadable = "unreadable"

// Len returns the number of tools.
func (s *Set) Len() int { return len(s.tools) }

// Function says how a tool is declared.
type Function struct {
	Tool       string
	Name       string
	Args, Data string // names of types; empty: there are no arguments, or no data is declared
}

// Functions returns how the tools are declared in a language, in their order.
func (s *Set) Functions(language string) []Function {
	words := typescriptWords()
	if language == LanguagePython {
		words = pythonWords()
	}
	d := s.declare(words)
	all := make([]Function, len(d.functions))
	for i, f := range d.functions {
		all[i] = Function{Tool: f.tool.Name, Name: f.name}
		if f.args != nil {
			all[i].Args = f.argsName
		}
		if f.data != nil {
			all[i].Data = f.dataName
		}
	}
	return all
}

// declarations are a set as a language declares it.
type declarations struct {
	*builder
	language  *language
	functions []*function
	types     []*named // sorted by name
	nameOf    map[*named]string
	taken     map[string]bool // names of types, in lower case
	broken    map[*named]bool // types that refer to nothing but themselves
}

// function is a tool.
type function struct {
	tool               Tool
	name               string
	args, data         *Type // nil args: it has none; nil data: not declared
	argsName, dataName string
	argsNode, dataNode rawjson.Node
	optional           bool // no argument is required
}

// declare reads the schemas of a set and names its types and functions.
func (s *Set) declare(l *language) *declarations {
	text := s.bundle.AppendDefs([]byte{'{'})
	whole := map[string]string{} // the definitions, by their text
	for _, def := range s.bundle.Defs {
		whole[string(def.Text)] = def.Name
	}
	if len(text) > 1 {
		text = append(text, ',')
	}
	text = append(text, `"tools":[`...)
	for i, t := range s.tools {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '[')
		text = append(text, cmp.Or(string(t.Input), "null")...)
		text = append(text, ',')
		if name, ok := whole[string(t.Data)]; ok { // written out at the root, where a reference would do
			text = append(rawjson.AppendString(append(text, `{"$ref":`...), schemadoc.FragmentOf("/$defs/"+rawjson.EscapeToken(name))), '}')
		} else {
			text = append(text, cmp.Or(string(t.Data), "null")...)
		}
		text = append(text, ']')
	}
	text = append(text, "]}"...)
	d := &declarations{language: l, nameOf: map[*named]string{}, taken: map[string]bool{}, broken: map[*named]bool{}}
	doc, err := rawjson.Parse(text)
	if err != nil { // what is joined was parsed before
		doc, _ = rawjson.Parse([]byte(`{}`))
	}
	d.builder = newBuilder(doc, s.advice)
	for _, def := range s.bundle.Defs {
		if n := doc.Get(doc.Get(doc.Root(), "$defs"), def.Name); n != rawjson.None {
			d.names[n] = &named{node: n, wish: def.Wish}
		}
	}
	at := doc.First(doc.Get(doc.Root(), "tools"))
	for _, t := range s.tools {
		f := &function{tool: t, argsNode: doc.First(at)}
		f.dataNode = doc.Next(f.argsNode)
		at = doc.Next(at)
		d.functions = append(d.functions, f)
	}
	d.nameFunctions()
	for _, f := range d.functions {
		d.read(f)
	}
	d.nameTypes()
	return d
}

// read reads the schemas of a function.
func (d *declarations) read(f *function) {
	if f.tool.Data != nil {
		f.data = d.schema(f.dataNode, 0)
	}
	if f.tool.Input == nil {
		return
	}
	f.args = d.meet(of(alternative{form: objectForm, object: &objectType{}}), d.schema(f.argsNode, 0))
	f.optional = true
	for _, a := range f.args.alts {
		if a.form != objectForm || slices.ContainsFunc(a.object.members, func(m member) bool { return m.required }) {
			f.optional = false
		}
	}
	if a, ok := f.args.only(); ok && a.form == objectForm && len(a.object.members) == 0 && a.object.index == nil {
		f.args = nil
	}
}

// reach calls visit for each named type that t mentions, also by way of others,
// once.
func (d *declarations) reach(t *Type, seen map[*named]bool, visit func(*named)) {
	if t == nil {
		return
	}
	for _, a := range t.alts {
		switch a.form {
		case namedForm:
			if seen[a.named] {
				continue
			}
			seen[a.named] = true
			visit(a.named)
			d.reach(d.typeOf(a.named), seen, visit)
		case arrayForm:
			for _, p := range a.array.prefix {
				d.reach(p, seen, visit)
			}
			d.reach(a.array.rest, seen, visit)
		case objectForm:
			for _, m := range a.object.members {
				d.reach(m.typ, seen, visit)
			}
			d.reach(a.object.index, seen, visit)
		case bothForm:
			for _, p := range a.parts {
				d.reach(p, seen, visit)
			}
		default:
		}
	}
}

// nameTypes names what the functions mention: types of data first, so that a type
// which differs among arguments is the one that is called input.
func (d *declarations) nameTypes() {
	for _, f := range d.functions {
		stem := pascal(f.tool.Name)
		f.argsName, f.dataName = d.free(stem+"Args"), d.free(stem+"Data")
	}
	seen := map[*named]bool{}
	for _, f := range d.functions {
		d.reach(f.data, seen, func(n *named) { d.call(n, "", f.dataName) })
	}
	for _, f := range d.functions {
		d.reach(f.args, seen, func(n *named) { d.call(n, "Input", f.argsName) })
	}
	for n := range seen {
		d.types = append(d.types, n)
	}
	slices.SortFunc(d.types, func(x, y *named) int { return strings.Compare(d.nameOf[x], d.nameOf[y]) })
	state := map[*named]int{}
	for _, n := range d.types {
		d.findLoops(n, state)
	}
}

// call names a type: as the schema does, followed by suffix where that is taken.
// A document that is a type as a whole is named after the tool that has it.
func (d *declarations) call(n *named, suffix, owner string) {
	wish := pascal(n.wish)
	if n.wish == publish.WholeDocument {
		wish, suffix = owner+"Schema", ""
	}
	if suffix != "" && d.taken[strings.ToLower(wish)] {
		wish += suffix
	}
	d.nameOf[n] = d.free(wish)
}

// findLoops finds types that are nothing but themselves, such as A that refers to
// B that refers to A. A language refuses them.
func (d *declarations) findLoops(n *named, state map[*named]int) {
	const under, done = 1, 2
	state[n] = under
	var look func(t *Type)
	look = func(t *Type) {
		if t == nil {
			return
		}
		for _, a := range t.alts {
			switch {
			case a.form == bothForm:
				for _, p := range a.parts {
					look(p)
				}
			case a.form != namedForm:
			case state[a.named] == under:
				d.broken[n] = true
			case state[a.named] != done:
				d.findLoops(a.named, state)
			}
		}
	}
	look(d.typeOf(n))
	state[n] = done
}
