package envelope

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Admits reports whether a value is valid by a published schema.
func Admits(doc []byte, value string) bool {
	s, err := schema.Compile(doc, schema.Options{})
	return err == nil && s.Validate([]byte(value)) == nil
}

// IsPart reports whether a result is a part, by its _meta.
func IsPart(meta []byte) bool {
	doc, err := rawjson.Parse(meta)
	return err == nil && doc.Get(doc.Root(), "tenon/partial") != rawjson.None
}

// HasContract reports whether the _meta of a source has the members that a
// gateway adds.
func HasContract(meta []byte) bool {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return false // no _meta
	}
	contract := doc.Get(doc.Root(), "tenon/contract")
	switch doc.Str(doc.Get(contract, "executed")) {
	case "no", "unknown", "yes":
	default:
		return false
	}
	switch doc.Str(doc.Get(contract, "verdict")) {
	case "fits", "repaired", "violated", "undeclared", "unchecked":
		return true
	}
	return false
}
