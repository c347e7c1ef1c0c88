package format

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The locations of a parameter.
const (
	InInsert = "insert"
	InQuery  = "query"
	InBody   = "body"
)

// userPlaceholder is the placeholder for the caller's argument.
const userPlaceholder = "USER_PARAM"

// ServerPrefix is the prefix of placeholders for server parameters.
const ServerPrefix = "SERVER_PARAM:"

// Parameter is one entry of a tool's parameters.
type Parameter struct {
	Key         string
	Location    string
	path        string // its path in the file
	Pieces      []Piece
	Type        ZodType
	Description string
	AllowsSlash bool // its value may contain slashes
}

// PieceKind is the kind of a piece.
type PieceKind uint8

// The kinds of pieces.
const (
	LiteralPiece  PieceKind = iota
	ArgumentPiece           // the argument named text, or else like the parameter's key; in a path: the insert parameter named text
	ServerPiece             // the server parameter named text
)

// Piece is a part of a value, a header or a path.
type Piece struct {
	Kind       PieceKind
	Text       string
	braces     bool // a placeholder of a path in the documented form {{name}}
	unresolved bool // an undeclared placeholder of a path
}

// FromCaller reports whether a caller passes the value or a part of it.
func (p *Parameter) FromCaller() bool { return len(p.Arguments()) > 0 }

// Arguments returns the names of the arguments in the value.
func (p *Parameter) Arguments() []string {
	var names []string
	for _, piece := range p.Pieces {
		if name := p.Argument(piece); piece.Kind == ArgumentPiece && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Argument returns the name of the argument that a piece refers to.
func (p *Parameter) Argument(x Piece) string {
	if x.Text != "" {
		return x.Text
	}
	return p.Key
}

// IsArgument reports whether the value is a single argument and nothing else.
func (p *Parameter) IsArgument() bool { return len(p.Pieces) == 1 && p.Pieces[0].Kind == ArgumentPiece }

// SplitValue splits a value or header at its placeholders. As in the reference
// implementation, an undeclared placeholder is empty where it is the first, and
// stays unchanged after another. undeclared maps its name to an argument, or to
// "".
func SplitValue(value string, server map[string]bool, undeclared func(name string) (argument string)) []Piece {
	var pieces []Piece
	from := 0
	hasUser := strings.Contains(value, "{{"+userPlaceholder+"}}")
	for _, at := range placeholder.FindAllStringSubmatchIndex(value, -1) {
		name := value[at[2]:at[3]]
		key, marked := strings.CutPrefix(name, ServerPrefix)
		p := Piece{Kind: ServerPiece, Text: key}
		switch {
		case name == userPlaceholder:
			p = Piece{Kind: ArgumentPiece}
		case !marked && strings.Contains(name, ":"), !marked && hasUser && !server[name]:
			continue // not a placeholder of the format: unchanged
		case !server[key]:
			argument := undeclared(name)
			if argument == "" && !marked && from > 0 {
				continue
			}
			if p = (Piece{Kind: LiteralPiece}); argument != "" {
				p = Piece{Kind: ArgumentPiece, Text: argument}
			}
		}
		if at[0] > from {
			pieces = append(pieces, Piece{Text: value[from:at[0]]})
		}
		pieces = append(pieces, p)
		from = at[1]
	}
	if from < len(value) || len(pieces) == 0 {
		pieces = append(pieces, Piece{Text: value[from:]})
	}
	return pieces
}

// readParameter reads and checks one parameter, and returns nil where it is
// unusable.
func (c *checker) readParameter(t *Tool, n *module.Node, path string) *Parameter {
	position, z := n.Get("position"), n.Get("z")
	if !position.Is(module.Object) || !z.Is(module.Object) {
		c.error("VAL040", n, path, "must have position and z")
		return nil
	}
	n.Members(func(key string, value *module.Node) {
		switch key {
		case "position", "z":
		case "description":
			c.strictOnly("VAL077", value, path+".description", "is not a field of the format's page; it describes the argument")
		default:
			c.warn("VAL077", value, path+"."+key, "is not a field of the format")
		}
	})
	p := &Parameter{Key: position.Get("key").Str(), Location: position.Get("location").Str(), path: path}
	if p.Key == "" {
		c.error("VAL041", orElse(position.Get("key"), position), path+".position.key", "must be a nonempty string")
	} else if !camelPattern.MatchString(p.Key) {
		c.strictOnly("NAM004", position, path+".position.key", "%q is not camelCase", p.Key)
	}
	if p.Location != InInsert && p.Location != InQuery && p.Location != InBody {
		c.error("VAL043", orElse(position.Get("location"), position), path+".position.location", "must be insert, query or body")
	}
	p.Type = c.readZ(t.File, z, path+".z")
	c.checkEnum(p, z)
	c.readValue(t, p, position, path+".position.value")
	if p.Description = n.Get("description").Str(); p.Description == "" {
		p.Description = z.Get("description").Str()
	}
	p.AllowsSlash = p.Location == InInsert && t.takesSlash(p)
	c.checkFixed(p, position.Get("value"), path)
	return p
}

// readValue splits the value at its placeholders and checks them.
func (c *checker) readValue(t *Tool, p *Parameter, position *module.Node, path string) {
	value := position.Get("value")
	if !value.Is(module.String) {
		c.error("VAL042", orElse(value, position), path, "must be a string")
		return
	}
	p.Pieces = c.splitPlaceholders(t.File, value, path, func(name string) string { return t.implicitArgument(p, name, value.Text) })
}

// splitPlaceholders splits a value or a header at its placeholders and reports those
// that are undeclared or not in the documented form. asked maps an undeclared
// placeholder to an argument, or to "".
func (c *checker) splitPlaceholders(f *File, value *module.Node, path string, asked func(name string) string) []Piece {
	pieces := SplitValue(value.Text, f.ServerParams, func(name string) string {
		if key, marked := strings.CutPrefix(name, ServerPrefix); marked {
			c.error("VAL085", value, path, "the server parameter %s is not declared in requiredServerParams", key)
			return ""
		}
		if argument := asked(name); argument != "" {
			c.strictOnly("VAL091", value, path, "{{%s}} is not a server parameter, and the tool's test cases give it a value: it is the argument %s", name, argument)
			return argument
		}
		c.lenient("VAL087", value, path, "{{%s}} is not declared in requiredServerParams: an empty text is sent", name)
		return ""
	})
	for _, piece := range pieces {
		if piece.Kind == ServerPiece && !strings.Contains(value.Text, ServerPrefix+piece.Text) {
			c.strictOnly("VAL086", value, path, "writes {{%s}} for {{SERVER_PARAM:%s}}", piece.Text, piece.Text)
		}
	}
	return pieces
}

// checkFixed validates a fixed value against its own z.
func (c *checker) checkFixed(p *Parameter, value *module.Node, path string) {
	if len(p.Pieces) != 1 || p.Pieces[0].Kind != LiteralPiece || placeholder.MatchString(value.Str()) {
		return
	}
	fits := p.Type.Accepts(value.AppendJSON(nil))
	if !fits && p.Type.Primitive != "string" {
		fits = p.Type.Accepts([]byte(p.Pieces[0].Text)) // fixed values are always strings in the format
	}
	if !fits {
		c.lenient("VAL088", value, path+".position.value", "the fixed value does not match its z")
	}
}

// InsertParameter returns the insert parameter with a key.
func (t *Tool) InsertParameter(key string) *Parameter {
	for _, p := range t.Parameters {
		if p.Location == InInsert && p.Key == key {
			return p
		}
	}
	return nil // unreachable: SplitPath only uses keys of insert parameters
}

// PlainText formats a JSON value for a URL: strings without quotes, lists
// joined by commas.
func PlainText(raw []byte) string {
	doc, err := rawjson.Parse(raw)
	if err != nil {
		return ""
	}
	switch doc.Kind(doc.Root()) {
	case rawjson.String:
		return doc.Str(doc.Root())
	case rawjson.Array:
		var parts []string
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			parts = append(parts, PlainText(doc.Raw(n)))
		}
		return strings.Join(parts, ",")
	}
	return string(raw)
}

// implicitPattern matches undeclared placeholders as real files write them.
var implicitPattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// implicitArgument returns the argument for an undeclared placeholder such as {{CITY}}, or
// "". Where the tool's test cases give it a value it must be the caller's, and
// the first such case tells its name: that of the placeholder or, where the
// placeholder is the whole value, the parameter's key. A placeholder without a
// value in any case is an optional argument if the tool has others.
func (t *Tool) implicitArgument(p *Parameter, name, value string) string {
	if !t.File.ImplicitParameters || !implicitPattern.MatchString(name) || name == userPlaceholder {
		return ""
	}
	whole := value == "{{"+name+"}}"
	for _, test := range t.Tests.List() {
		switch {
		case test.Get(name).Exists():
			return name
		case whole && test.Get(p.Key).Exists():
			return p.Key
		}
	}
	if whole && p.Type.Optional && t.implicit {
		return p.Key
	}
	return ""
}

// hasImplicit reports whether the tool's test cases give a value for an undeclared
// placeholder.
func hasImplicit(t *Tool, parameters *module.Node) bool {
	for _, n := range parameters.List() {
		position := n.Get("position")
		value, p := position.Get("value").Str(), &Parameter{Key: position.Get("key").Str()}
		for _, m := range placeholder.FindAllStringSubmatch(value, -1) {
			if !t.File.ServerParams[m[1]] && t.implicitArgument(p, m[1], value) != "" {
				return true
			}
		}
	}
	return false
}

// takesSlash reports whether the value of an insert parameter is a path rather
// than a segment. The reference implementation inserts values unescaped, and
// some files rely on it. The file's own examples decide: a test case, a member
// of an enum, a default or a fixed value has a slash, or a pattern requires
// one.
func (t *Tool) takesSlash(p *Parameter) bool {
	has := func(text string) bool { return strings.Contains(text, "/") }
	if !p.FromCaller() {
		return slices.ContainsFunc(p.Pieces, func(x Piece) bool { return x.Kind == LiteralPiece && has(x.Text) })
	}
	for _, name := range p.Arguments() {
		if slices.ContainsFunc(t.Tests.List(), func(test *module.Node) bool { return has(test.Get(name).Str()) }) {
			return true
		}
	}
	return slices.ContainsFunc(p.Type.Members, has) || has(PlainText(p.Type.Default)) || slices.ContainsFunc(p.Type.Patterns, namesSlash)
}

// namesSlash reports whether a pattern contains a slash, literally or in a
// character class that lists it. Negated classes such as [^?] do not count.
func namesSlash(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	var named func(re *syntax.Regexp) bool
	named = func(re *syntax.Regexp) bool {
		if re.Op == syntax.OpLiteral {
			return slices.Contains(re.Rune, '/')
		}
		return re.Op == syntax.OpCharClass && listsSlash(re.Rune) || slices.ContainsFunc(re.Sub, named)
	}
	return named(tree)
}

// listsSlash reports whether the ranges of a class contain the slash and are
// bounded.
func listsSlash(ranges []rune) bool {
	in, open := false, false
	for i := 0; i+1 < len(ranges); i += 2 {
		in = in || ranges[i] <= '/' && '/' <= ranges[i+1]
		open = open || ranges[i+1] == unicode.MaxRune
	}
	return in && !open
}
