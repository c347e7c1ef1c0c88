package envelope

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Admits reports whether a value fits a published schema.
func Admits(doc []byte, value string) bool {
	s, err := schema.Compile(doc, schema.Options{})
	return err == nil && s.Validate([]byte(value)) == nil
}

// IsPart reports whether the _meta of a result says that it is a part.
func IsPart(meta []byte) bool {
	doc, err := rawjson.Parse(meta)
	return err == nil && doc.Get(doc.Root(), "tenon/partial") != rawjson.None
}

// HasContract reports whether a source's _meta says of a call what a gateway
// says.
func HasContract(meta []byte) bool {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return false // there is none
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
