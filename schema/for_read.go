package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Decode reads arguments that fit the codec's schema into the value that ptr
// points to, a zero value of the codec's type. Members that are not there get
// the defaults of their tags. The error is a *[ValueError]: JSON Schema allows
// numbers and texts that a Go type cannot hold.
func (c *Codec) Decode(args []byte, ptr any) error {
	if c.defaults {
		args = c.complete(args)
	}
	err := json.Unmarshal(args, ptr)
	if err == nil {
		return nil
	}
	// 1.0 and 1e2 are integers to JSON Schema but not to encoding/json. They
	// are rare, so only who fails pays for them.
	args = c.complete(args)
	reflect.ValueOf(ptr).Elem().SetZero()
	if err = json.Unmarshal(args, ptr); err == nil {
		return nil
	}
	if doc, broken := rawjson.Parse(args); broken == nil {
		x := completion{doc}
		if found := x.fault(c.plan, doc.Root()); found != nil {
			err = found
		}
	}
	return valueError(readError(err))
}

// readError says what encoding/json did not like, in our words.
func readError(err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &ValueError{What: mismatch.Value + " cannot be held by " + mismatch.Type.String()}
	}
	return err
}

// fault looks for the value that cannot be read, because encoding/json does
// not tell where it is.
func (x completion) fault(p *plan, n rawjson.Node) error {
	switch kind := x.doc.Kind(n); {
	case kind == rawjson.Null:
		return nil
	case p.nullable():
		return x.fault(p.elem, n)
	case p.kind == planStruct && kind == rawjson.Object:
		return x.faultInside(n, func(_ int, key string) *plan {
			if i := p.field(key); i >= 0 && !p.fields[i].quoted {
				return p.fields[i].plan
			}
			return nil
		})
	case p.kind == planMap && kind == rawjson.Object, (p.kind == planList || p.kind == planArray) && kind == rawjson.Array:
		return x.faultInside(n, func(int, string) *plan { return p.elem })
	case p.kind == planTuple && kind == rawjson.Array:
		return x.faultInside(n, func(i int, _ string) *plan { return p.of[min(i, len(p.of)-1)] })
	}
	if err := json.Unmarshal(x.doc.Raw(n), reflect.New(p.typ).Interface()); err != nil {
		return readError(err)
	}
	return nil
}

// faultInside looks into a list or an object, of whose members the function tells
// the plans.
func (x completion) faultInside(n rawjson.Node, of func(i int, key string) *plan) error {
	for i, c := 0, x.doc.First(n); c != rawjson.None; i, c = i+1, x.doc.Next(c) {
		key := strconv.Itoa(i)
		if x.doc.Kind(n) == rawjson.Object {
			key = x.doc.Key(c)
		}
		if p := of(i, key); p != nil {
			if err := x.fault(p, c); err != nil {
				return at(err, key)
			}
		}
	}
	return nil
}

// complete answers args with the defaults of missing members, and integers
// written as encoding/json reads them.
func (c *Codec) complete(args []byte) []byte {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return args
	}
	x := completion{doc}
	return x.value(make([]byte, 0, len(args)+64), c.plan, doc.Root())
}

type completion struct{ doc *rawjson.Doc }

func (x completion) value(dst []byte, p *plan, n rawjson.Node) []byte {
	switch kind := x.doc.Kind(n); {
	case kind == rawjson.Null:
		return append(dst, "null"...)
	case p.kind == planNullable || p.kind == planOptional:
		return x.value(dst, p.elem, n)
	case p.kind == planStruct && kind == rawjson.Object:
		return x.members(dst, p, n)
	case p.kind == planMap && kind == rawjson.Object, (p.kind == planList || p.kind == planArray || p.kind == planTuple) && kind == rawjson.Array:
		return x.all(dst, p, n)
	case p.kind == planInt && kind == rawjson.Number:
		return appendInteger(dst, x.doc.Raw(n))
	}
	return append(dst, x.doc.Raw(n)...)
}

// all completes what a list or a map holds.
func (x completion) all(dst []byte, p *plan, n rawjson.Node) []byte {
	object := p.kind == planMap
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, c := 0, x.doc.First(n); c != rawjson.None; i, c = i+1, x.doc.Next(c) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if object {
			dst = x.key(dst, c)
		}
		elem := p.elem
		if p.kind == planTuple {
			elem = p.of[min(i, len(p.of)-1)]
		}
		dst = x.value(dst, elem, c)
	}
	return append(dst, brackets[1])
}

func (x completion) members(dst []byte, p *plan, n rawjson.Node) []byte {
	dst = append(dst, '{')
	there := make([]bool, len(p.fields))
	empty := true
	comma := func() {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
	}
	for c := x.doc.First(n); c != rawjson.None; c = x.doc.Next(c) {
		comma()
		dst = x.key(dst, c)
		i := p.field(x.doc.Key(c))
		if i < 0 || p.fields[i].quoted {
			dst = append(dst, x.doc.Raw(c)...)
		} else {
			dst = x.value(dst, p.fields[i].plan, c)
		}
		if i >= 0 {
			there[i] = true
		}
	}
	for i := range p.fields {
		if f := &p.fields[i]; !there[i] && f.rules.value != "" {
			comma()
			dst = append(append(dst, f.key...), f.rules.value...)
		}
	}
	return append(dst, '}')
}

func (x completion) key(dst []byte, c rawjson.Node) []byte {
	dst = append(append(dst, '"'), x.doc.RawKey(c)...)
	return append(dst, '"', ':')
}

// field answers the ordinal of the field with a name, -1 if there is none.
func (p *plan) field(name string) int {
	for i := range p.fields {
		if p.fields[i].name == name {
			return i
		}
	}
	return -1
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

// declaresObject reports whether a schema says literally that its values are
// objects.
func declaresObject(doc []byte) bool {
	parsed, err := rawjson.Parse(doc)
	return err == nil && parsed.IsStr(parsed.Get(parsed.Root(), "type"), "object")
}
