package flowmcp

import (
	"slices"
	"strings"
)

// Where a parameter goes.
const (
	inInsert = "insert"
	inQuery  = "query"
	inBody   = "body"
)

// userMark stands in a value where the caller's argument goes.
const userMark = "USER_PARAM"

// serverMark begins the marks that name a server parameter.
const serverMark = "SERVER_PARAM:"

// parameter is one entry of a tool's parameters.
type parameter struct {
	key         string
	in          string
	where       string // path in the file
	pieces      []piece
	z           zType
	description string
	slash       bool // its value may be several segments of a path
}

// pieceKind is the type of a piece.
type pieceKind uint8

const (
	literalPiece pieceKind = iota
	userPiece              // the caller's argument of the name text, else of the parameter's key; in a path: the insert parameter named text
	serverPiece            // the server parameter named text
)

// piece is a part of a value, a header or a path.
type piece struct {
	kind       pieceKind
	text       string
	braces     bool // a path's placeholder in the form of the page
	unresolved bool // a path's placeholder that names nothing
}

// user reports whether a caller gives (a part of) the value.
func (p *parameter) user() bool { return len(p.arguments()) > 0 }

// arguments are the names of what a caller gives for the value.
func (p *parameter) arguments() []string {
	var names []string
	for _, piece := range p.pieces {
		if name := p.argument(piece); piece.kind == userPiece && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// argument is the name of the argument that a piece stands for.
func (p *parameter) argument(x piece) string {
	if x.text != "" {
		return x.text
	}
	return p.key
}

// whole reports whether the value is the caller's argument and nothing else.
func (p *parameter) whole() bool { return len(p.pieces) == 1 && p.pieces[0].kind == userPiece }

// splitValue splits a value or header at its marks. A bare mark that is not a
// declared server parameter is an empty text where it is the first, and stays
// as it stands behind another, as in the reference; undeclared gets its name
// and says of which argument it is the place after all, if of any.
func splitValue(value string, server map[string]bool, undeclared func(name string) (argument string)) []piece {
	var pieces []piece
	from := 0
	hasUser := strings.Contains(value, "{{"+userMark+"}}")
	for _, at := range placeholder.FindAllStringSubmatchIndex(value, -1) {
		name := value[at[2]:at[3]]
		key, marked := strings.CutPrefix(name, serverMark)
		p := piece{kind: serverPiece, text: key}
		switch {
		case name == userMark:
			p = piece{kind: userPiece}
		case !marked && strings.Contains(name, ":"), !marked && hasUser && !server[name]:
			continue // not ours: it stays as it stands
		case !server[key]:
			argument := undeclared(name)
			if argument == "" && !marked && from > 0 {
				continue
			}
			if p = (piece{kind: literalPiece}); argument != "" {
				p = piece{kind: userPiece, text: argument}
			}
		}
		if at[0] > from {
			pieces = append(pieces, piece{text: value[from:at[0]]})
		}
		pieces = append(pieces, p)
		from = at[1]
	}
	if from < len(value) || len(pieces) == 0 {
		pieces = append(pieces, piece{text: value[from:]})
	}
	return pieces
}

// readParameter reads and checks one parameter; nil: it cannot be used.
func (c *checker) readParameter(t *route, n *node, path string) *parameter {
	position, z := n.get("position"), n.get("z")
	if !position.is(objectKind) || !z.is(objectKind) {
		c.fault("VAL040", n, path, "must have position and z")
		return nil
	}
	n.members(func(key string, value *node) {
		switch key {
		case "position", "z":
		case "description":
			c.letter("VAL077", value, path+".description", "is not a field of the format's page; it describes the argument")
		default:
			c.warn("VAL077", value, path+"."+key, "is not a field of the format")
		}
	})
	p := &parameter{key: position.get("key").str(), in: position.get("location").str(), where: path}
	if p.key == "" {
		c.fault("VAL041", orElse(position.get("key"), position), path+".position.key", "must be a string that is not empty")
	} else if !camelPattern.MatchString(p.key) {
		c.letter("NAM004", position, path+".position.key", "%q is not camelCase", p.key)
	}
	if p.in != inInsert && p.in != inQuery && p.in != inBody {
		c.fault("VAL043", orElse(position.get("location"), position), path+".position.location", "must be insert, query or body")
	}
	p.z = c.readZ(t.file, z, path+".z")
	c.checkEnum(p, z)
	c.readValue(t, p, position, path+".position.value")
	if p.description = n.get("description").str(); p.description == "" {
		p.description = z.get("description").str()
	}
	p.slash = p.in == inInsert && t.takesSlash(p)
	c.checkFixed(p, position.get("value"), path)
	return p
}

// readValue splits the value at its marks and checks them.
func (c *checker) readValue(t *route, p *parameter, position *node, path string) {
	value := position.get("value")
	if !value.is(stringKind) {
		c.fault("VAL042", orElse(value, position), path, "must be a string")
		return
	}
	p.pieces = c.splitMarks(t.file, value, path, func(name string) string { return t.asked(p, name, value.text) })
}

// splitMarks splits a value or a header at its marks, and reports those that
// are not declared or not in the form of the page. asked says of which argument
// a mark is the place that names no server parameter, if of any.
func (c *checker) splitMarks(f *file, value *node, path string, asked func(name string) string) []piece {
	pieces := splitValue(value.text, f.server, func(name string) string {
		if key, marked := strings.CutPrefix(name, serverMark); marked {
			c.fault("VAL085", value, path, "the server parameter %s is not declared in requiredServerParams", key)
			return ""
		}
		if argument := asked(name); argument != "" {
			c.letter("VAL091", value, path, "{{%s}} names no server parameter of the file, and the tool's cases give it: it is the caller's argument %s", name, argument)
			return argument
		}
		c.loose("VAL087", value, path, "{{%s}} is not declared in requiredServerParams: an empty text is sent", name)
		return ""
	})
	for _, piece := range pieces {
		if piece.kind == serverPiece && !strings.Contains(value.text, serverMark+piece.text) {
			c.letter("VAL086", value, path, "writes {{%s}} for {{SERVER_PARAM:%s}}", piece.text, piece.text)
		}
	}
	return pieces
}

// checkFixed checks a fixed value against its own z.
func (c *checker) checkFixed(p *parameter, value *node, path string) {
	if len(p.pieces) != 1 || p.pieces[0].kind != literalPiece || placeholder.MatchString(value.str()) {
		return
	}
	fits := p.z.accepts(value.appendJSON(nil))
	if !fits && p.z.primitive != "string" {
		fits = p.z.accepts([]byte(p.pieces[0].text)) // the format has only texts here
	}
	if !fits {
		c.loose("VAL088", value, path+".position.value", "the fixed value does not fit its own z")
	}
}
