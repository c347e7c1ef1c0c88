package schema

// keyword is a keyword of JSON Schema 2020-12 or one of its neighbours that a
// reader of a published schema trips over.
type keyword uint8

// The keywords. Those that are only annotations with a free value have none
// and count as noKeyword, like unknown ones.
const (
	noKeyword keyword = iota
	kwSchema
	kwID
	kwRef
	kwAnchor
	kwDynamicRef
	kwDynamicAnchor
	kwDefs
	kwDefinitions
	kwAllOf
	kwAnyOf
	kwOneOf
	kwNot
	kwIf
	kwThen
	kwElse
	kwDependentSchemas
	kwDependencies
	kwPrefixItems
	kwItems
	kwAdditionalItems
	kwContains
	kwProperties
	kwPatternProperties
	kwAdditionalProperties
	kwPropertyNames
	kwUnevaluatedItems
	kwUnevaluatedProperties
	kwContentSchema
	kwType
	kwEnum
	kwConst
	kwNumber // maximum, minimum, exclusiveMaximum, exclusiveMinimum
	kwMultipleOf
	kwCount // maxLength, minLength, maxItems, minItems, maxProperties, minProperties
	kwMaxItems
	kwMinContains
	kwMaxContains
	kwUniqueItems
	kwPattern
	kwRequired
	kwDependentRequired
	kwText // format, contentEncoding, contentMediaType
	kwNote // title, description, $comment
	kwFlag // deprecated, readOnly, writeOnly
	kwExamples
	kwForeign // means nothing in 2020-12, but something else to a client
)

// keywordOf knows a keyword by the key of a member, read without its escapes.
func keywordOf(key []byte) keyword {
	switch string(key) {
	case "type":
		return kwType
	case "enum":
		return kwEnum
	case "const":
		return kwConst
	case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		return kwNumber
	case "multipleOf":
		return kwMultipleOf
	case "maxLength", "minLength", "minItems", "maxProperties", "minProperties":
		return kwCount
	case "maxItems":
		return kwMaxItems
	case "minContains":
		return kwMinContains
	case "maxContains":
		return kwMaxContains
	case "uniqueItems":
		return kwUniqueItems
	case "pattern":
		return kwPattern
	case "required":
		return kwRequired
	case "dependentRequired":
		return kwDependentRequired
	case "format", "contentEncoding", "contentMediaType":
		return kwText
	case "title", "description", "$comment":
		return kwNote
	case "deprecated", "readOnly", "writeOnly":
		return kwFlag
	case "examples":
		return kwExamples
	}
	return structuralKeyword(key)
}

// structuralKeyword knows the keywords that hold or name schemas.
func structuralKeyword(key []byte) keyword {
	switch string(key) {
	case "$ref":
		return kwRef
	case "$defs":
		return kwDefs
	case "definitions":
		return kwDefinitions
	case "allOf":
		return kwAllOf
	case "anyOf":
		return kwAnyOf
	case "oneOf":
		return kwOneOf
	case "not":
		return kwNot
	case "if":
		return kwIf
	case "then":
		return kwThen
	case "else":
		return kwElse
	case "dependentSchemas":
		return kwDependentSchemas
	case "dependencies":
		return kwDependencies
	case "prefixItems":
		return kwPrefixItems
	case "items":
		return kwItems
	case "additionalItems":
		return kwAdditionalItems
	case "contains":
		return kwContains
	case "properties":
		return kwProperties
	case "patternProperties":
		return kwPatternProperties
	case "additionalProperties":
		return kwAdditionalProperties
	case "propertyNames":
		return kwPropertyNames
	case "unevaluatedItems":
		return kwUnevaluatedItems
	case "unevaluatedProperties":
		return kwUnevaluatedProperties
	case "contentSchema":
		return kwContentSchema
	}
	return identityKeyword(key)
}

// identityKeyword knows the keywords that say what a document is called, and
// those of other dialects.
func identityKeyword(key []byte) keyword {
	switch string(key) {
	case "$schema":
		return kwSchema
	case "$id":
		return kwID
	case "$anchor":
		return kwAnchor
	case "$dynamicRef":
		return kwDynamicRef
	case "$dynamicAnchor":
		return kwDynamicAnchor
	case "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$async", "id", "nullable",
		"formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum":
		return kwForeign
	}
	return noKeyword
}

// form says how the value of a keyword holds schemas.
type form uint8

const (
	holdsNone form = iota
	holdsOne       // the value is a schema
	holdsList      // an array of schemas
	holdsMap       // an object whose members are schemas
)

func (k keyword) form() form {
	switch k {
	case kwAllOf, kwAnyOf, kwOneOf, kwPrefixItems:
		return holdsList
	case kwDefs, kwDefinitions, kwProperties, kwPatternProperties, kwDependentSchemas, kwDependencies:
		return holdsMap
	case kwNot, kwIf, kwThen, kwElse, kwItems, kwContains, kwAdditionalProperties, kwPropertyNames,
		kwUnevaluatedItems, kwUnevaluatedProperties, kwContentSchema:
		return holdsOne
	}
	return holdsNone
}

// inPlace reports whether the schemas below k speak of the same value as the
// schema that k stands in.
func (k keyword) inPlace() bool {
	switch k {
	case kwAllOf, kwAnyOf, kwOneOf, kwNot, kwIf, kwThen, kwElse, kwDependentSchemas, kwDependencies:
		return true
	}
	return false
}
