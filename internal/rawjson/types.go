package rawjson

// Types is a set of JSON types. Numbers have two bits, so that "integer" is a
// subset of "number".
type Types uint8

// The types.
const (
	IsNull Types = 1 << iota
	IsBool
	IsInteger  // a number without a fraction: 1, 1.0, 1e2
	IsFraction // any other number
	IsString
	IsArray
	IsObject
	IsNumber    = IsInteger | IsFraction
	IsContainer = IsArray | IsObject
	IsAny       = IsNull | IsBool | IsNumber | IsString | IsContainer
)

// TypeNamed returns the set for a name in the keyword type, 0 for an unknown
// name.
func TypeNamed(name string) Types {
	switch name {
	case "null":
		return IsNull
	case "boolean":
		return IsBool
	case "integer":
		return IsInteger
	case "number":
		return IsNumber
	case "string":
		return IsString
	case "array":
		return IsArray
	case "object":
		return IsObject
	}
	return 0
}

// Words lists the types of the set, for people.
func (t Types) Words() string {
	var w []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if set := TypeNamed(name); t&set == set {
			t &^= set
			w = append(w, name)
		}
	}
	return Alternatives(w)
}

// KindOf returns the type of a value by its first byte, 0 if no value begins
// with it. It returns IsNumber for numbers: whether there is a fraction is not
// known yet.
func KindOf(c byte) Types {
	switch c {
	case '"':
		return IsString
	case '{':
		return IsObject
	case '[':
		return IsArray
	case 't', 'f':
		return IsBool
	case 'n':
		return IsNull
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return IsNumber
	}
	return 0
}
