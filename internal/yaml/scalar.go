package yaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// appendScalar writes a scalar. The library's resolution is not used: it keeps
// parts of YAML 1.1 that would change values, such as 0777 and dates.
func appendScalar(dst []byte, n *yaml.Node) []byte {
	text := n.Value
	if !isPlain(n) && n.Style&yaml.TaggedStyle == 0 {
		return rawjson.AppendString(dst, text)
	}
	switch kind := core(text); {
	case n.Style&yaml.TaggedStyle != 0 && !tagged(n.Tag, kind):
		return rawjson.AppendString(dst, text)
	case kind == rawjson.Null:
		return append(dst, "null"...)
	case kind == rawjson.Bool && (text[0]|0x20 == 't'):
		return append(dst, "true"...)
	case kind == rawjson.Bool:
		return append(dst, "false"...)
	case kind == rawjson.Number:
		return append(dst, text...)
	}
	return rawjson.AppendString(dst, text)
}

// isPlain reports whether a scalar has neither quotes nor block marks.
func isPlain(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// core resolves a plain scalar.
func core(text string) rawjson.Kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return rawjson.Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return rawjson.Bool
	}
	if isNumber(text) {
		return rawjson.Number
	}
	return rawjson.String
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	if c := text[0]; c != '-' && (c < '0' || c > '9') {
		return false
	}
	d, err := rawjson.Parse([]byte(text))
	return err == nil && d.Kind(d.Root()) == rawjson.Number && len(d.Raw(d.Root())) == len(text)
}

// tagged reports whether the text of a scalar matches its explicit tag;
// otherwise it is a string.
func tagged(tag string, kind rawjson.Kind) bool {
	switch tag {
	case "!!null", "tag:yaml.org,2002:null":
		return kind == rawjson.Null
	case "!!bool", "tag:yaml.org,2002:bool":
		return kind == rawjson.Bool
	case "!!int", "!!float", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float":
		return kind == rawjson.Number
	}
	return false
}
