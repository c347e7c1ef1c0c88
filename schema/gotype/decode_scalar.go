package gotype

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// scalar decodes everything but lists and objects; c is its first byte.
func (r *reader) scalar(p *plan, v reflect.Value, c byte) error {
	switch p.kind {
	case planBool:
		if c != 't' && c != 'f' {
			return r.mismatch(p)
		}
		if !r.Word() {
			return r.syntaxError()
		}
		v.SetBool(c == 't')
		return nil
	case planInt, planFloat:
		return r.number(p, v, c)
	default:
		return r.text(p, v, c)
	}
}

func (r *reader) number(p *plan, v reflect.Value, c byte) error {
	if rawjson.KindOf(c) != rawjson.IsNumber {
		return r.mismatch(p)
	}
	n, ok := r.Num()
	if !ok {
		return r.syntaxError()
	}
	text := r.B[n.Start:n.End]
	switch {
	case p.kind == planFloat && v.Kind() == reflect.String: // json.Number
		v.SetString(string(text))
		return nil
	case p.kind == planFloat:
		f, err := strconv.ParseFloat(string(text), v.Type().Bits())
		if err != nil {
			return cannotHold(text, v.Type())
		}
		v.SetFloat(f)
		return nil
	}
	if !n.Plain {
		text = appendInteger(nil, text)
	}
	if m, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok && v.Kind() == reflect.Struct { // big.Int
		if err := m.UnmarshalJSON(text); err != nil {
			return cannotHold(text, v.Type())
		}
		return nil
	}
	return setInteger(v, text)
}

// setInteger decodes an integer into v.
func setInteger(v reflect.Value, text []byte) error {
	if v.CanInt() {
		i, err := strconv.ParseInt(string(text), 10, v.Type().Bits())
		if err != nil {
			return cannotHold(text, v.Type())
		}
		v.SetInt(i)
		return nil
	}
	if string(text) == "-0" {
		text = text[1:]
	}
	u, err := strconv.ParseUint(string(text), 10, v.Type().Bits())
	if err != nil {
		return cannotHold(text, v.Type())
	}
	v.SetUint(u)
	return nil
}

func cannotHold(text []byte, t reflect.Type) error {
	return &ValueError{Message: "number " + rawjson.Truncate(string(text), rawjson.MaxGot) + " cannot be held by " + t.String()}
}

func (r *reader) text(p *plan, v reflect.Value, c byte) error {
	if c != '"' {
		return r.mismatch(p)
	}
	s, ok := r.Str()
	if !ok {
		return r.syntaxError()
	}
	text := r.PlainText(s)
	switch p.kind {
	case planString:
		v.SetString(string(text))
		return nil
	case planBytes:
		raw := make([]byte, 0, base64.StdEncoding.DecodedLen(len(text)))
		raw, err := base64.StdEncoding.AppendDecode(raw, text)
		if err != nil {
			return &ValueError{Message: err.Error()}
		}
		v.SetBytes(raw)
		return nil
	default: // planText, planTime
		m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
		if !ok {
			return &ValueError{Message: v.Type().String() + " has no UnmarshalText"}
		}
		if err := m.UnmarshalText(text); err != nil {
			return &ValueError{Message: err.Error()}
		}
		return nil
	}
}

// appendInteger appends an integer without decimal point and exponent, unless
// it has too many digits.
func appendInteger(dst, text []byte) []byte {
	d := rawjson.ParseDecimal(text)
	if !d.IsInteger() || d.Point > 40 {
		return append(dst, text...)
	}
	if d.Len() == 0 {
		return append(dst, '0')
	}
	if d.Negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.Whole...), d.Part...)
	for range d.Point - d.Len() {
		dst = append(dst, '0')
	}
	return dst
}
