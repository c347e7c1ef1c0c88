package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// node is one compiled schema object. A nil *node is a schema that accepts
// everything. The rules for each kind of value are behind a pointer, because
// most schemas have rules for one kind only.
type node struct {
	alias   *node         // the schema is only a reference
	types   rawjson.Types // allowed by the keyword type
	accepts rawjson.Types // of valid values, with unions and references resolved
	refuse  bool          // the schema false
	state   walkState     // used while the graph is walked
	chain   int           // the longest chain of schemas that apply to one value, from here on
	exact   *exactRules
	text    *textRules
	number  *numberRules
	array   *arrayRules
	object  *objectRules
	logic   *logicRules
}

// exactRules are the keywords that end the check of their schema object when
// they fail: const, enum, format.
type exactRules struct {
	constant *valueSet
	enum     *valueSet
	format   *jsonschema.Schema // checks one format and nothing else
	name     string             // of the format
}

// sole returns the only set of values that is allowed, nil if there is another
// rule.
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
	hasNames   bool
}

type patternRule struct {
	match *matcher
	node  *node
}

// logicRules are the keywords that apply other schemas to the same value.
type logicRules struct {
	all           []*node   // $ref and allOf
	any           [][]*node // anyOf
	one           []*node   // oneOf
	not           *node
	hasNot        bool
	cond          *node // if
	hasIf         bool
	then, alt     *node // then, else
	discriminator *discriminator
}
