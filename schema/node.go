package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// types is a set of JSON types. Numbers count twice, so that "integer" is a
// part of "number".
type types uint8

const (
	isNull types = 1 << iota
	isBool
	isInteger  // a number without a fraction: 1, 1.0, 1e2
	isFraction // any other number
	isString
	isArray
	isObject
	isNumber    = isInteger | isFraction
	isContainer = isArray | isObject
	isAny       = isNull | isBool | isNumber | isString | isContainer
)

// typeNamed answers the set that a name of the keyword type stands for, 0 for
// an unknown name.
func typeNamed(name string) types {
	switch name {
	case "null":
		return isNull
	case "boolean":
		return isBool
	case "integer":
		return isInteger
	case "number":
		return isNumber
	case "string":
		return isString
	case "array":
		return isArray
	case "object":
		return isObject
	}
	return 0
}

// words names the types of the set, for people.
func (t types) words() string {
	var w []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if set := typeNamed(name); t&set == set {
			t &^= set
			w = append(w, name)
		}
	}
	return alternatives(w)
}

// node is one compiled schema object. A nil *node stands for a schema that
// accepts everything. What a kind of value is checked against hangs on a
// pointer of its own, because most schemas speak of one kind only.
type node struct {
	alias   *node // the schema is a reference and nothing else
	types   types // what the keyword type admits
	accepts types // what can fit at all, once unions and references are looked through
	refuse  bool  // the schema false
	mark    mark  // used while the graph is looked over
	chain   int   // how many schemas apply to one value in a row, from here on
	exact   *exactRules
	text    *textRules
	number  *numberRules
	array   *arrayRules
	object  *objectRules
	logic   *logicRules
}

// exactRules are the keywords that stop the check of their schema object when
// they fail: const, enum, format.
type exactRules struct {
	constant *valueSet
	enum     *valueSet
	format   *jsonschema.Schema // checks one format and nothing else
	name     string             // of the format
}

// sole answers the only set of values that is asked for, nil if there is more.
func (e *exactRules) sole() *valueSet {
	switch {
	case e.format != nil:
		return nil
	case e.constant == nil:
		return e.enum
	case e.enum == nil:
		return e.constant
	}
	return nil
}

type textRules struct {
	min, max int // code points; max < 0: no limit
	pattern  *matcher
}

type numberRules struct {
	bounds   []bound
	multiple *divisor
}

type arrayRules struct {
	min, max int // max < 0: no limit
	unique   bool
	prefix   []*node
	items    *node
}

type objectRules struct {
	min, max   int // max < 0: no limit
	members    members
	patterns   []patternRule
	additional *node
	forbidden  bool  // additionalProperties: false
	names      *node // propertyNames
	namesTold  bool
}

type patternRule struct {
	match *matcher
	node  *node
}

// logicRules are the keywords that apply other schemas to the same value.
type logicRules struct {
	all       []*node   // $ref and allOf
	any       [][]*node // anyOf
	one       []*node   // oneOf
	not       *node
	notTold   bool
	cond      *node // if
	condTold  bool
	then, alt *node // then, else
	meant     *discriminator
}
