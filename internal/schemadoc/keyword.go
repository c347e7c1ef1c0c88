package schemadoc

// Keyword is a keyword of JSON Schema 2020-12, or of another dialect that
// clients of a published schema interpret.
type Keyword uint8

// The keywords. Annotations with a value of any type count as NoKeyword, like
// unknown keywords.
const (
	NoKeyword Keyword = iota
	KwSchema
	KwID
	KwRef
	KwAnchor
	KwDynamicRef
	KwDynamicAnchor
	KwDefs
	KwDefinitions
	KwAllOf
	KwAnyOf
	KwOneOf
	KwNot
	KwIf
	KwThen
	KwElse
	KwDependentSchemas
	KwDependencies
	KwPrefixItems
	KwItems
	KwAdditionalItems
	KwContains
	KwProperties
	KwPatternProperties
	KwAdditionalProperties
	KwPropertyNames
	KwUnevaluatedItems
	KwUnevaluatedProperties
	KwContentSchema
	KwType
	KwEnum
	KwConst
	KwNumber // maximum, minimum, exclusiveMaximum, exclusiveMinimum
	KwMultipleOf
	KwCount // maxLength, minLength, maxItems, minItems, maxProperties, minProperties
	KwMaxItems
	KwMinContains
	KwMaxContains
	KwUniqueItems
	KwPattern
	KwRequired
	KwDependentRequired
	KwText // format, contentEncoding, contentMediaType
	KwNote // title, description, $comment
	KwFlag // deprecated, readOnly, writeOnly
	KwExamples
	KwForeign // has a meaning only in other dialects
)

// KeywordOf returns the keyword of a member's unescaped key.
func KeywordOf(key []byte) Keyword {
	switch string(key) {
	case "type":
		return KwType
	case "enum":
		return KwEnum
	case "const":
		return KwConst
	case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		return KwNumber
	case "multipleOf":
		return KwMultipleOf
	case "maxLength", "minLength", "minItems", "maxProperties", "minProperties":
		return KwCount
	case "maxItems":
		return KwMaxItems
	case "minContains":
		return KwMinContains
	case "maxContains":
		return KwMaxContains
	case "uniqueItems":
		return KwUniqueItems
	case "pattern":
		return KwPattern
	case "required":
		return KwRequired
	case "dependentRequired":
		return KwDependentRequired
	case "format", "contentEncoding", "contentMediaType":
		return KwText
	case "title", "description", "$comment":
		return KwNote
	case "deprecated", "readOnly", "writeOnly":
		return KwFlag
	case "examples":
		return KwExamples
	}
	return structuralKeyword(key)
}

// structuralKeyword returns the keywords that contain or reference schemas.
func structuralKeyword(key []byte) Keyword {
	switch string(key) {
	case "$ref":
		return KwRef
	case "$defs":
		return KwDefs
	case "definitions":
		return KwDefinitions
	case "allOf":
		return KwAllOf
	case "anyOf":
		return KwAnyOf
	case "oneOf":
		return KwOneOf
	case "not":
		return KwNot
	case "if":
		return KwIf
	case "then":
		return KwThen
	case "else":
		return KwElse
	case "dependentSchemas":
		return KwDependentSchemas
	case "dependencies":
		return KwDependencies
	case "prefixItems":
		return KwPrefixItems
	case "items":
		return KwItems
	case "additionalItems":
		return KwAdditionalItems
	case "contains":
		return KwContains
	case "properties":
		return KwProperties
	case "patternProperties":
		return KwPatternProperties
	case "additionalProperties":
		return KwAdditionalProperties
	case "propertyNames":
		return KwPropertyNames
	case "unevaluatedItems":
		return KwUnevaluatedItems
	case "unevaluatedProperties":
		return KwUnevaluatedProperties
	case "contentSchema":
		return KwContentSchema
	}
	return identityKeyword(key)
}

// identityKeyword returns the keywords that identify a document, and those of
// other dialects. Both are told from unknown ones, which mean nothing to anybody:
// a reader may resolve references by these, or read the rest in another way, as
// OpenAPI 3.0 reads nullable and draft 4 id. It is apart from [KeywordOf] only
// for the length of that function.
func identityKeyword(key []byte) Keyword {
	switch string(key) {
	case "$schema":
		return KwSchema
	case "$id":
		return KwID
	case "$anchor":
		return KwAnchor
	case "$dynamicRef":
		return KwDynamicRef
	case "$dynamicAnchor":
		return KwDynamicAnchor
	case "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$async", "id", "nullable",
		"formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum":
		return KwForeign
	}
	return NoKeyword
}

// form is how the value of a keyword contains schemas.
type form uint8

// The forms.
const (
	HoldsNone form = iota
	HoldsOne       // the value is a schema
	HoldsList      // an array of schemas
	holdsMap       // an object whose members are schemas
)

// Form returns how the value of k contains schemas.
func (k Keyword) Form() form {
	switch k {
	case KwAllOf, KwAnyOf, KwOneOf, KwPrefixItems:
		return HoldsList
	case KwDefs, KwDefinitions, KwProperties, KwPatternProperties, KwDependentSchemas, KwDependencies:
		return holdsMap
	case KwNot, KwIf, KwThen, KwElse, KwItems, KwContains, KwAdditionalProperties, KwPropertyNames,
		KwUnevaluatedItems, KwUnevaluatedProperties, KwContentSchema:
		return HoldsOne
	}
	return HoldsNone
}

// InPlace reports whether the subschemas of k apply to the same value as the
// schema that contains k.
func (k Keyword) InPlace() bool {
	switch k {
	case KwAllOf, KwAnyOf, KwOneOf, KwNot, KwIf, KwThen, KwElse, KwDependentSchemas, KwDependencies:
		return true
	}
	return false
}
