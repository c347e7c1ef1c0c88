package gotype_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

// leafTypes are the types of which random types are made.
func leafTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[json.RawMessage](),
		reflect.TypeFor[json.Number](), reflect.TypeFor[color](), reflect.TypeFor[level](), reflect.TypeFor[tree](), reflect.TypeFor[forest](),
		reflect.TypeFor[page[loc]](), reflect.TypeFor[gotype.Optional[int]](), reflect.TypeFor[gotype.Tuple2[int8, []string]](),
		reflect.TypeFor[gotype.OneOf2[int, string]](), reflect.TypeFor[Deep](), reflect.TypeFor[iban](),
		reflect.TypeFor[surface](),
	}
}

// Deep has embedded structs and all the options of tags.
type Deep struct {
	*Inner
	Sibling  *Inner         `json:"sibling,omitempty"`
	Quoted   int64          `json:"quoted,string"`
	Maybe    *float64       `json:"maybe,omitzero"`
	Dropped  map[string]int `json:"dropped,omitempty"`
	ByNumber map[int16]bool `json:"by_number"`
}

// Inner is embedded in Deep.
type Inner struct {
	A []int `json:"a"`
	B [2]uint8
}

func drawType(t *rapid.T, depth int, options ...string) reflect.Type {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 5).Draw(t, "kind")
	}
	switch kind {
	case 1:
		return reflect.SliceOf(drawType(t, depth-1, options...))
	case 2:
		return reflect.ArrayOf(rapid.IntRange(0, 2).Draw(t, "length"), drawType(t, depth-1, options...))
	case 3:
		return reflect.MapOf(rapid.SampledFrom([]reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[uint8](), reflect.TypeFor[netip.Addr]()}).Draw(t, "key"), drawType(t, depth-1, options...))
	case 4:
		elem := drawType(t, depth-1, options...)
		switch elem { // a null inside is read as a null outside
		case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[gotype.Optional[int]]():
			return elem
		}
		if elem.Kind() == reflect.Pointer {
			return elem
		}
		return reflect.PointerTo(elem)
	case 5:
		return drawStruct(t, depth, options...)
	}
	return rapid.SampledFrom(leafTypes()).Draw(t, "leaf")
}

func drawStruct(t *rapid.T, depth int, options ...string) reflect.Type {
	fields := make([]reflect.StructField, rapid.IntRange(1, 4).Draw(t, "fields"))
	for i := range fields {
		tag := fmt.Sprintf(`json:"%s%s"`, rapid.SampledFrom([]string{"", "m", "air_quality"}).Draw(t, "name"), rapid.SampledFrom(options).Draw(t, "option"))
		fields[i] = reflect.StructField{Name: "F" + string(rune('A'+i)), Type: drawType(t, depth-1, options...), Tag: reflect.StructTag(tag)}
	}
	s := reflect.StructOf(fields)
	if len(reflect.VisibleFields(s)) > 1 {
		if _, err := gotype.For(s, gotype.ForOptions{Unions: surfaces()}); err != nil { // all names collide
			return reflect.TypeFor[loc]()
		}
	}
	return s
}

// drawValue fills v. With nils, whatever can be nil is so at times.
func drawValue(t *rapid.T, v reflect.Value, nils bool, depth int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()))
		return
	case reflect.TypeFor[netip.Addr]():
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "address")})))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(rapid.SampledFrom([]string{`null`, `{"a":[1.50]}`, `"x"`}).Draw(t, "raw")))
		return
	case reflect.TypeFor[json.Number]():
		v.SetString(rapid.SampledFrom([]string{"0", "-1.50", "1e7", "12345678901234567890"}).Draw(t, "number"))
		return
	case reflect.TypeFor[color]():
		v.SetString(rapid.SampledFrom([]string{"red", "green"}).Draw(t, "color"))
		return
	case reflect.TypeFor[level]():
		v.SetInt(rapid.Int64Range(1, 2).Draw(t, "level"))
		return
	case reflect.TypeFor[iban]():
		v.Set(reflect.ValueOf(iban{"DE" + rapid.StringN(0, 3, -1).Draw(t, "iban")}))
		return
	case reflect.TypeFor[gotype.OneOf2[int, string]]():
		member := v.Field(rapid.IntRange(0, 1).Draw(t, "member"))
		member.Set(reflect.New(member.Type().Elem()))
		drawValue(t, member.Elem(), nils, depth-1)
		return
	case reflect.TypeFor[surface]():
		var member surface = &group{}
		if depth < 0 || rapid.Bool().Draw(t, "circle") {
			member = circle{Radius: rapid.Float64().Draw(t, "radius")}
		} else {
			drawValue(t, reflect.ValueOf(member).Elem(), nils, depth-1)
		}
		v.Set(reflect.ValueOf(member))
		return
	case reflect.TypeFor[gotype.Optional[int]]():
		if rapid.Bool().Draw(t, "valid") {
			v.Set(reflect.ValueOf(gotype.Some(rapid.Int().Draw(t, "value"))))
		}
		return
	}
	drawKind(t, v, nils, depth)
}

func drawKind(t *rapid.T, v reflect.Value, nils bool, depth int) {
	switch v.Kind() { //nolint:exhaustive // the kinds of which drawType makes types
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int") >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint") >> (64 - v.Type().Bits()))
	case reflect.Float32:
		v.SetFloat(float64(rapid.Float32().Draw(t, "float")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Pointer:
		if depth < 0 || rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		drawValue(t, v.Elem(), nils, depth-1)
	case reflect.Slice:
		if nils && rapid.Bool().Draw(t, "nil") {
			return
		}
		n := 0
		if depth >= 0 {
			n = rapid.IntRange(0, 2).Draw(t, "length")
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			drawValue(t, v.Index(i), nils, depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			drawValue(t, v.Index(i), nils, depth-1)
		}
	case reflect.Map:
		if nils && rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			drawValue(t, key, nils, 0)
			drawValue(t, elem, nils, depth-1)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() { //nolint:modernize // the field is set
			drawValue(t, v.Field(i), nils, depth-1)
		}
	}
}

// secondOpinion compiles a schema with the second opinion.
func secondOpinion(t *rapid.T, doc []byte) *jsonschema.Schema {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema:", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema:")
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return s
}

// TestRandomValuesFitTheirSchemas states the contract of this package: a value of a
// type is written so that it fits the schema of the type, in the opinion of
// both validators; the text is what encoding/json writes, nil lists and maps
// and the tags of unions aside.
func TestRandomValuesFitTheirSchemas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := drawType(t, 3, "", ",omitempty", ",omitzero", ",string")
		nils := rapid.Bool().Draw(t, "nils")
		ptr := reflect.New(typ)
		drawValue(t, ptr.Elem(), nils, 4)

		c, err := gotype.For(typ, gotype.ForOptions{Name: "f", Unions: surfaces()})
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Append(nil, ptr.Interface())
		if err != nil {
			t.Fatal(err)
		}
		fitsBoth(t, c.Doc(), text)
		if !nils {
			var theirs bytes.Buffer
			e := json.NewEncoder(&theirs)
			e.SetEscapeHTML(false)
			if err := e.Encode(ptr.Interface()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decodedJSON(t, theirs.Bytes()), withoutTags(decodedJSON(t, text))); diff != "" {
				t.Fatalf("%v: encoding/json writes %s, we %s", typ, &theirs, text)
			}
		}
	})
}

// TestRandomArgumentsAreRead: what encoding/json writes of a struct without
// nil lists and maps fits the schema of its arguments and is read back.
func TestRandomArgumentsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := drawStruct(t, 3, "", ",omitempty", ",string") // omitzero does not know an empty list from none
		ptr := reflect.New(typ)
		drawValue(t, ptr.Elem(), false, 4)
		c, err := gotype.For(typ, gotype.ForOptions{Arguments: true, Unions: surfaces()})
		if err != nil {
			t.Fatal(err)
		}
		text := tagged(t, ptr)
		fitsBoth(t, c.Doc(), text)
		again := reflect.New(typ)
		if err := c.Decode(text, again.Interface()); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if back := tagged(t, again); !bytes.Equal(text, back) {
			t.Fatalf("%s became %s", text, back)
		}
	})
}

// TestMutatedBytesAreJudgedAlike: whatever becomes of the text of a value, the
// second opinion finds the same: that it still fits, or that it does not.
func TestMutatedBytesAreJudgedAlike(t *testing.T) {
	kept := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		typ := drawType(t, 3, "", ",omitempty", ",string")
		ptr := reflect.New(typ)
		drawValue(t, ptr.Elem(), false, 4)
		c, err := gotype.For(typ, gotype.ForOptions{Arguments: typ.Kind() == reflect.Struct && rapid.Bool().Draw(t, "arguments"), Unions: surfaces()})
		if err != nil {
			t.Skip(err) // all that is written can be read but for a few
		}
		text := tagged(t, ptr)
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			text = mutated(t, text)
		}
		s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
		if err != nil {
			t.Fatal(err)
		}
		ours := s.Validate(text) == nil
		theirs := false
		if rawjson.Check(text) == nil {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			theirs = secondOpinion(t, c.Doc()).Validate(value) == nil
		}
		if ours != theirs {
			t.Fatalf("%s\nwe say %v, they say %v of %s", c.Doc(), ours, theirs, text)
		}
		kept[ours]++
	})
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("one-sided: %v", kept)
	}
}

// mutated puts another value in the place of one, or changes a byte.
func mutated(t *rapid.T, text []byte) []byte {
	doc, err := rawjson.Parse(text)
	if err != nil || rapid.IntRange(0, 3).Draw(t, "bytes") == 0 {
		text = bytes.Clone(text)
		text[rapid.IntRange(0, len(text)-1).Draw(t, "offset")] = rapid.SampledFrom([]byte(`0a-.",:[]{}\`)).Draw(t, "byte")
		return text
	}
	at := doc.Root()
	for rapid.IntRange(0, 3).Draw(t, "down") > 0 && doc.Len(at) > 0 {
		next := doc.First(at)
		for range rapid.IntRange(0, doc.Len(at)-1).Draw(t, "child") {
			next = doc.Next(next)
		}
		at = next
	}
	old := doc.Raw(at)
	value := rapid.SampledFrom([]string{
		`null`, `true`, `0`, `-1`, `1.0`, `1.5`, `256`, `1e3`, `18446744073709551616`, `""`, `"x"`, `"-1"`, `"red"`,
		`"2026-02-30T00:00:00Z"`, `"10.0.0.1"`, `[]`, `[1]`, `{}`, `{"m":1}`,
	}).Draw(t, "value")
	start := doc.Offset(at)
	return slices.Concat(text[:start], []byte(value), text[start+len(old):])
}

func fitsBoth(t *rapid.T, doc, text []byte) {
	s, err := schema.Compile(doc, schema.Options{AssertFormat: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if !s.Bytes() {
		t.Fatalf("needs the fallback validator: %s", doc)
	}
	if broken := s.Validate(text); broken != nil {
		t.Fatalf("%s\ndoes not fit %s\n%v", text, doc, broken)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := secondOpinion(t, doc).Validate(value); err != nil {
		t.Fatalf("%s\ndoes not fit %s\n%v", text, doc, err)
	}
}

// tagged is what encoding/json writes of a value, or where that would leave out
// the tag of a union, what we do.
func tagged(t *rapid.T, ptr reflect.Value) []byte {
	text, err := json.Marshal(ptr.Interface())
	if err != nil {
		t.Fatal(err)
	}
	c, err := gotype.For(ptr.Type().Elem(), gotype.ForOptions{Unions: surfaces()})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(c.Doc(), []byte(`"kind"`)) {
		return text
	}
	if text, err = c.Append(nil, ptr.Interface()); err != nil {
		t.Fatal(err)
	}
	return text
}

// withoutTags takes the tags of unions out of a decoded value.
func withoutTags(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutTags(v[i])
		}
	case map[string]any:
		delete(v, "kind")
		for name := range v {
			v[name] = withoutTags(v[name])
		}
	}
	return v
}

func decodedJSON(t *rapid.T, text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
