package schema

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
)

// scalar reads what is neither list nor object; c is its first byte.
func (r *reader) scalar(p *plan, v reflect.Value, c byte) error {
	switch p.kind {
	case planBool:
		if c != 't' && c != 'f' {
			return r.mismatch(p)
		}
		if !r.word() {
			return r.noJSON()
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
	if kindOf(c) != isNumber {
		return r.mismatch(p)
	}
	n, ok := r.num()
	if !ok {
		return r.noJSON()
	}
	text := r.b[n.start:n.end]
	switch {
	case p.kind == planFloat && v.Kind() == reflect.String: // json.Number
		v.SetString(string(text))
		return nil
	case p.kind == planFloat:
		f, err := strconv.ParseFloat(string(text), v.Type().Bits())
		if err != nil {
			return notHeld(text, v.Type())
		}
		v.SetFloat(f)
		return nil
	}
	if !n.plain {
		text = appendInteger(nil, text)
	}
	if m, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok && v.Kind() == reflect.Struct { // big.Int
		if err := m.UnmarshalJSON(text); err != nil {
			return notHeld(text, v.Type())
		}
		return nil
	}
	return setInteger(v, text)
}

// setInteger reads an integer into v.
func setInteger(v reflect.Value, text []byte) error {
	if v.CanInt() {
		i, err := strconv.ParseInt(string(text), 10, v.Type().Bits())
		if err != nil {
			return notHeld(text, v.Type())
		}
		v.SetInt(i)
		return nil
	}
	if string(text) == "-0" {
		text = text[1:]
	}
	u, err := strconv.ParseUint(string(text), 10, v.Type().Bits())
	if err != nil {
		return notHeld(text, v.Type())
	}
	v.SetUint(u)
	return nil
}

func notHeld(text []byte, t reflect.Type) error {
	return &ValueError{What: "number " + cut(string(text), maxGot) + " cannot be held by " + t.String()}
}

func (r *reader) text(p *plan, v reflect.Value, c byte) error {
	if c != '"' {
		return r.mismatch(p)
	}
	s, ok := r.str()
	if !ok {
		return r.noJSON()
	}
	text := r.plainText(s)
	switch p.kind {
	case planString:
		v.SetString(string(text))
		return nil
	case planBytes:
		raw := make([]byte, 0, base64.StdEncoding.DecodedLen(len(text)))
		raw, err := base64.StdEncoding.AppendDecode(raw, text)
		if err != nil {
			return &ValueError{What: err.Error()}
		}
		v.SetBytes(raw)
		return nil
	default: // planText, planTime
		m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
		if !ok {
			return &ValueError{What: v.Type().String() + " has no UnmarshalText"}
		}
		if err := m.UnmarshalText(text); err != nil {
			return &ValueError{What: err.Error()}
		}
		return nil
	}
}

// appendInteger appends a number that is an integer without point and
// exponent, where that has not too many digits.
func appendInteger(dst, text []byte) []byte {
	d := parseDecimal(text)
	if !d.isInteger() || d.point > 40 {
		return append(dst, text...)
	}
	if d.len() == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.whole...), d.part...)
	for range d.point - d.len() {
		dst = append(dst, '0')
	}
	return dst
}
