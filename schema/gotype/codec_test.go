package gotype_test

import (
	"encoding/json"
	"iter"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

type (
	loc struct {
		Lat float64 `json:"lat"`
		Lon float64 `json:"lon"`
	}
	base struct {
		ID   int `json:"id"`
		Name string
	}
	other struct {
		Name string
		More bool `json:"more,omitempty"`
	}
	color       string
	page[T any] struct {
		Items []T `json:"items"`
	}
	tree struct {
		Value int     `json:"value"`
		Kids  []*tree `json:"kids"`
	}
	forest  []forest
	maybes  []gotype.Optional[maybes]
	celsius float64
	flags   int // has a String method, but is written as a number
	iban    struct{ code string }
	secret  struct{ hidden int }
	opaque  struct{ N int }
	byPtr   struct{ s string }
	level   int
)

func (color) EnumValues() []color { return []color{"red", "green"} }
func (level) EnumValues() []level { return []level{1, 2} }
func (flags) String() string      { return "flags" }

func (i iban) MarshalJSON() ([]byte, error)     { return json.Marshal(i.code) }
func (i *iban) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &i.code) }
func (iban) JSONSchema() []byte {
	return []byte(`{"$ref":"#/$defs/loc","$defs":{"loc":{"type":"string","pattern":"^[A-Z]{2}"}}}`)
}

func (opaque) MarshalJSON() ([]byte, error)   { return []byte(`1`), nil }
func (b *byPtr) MarshalText() ([]byte, error) { return []byte("<" + b.s + ">"), nil }

type surface interface{ area() float64 }

type circle struct {
	Radius float64 `json:"radius"`
}

type group struct {
	Surfaces []surface `json:"surfaces"`
}

func (circle) area() float64 { return 1 }
func (*group) area() float64 { return 2 }

func surfaces() []gotype.Union {
	return []gotype.Union{gotype.UnionOf("kind", map[string]surface{"circle": circle{}, "group": &group{}})}
}

// checkWritten writes v, compares schema and text, and makes sure that they fit.
func checkWritten(t *testing.T, ptr any, o gotype.ForOptions, wantSchema, wantJSON string) {
	t.Helper()
	c, err := gotype.For(reflect.TypeOf(ptr).Elem(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantSchema, string(c.Doc())); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	text, err := c.Append(nil, ptr)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantJSON, string(text)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
	if err != nil {
		t.Fatal(err)
	}
	if broken := s.Validate(text); broken != nil {
		t.Errorf("does not fit its schema: %v", broken)
	}
}

func TestWhatIsWritten(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	seven := 7
	name := "x"
	for name, tt := range map[string]struct {
		value        any // a pointer
		schema, json string
	}{
		"a defined scalar is what it is made of":  {new(celsius(1.5)), `{"type":"number"}`, `1.5`},
		"a number with a String method":           {new(flags(3)), `{"type":"integer"}`, `3`},
		"a sized integer has bounds":              {new(int8(-3)), `{"maximum":127,"minimum":-128,"type":"integer"}`, `-3`},
		"the widest integer is exact":             {new(int64(9007199254740993)), `{"maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"}`, `9007199254740993`},
		"the widest unsigned integer":             {new(uint64(math.MaxUint64)), `{"maximum":18446744073709551615,"minimum":0,"type":"integer"}`, `18446744073709551615`},
		"a big integer":                           {big.NewInt(0).Lsh(big.NewInt(1), 100), `{"type":"integer"}`, `1267650600228229401496703205376`},
		"a small float":                           {new(1e-9), `{"type":"number"}`, `1e-9`},
		"a short float":                           {new(float32(0.1)), `{"type":"number"}`, `0.1`},
		"a string is not escaped for HTML":        {new("<a&b>\xff"), `{"type":"string"}`, "\"<a&b>\uFFFD\""},
		"bytes are base64":                        {new([]byte("hi")), `{"contentEncoding":"base64","type":"string"}`, `"aGk="`},
		"nil bytes are an empty string":           {new([]byte), `{"contentEncoding":"base64","type":"string"}`, `""`},
		"an array of bytes is a list of numbers":  {new([2]byte{1, 2}), `{"items":{"maximum":255,"minimum":0,"type":"integer"},"maxItems":2,"minItems":2,"type":"array"}`, `[1,2]`},
		"a nil slice is an empty list":            {new([]string), `{"items":{"type":"string"},"type":"array"}`, `[]`},
		"a nil map is an empty object":            {new(map[string]int), `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{}`},
		"keys are sorted":                         {&map[string]int{"b": 1, "a": 2}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"a":2,"b":1}`},
		"keys that are integers":                  {&map[int]bool{-2: true}, `{"additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^-?[0-9]+$"},"type":"object"}`, `{"-2":true}`},
		"keys with text methods":                  {&map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"::1":1}`},
		"keys of an enum":                         {&map[color]int{"red": 1}, `{"additionalProperties":{"type":"integer"},"propertyNames":{"enum":["red","green"]},"type":"object"}`, `{"red":1}`},
		"a time":                                  {&at, `{"format":"date-time","type":"string"}`, `"2026-01-02T03:04:05.0000006+01:00"`},
		"the zero time":                           {new(time.Time), `{"format":"date-time","type":"string"}`, `"0001-01-01T00:00:00Z"`},
		"a duration":                              {new(time.Second), `{"description":"In nanoseconds.","type":"integer"}`, `1000000000`},
		"a json.Number":                           {new(json.Number("1.10")), `{"type":"number"}`, `1.10`},
		"an empty json.Number":                    {new(json.Number), `{"type":"number"}`, `0`},
		"raw JSON":                                {new(json.RawMessage(`{ "a": 1 }`)), `{}`, `{"a":1}`},
		"nil raw JSON":                            {new(json.RawMessage), `{}`, `null`},
		"a type with text methods":                {new(netip.MustParseAddr("10.0.0.1")), `{"type":"string"}`, `"10.0.0.1"`},
		"text methods of a pointer, inside a map": {&map[string]byPtr{"a": {"x"}}, `{"additionalProperties":{"type":"string"},"type":"object"}`, `{"a":"<x>"}`},
		"a pointer":                               {new(&seven), `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `7`},
		"a nil pointer":                           {new(*int), `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `null`},
		"an Optional":                             {new(gotype.Some("a")), `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `"a"`},
		"a OneOf2":                                {&gotype.OneOf2[int, string]{B: &name}, `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"x"`},
		"a OneOf3":                                {&gotype.OneOf3[bool, int, string]{B: &seven}, `{"anyOf":[{"type":"boolean"},{"type":"integer"},{"type":"string"}]}`, `7`},
		"a Tuple2":                                {&gotype.Tuple2[int, string]{A: 1, B: "a"}, `{"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"string"}],"type":"array"}`, `[1,"a"]`},
		"a Tuple3":                                {&gotype.Tuple3[int, string, []int]{A: 1}, `{"maxItems":3,"minItems":3,"prefixItems":[{"type":"integer"},{"type":"string"},{"items":{"type":"integer"},"type":"array"}],"type":"array"}`, `[1,"",[]]`},
		"a JSON":                                  {&gotype.JSON[[]int]{Raw: []byte(`[ 1 ]`)}, `{"items":{"type":"integer"},"type":"array"}`, `[ 1 ]`},
		"an iterator is collected":                {new(slices.Values([]int{1, 2})), `{"items":{"type":"integer"},"type":"array"}`, `[1,2]`},
		"a nil iterator":                          {new(iter.Seq[int]), `{"items":{"type":"integer"},"type":"array"}`, `[]`},
		"a defined enum":                          {new(color("green")), `{"enum":["red","green"],"type":"string"}`, `"green"`},
		"nothing":                                 {new(struct{}), `{"type":"null"}`, `null`},
		"a type that contains itself through a generic one": {&gotype.Optional[maybes]{}, `{"$defs":{"maybes":{"items":{"anyOf":[{"$ref":"#/$defs/maybes"},{"type":"null"}]},"type":"array"}},"anyOf":[{"$ref":"#/$defs/maybes"},{"type":"null"}]}`, `null`},
		"a recursive list": {&forest{{}, {{}}}, `{"$defs":{"forest":{"items":{"$ref":"#/$defs/forest"},"type":"array"}},"items":{"$ref":"#/$defs/forest"},"type":"array"}`, `[[],[[]]]`},
	} {
		t.Run(name, func(t *testing.T) { checkWritten(t, tt.value, gotype.ForOptions{NoTitles: true}, tt.schema, tt.json) })
	}
}

func TestStructsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	one := 1
	for name, tt := range map[string]struct {
		value        any
		schema, json string
		differs      bool // from encoding/json
	}{
		"members stand in the order of the fields, unexported ones do not": {
			&struct {
				B      int `json:"b"`
				hidden int
				A      string
				Gone   int `json:"-"`
				Dash   int `json:"-,"` //nolint:staticcheck // that is what is tested
			}{B: 1, hidden: 2}, `{"properties":{"b":{"type":"integer"},"A":{"type":"string"},"-":{"type":"integer"}},"required":["b","A","-"],"type":"object"}`,
			`{"b":1,"A":"","-":0}`, false,
		},
		"what can be dropped is not required": {
			&struct {
				A *int      `json:"a"`
				B *int      `json:"b,omitempty"`
				C string    `json:"c,omitempty"`
				D time.Time `json:"d,omitempty"` //nolint:modernize // that is what is tested
				E time.Time `json:"e,omitzero"`
				F loc       `json:"f,omitzero"`
				G []int     `json:"g,omitempty"`
				H [1]int    `json:"h,omitempty"`
				I **int     `json:"i,omitempty"`
			}{I: new(*int)},
			`{"$defs":{"loc":{"properties":{"lat":{"type":"number"},"lon":{"type":"number"}},"required":["lat","lon"],"type":"object"}},` +
				`"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]},"b":{"type":"integer"},"c":{"type":"string"},` +
				`"d":{"format":"date-time","type":"string"},"e":{"format":"date-time","type":"string"},"f":{"$ref":"#/$defs/loc"},` +
				`"g":{"items":{"type":"integer"},"type":"array"},"h":{"items":{"type":"integer"},"maxItems":1,"minItems":1,"type":"array"},` +
				`"i":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["a","d","h"],"type":"object"}`,
			`{"a":null,"d":"0001-01-01T00:00:00Z","h":[0],"i":null}`, false,
		},
		"embedded structs are part of the struct, the least deep name wins": {
			&struct {
				base
				*other
				Name string
			}{base: base{ID: 1}, Name: "n"},
			`{"properties":{"id":{"type":"integer"},"more":{"type":"boolean"},"Name":{"type":"string"}},"required":["id","Name"],"type":"object"}`,
			`{"id":1,"Name":"n"}`, false,
		},
		"names that collide are gone": {
			&struct {
				base
				other
			}{}, `{"properties":{"id":{"type":"integer"},"more":{"type":"boolean"}},"required":["id"],"type":"object"}`, `{"id":0}`, false,
		},
		"an embedded struct with a name is a member": {
			&struct {
				base `json:"inner"`
			}{}, `{"$defs":{"base":{"properties":{"id":{"type":"integer"},"Name":{"type":"string"}},"required":["id","Name"],"type":"object"}},` +
				`"properties":{"inner":{"$ref":"#/$defs/base"}},"required":["inner"],"type":"object"}`, `{"inner":{"id":0,"Name":""}}`, false,
		},
		"numbers in strings": {
			&struct {
				I int      `json:"i,string"`
				F float64  `json:"f,string"`
				B bool     `json:"b,string"`
				S string   `json:"s,string"`
				P *int     `json:"p,string"`
				L []string `json:"l,string"` //nolint:staticcheck // that is what is tested
			}{I: -1, F: 1e21, S: `a"`, P: &one, L: []string{"x"}},
			`{"properties":{"i":{"pattern":"^-?(0|[1-9][0-9]*)$","type":"string"},"f":{"pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$","type":"string"},` +
				`"b":{"enum":["true","false"],"type":"string"},"s":{"type":"string"},"p":{"anyOf":[{"pattern":"^-?(0|[1-9][0-9]*)$","type":"string"},{"type":"null"}]},` +
				`"l":{"items":{"type":"string"},"type":"array"}},"required":["i","f","b","s","p","l"],"type":"object"}`,
			`{"i":"-1","f":"1e+21","b":"false","s":"\"a\\\"\"","p":"1","l":["x"]}`, false,
		},
		"nil slices and maps inside are empty": {
			&page[[]map[string]int]{Items: [][]map[string]int{nil, {nil}}},
			`{"properties":{"items":{"items":{"items":{"additionalProperties":{"type":"integer"},"type":"object"},"type":"array"},"type":"array"}},"required":["items"],"type":"object"}`,
			`{"items":[[],[{}]]}`, true,
		},
		"a time as a key is still a time elsewhere": {
			&struct {
				A map[time.Time]int
				B time.Time
			}{A: map[time.Time]int{time.Unix(0, 0).UTC(): 1}},
			`{"properties":{"A":{"additionalProperties":{"type":"integer"},"type":"object"},"B":{"format":"date-time","type":"string"}},"required":["A","B"],"type":"object"}`,
			`{"A":{"1970-01-01T00:00:00Z":1},"B":"0001-01-01T00:00:00Z"}`, false,
		},
		"generic, recursive and enumerated types are definitions": {
			&struct {
				P page[loc] `json:"p"`
				T tree      `json:"t"`
				C color     `json:"c"`
				L level     `json:"l"`
				M *loc      `json:"m"`
			}{T: tree{Value: 1, Kids: []*tree{{Kids: []*tree{}}}}, P: page[loc]{Items: []loc{}}, C: "red", L: 2},
			`{"$defs":{"color":{"enum":["red","green"],"type":"string"},"level":{"enum":[1,2],"type":"integer"},` +
				`"loc":{"properties":{"lat":{"type":"number"},"lon":{"type":"number"}},"required":["lat","lon"],"type":"object"},` +
				`"page_loc":{"properties":{"items":{"items":{"$ref":"#/$defs/loc"},"type":"array"}},"required":["items"],"type":"object"},` +
				`"tree":{"properties":{"value":{"type":"integer"},"kids":{"items":{"anyOf":[{"$ref":"#/$defs/tree"},{"type":"null"}]},"type":"array"}},"required":["value","kids"],"type":"object"}},` +
				`"properties":{"p":{"$ref":"#/$defs/page_loc"},"t":{"$ref":"#/$defs/tree"},"c":{"$ref":"#/$defs/color"},"l":{"$ref":"#/$defs/level"},` +
				`"m":{"anyOf":[{"$ref":"#/$defs/loc"},{"type":"null"}]}},"required":["p","t","c","l","m"],"type":"object"}`,
			`{"p":{"items":[]},"t":{"value":1,"kids":[{"value":0,"kids":[]}]},"c":"red","l":2,"m":null}`, false,
		},
		"a type that knows its schema, whose definitions have names of their own": {
			&struct {
				I iban `json:"i" doc:"Where the money goes."`
				L loc  `json:"l"`
			}{I: iban{"DE02"}},
			`{"$defs":{"loc":{"type":"string","pattern":"^[A-Z]{2}"},"loc_2":{"properties":{"lat":{"type":"number"},"lon":{"type":"number"}},"required":["lat","lon"],"type":"object"}},` +
				`"properties":{"i":{"$ref":"#/$defs/loc","description":"Where the money goes."},"l":{"$ref":"#/$defs/loc_2"}},"required":["i","l"],"type":"object"}`,
			`{"i":"DE02","l":{"lat":0,"lon":0}}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkWritten(t, tt.value, gotype.ForOptions{NoTitles: true}, tt.schema, tt.json)
			theirs, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if (string(theirs) == tt.json) == tt.differs {
				t.Errorf("encoding/json writes %s", theirs)
			}
		})
	}
}

func TestUnionsCarryATag(t *testing.T) {
	var value surface = &group{Surfaces: []surface{circle{Radius: 1}, &circle{}}}
	checkWritten(t, &value, gotype.ForOptions{Unions: surfaces()},
		`{"$defs":{"surface":{"anyOf":[`+
			`{"properties":{"kind":{"const":"circle","title":"Kind","type":"string"},"radius":{"title":"Radius","type":"number"}},"required":["kind","radius"],"title":"circle","type":"object"},`+
			`{"properties":{"kind":{"const":"group","title":"Kind","type":"string"},"surfaces":{"items":{"$ref":"#/$defs/surface"},"title":"Surfaces","type":"array"}},"required":["kind","surfaces"],"title":"group","type":"object"}],"title":"surface"}},`+
			`"anyOf":[`+
			`{"properties":{"kind":{"const":"circle","title":"Kind","type":"string"},"radius":{"title":"Radius","type":"number"}},"required":["kind","radius"],"title":"circle","type":"object"},`+
			`{"properties":{"kind":{"const":"group","title":"Kind","type":"string"},"surfaces":{"items":{"$ref":"#/$defs/surface"},"title":"Surfaces","type":"array"}},"required":["kind","surfaces"],"title":"group","type":"object"}]}`,
		`{"kind":"group","surfaces":[{"kind":"circle","radius":1},{"kind":"circle","radius":0}]}`)
}

func TestTagsBecomeKeywords(t *testing.T) {
	type tagged struct {
		Text   string            `json:"text" doc:"A text." check:"min=1,max=20,format=email,example=a@b.example"`
		Code   string            `json:"code" check:"pattern=^[a-z]{1,3}$"`
		Ratio  *float64          `json:"ratio" doc:"May be missing." check:"above=0,below=1,example=0.5"`
		Count  int               `json:"count" jsonschema:"How many = all of them." check:"min=-1,max=5,multiple=2"`
		Tags   []string          `json:"tags" check:"min=1,max=3,unique,each.max=5,each.enum=a|b"`
		Counts map[string]int    `json:"counts" check:"max=2,each.min=0"`
		Choice string            `json:"airQuality" check:"enum=a\\,b|c"`
		Wait   time.Duration     `json:"wait" doc:"How long."`
		Where  loc               `json:"HTTPServer" doc:"Where."`
		Opt    map[string]string `json:"opt,omitempty" check:"required"`
	}
	c, err := gotype.For(reflect.TypeFor[tagged](), gotype.ForOptions{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$defs":{"loc":{"properties":{"lat":{"title":"Lat","type":"number"},"lon":{"title":"Lon","type":"number"}},"required":["lat","lon"],"title":"loc","type":"object"}},` +
		`"properties":{"text":{"description":"A text.","examples":["a@b.example"],"format":"email","maxLength":20,"minLength":1,"title":"Text","type":"string"},` +
		`"code":{"pattern":"^[a-z]{1,3}$","title":"Code","type":"string"},` +
		`"ratio":{"anyOf":[{"exclusiveMaximum":1,"exclusiveMinimum":0,"type":"number"},{"type":"null"}],"description":"May be missing.","examples":[0.5],"title":"Ratio"},` +
		`"count":{"description":"How many = all of them.","maximum":5,"minimum":-1,"multipleOf":2,"title":"Count","type":"integer"},` +
		`"tags":{"items":{"enum":["a","b"],"maxLength":5,"type":"string"},"maxItems":3,"minItems":1,"title":"Tags","type":"array","uniqueItems":true},` +
		`"counts":{"additionalProperties":{"minimum":0,"type":"integer"},"maxProperties":2,"title":"Counts","type":"object"},` +
		`"airQuality":{"enum":["a,b","c"],"title":"Air Quality","type":"string"},` +
		`"wait":{"description":"How long. In nanoseconds.","title":"Wait","type":"integer"},` +
		`"HTTPServer":{"$ref":"#/$defs/loc","description":"Where."},` +
		`"opt":{"additionalProperties":{"type":"string"},"title":"Opt","type":"object"}},` +
		`"required":["text","code","ratio","count","tags","counts","airQuality","wait","HTTPServer","opt"],"title":"tagged","type":"object"}`
	if diff := cmp.Diff(want, string(c.Doc())); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestTypesWithoutASchemaAreNamed(t *testing.T) {
	type station struct {
		Readings []struct{ Value chan int }
	}
	type sneaky struct{ *base }
	for name, tt := range map[string]struct {
		value     any
		arguments bool
		want      string
	}{
		"a channel inside":             {station{}, false, "gotype_test.station.Readings[].Value: a chan has no JSON"},
		"a function":                   {func() {}, false, "func(): a function has no JSON"},
		"a complex number":             {map[string]complex64{}, false, "map[string]complex64[]: a complex64 has no JSON"},
		"no exported fields":           {secret{1}, false, "gotype_test.secret: no exported fields, so nothing of it would be written"},
		"an interface":                 {struct{ A surface }{}, false, "struct { A gotype_test.surface }.A: gotype_test.surface is an interface with methods, so its JSON is unknown: register its types with gotype.UnionOf in gofunc.Options.Unions, or its schema with gotype.Of in gofunc.Options.Types"},
		"a method for JSON":            {[]opaque{}, false, "[]gotype_test.opaque[]: a method MarshalJSON hides what its JSON is: register it with gotype.Of in gofunc.Options.Types, or give gotype_test.opaque a method JSONSchema, see gotype.Provider"},
		"an embedded method for JSON":  {struct{ opaque }{}, false, "struct { gotype_test.opaque }: is written by the methods of gotype_test.opaque, which it embeds: gotype_test.opaque: a method MarshalJSON hides what its JSON is: register it with gotype.Of in gofunc.Options.Types, or give gotype_test.opaque a method JSONSchema, see gotype.Provider"},
		"a key":                        {map[loc]int{}, false, "map[gotype_test.loc]int: a key of gotype_test.loc has no JSON"},
		"arguments that are no object": {1, true, "int: arguments are an object: use a struct, or a map with string keys"},
		"an interface as an argument":  {struct{ S surface }{}, true, "struct { S gotype_test.surface }.S: gotype_test.surface is an interface with methods, so its JSON is unknown: register its types with gotype.UnionOf in gofunc.Options.Unions, or its schema with gotype.Of in gofunc.Options.Types"},
		"a field that cannot be set":   {sneaky{}, true, "gotype_test.sneaky.ID: is in an embedded pointer to an unexported struct, which cannot be set"},
		"a word that does not exist": {struct {
			A int `check:"mim=1"`
		}{}, false, "struct { A int \"check:\\\"mim=1\\\"\" }.A: check \"mim=1\": there is no such constraint for int"},
		"an invalid number": {struct {
			A int `check:"min=x"`
		}{}, false, "struct { A int \"check:\\\"min=x\\\"\" }.A: check \"min=x\": needs a number"},
		"a default that does not fit": {struct {
			A int `check:"min=1,default=0"`
		}{}, true, "struct { A int \"check:\\\"min=1,default=0\\\"\" }.A: 0 in the tag check is not valid: expected at least 1"},
		"an example of another type": {struct {
			A bool `check:"example=yes"`
		}{}, false, "struct { A bool \"check:\\\"example=yes\\\"\" }.A: yes in the tag check is not JSON: offset 0: expected a value"},
		"constraints in the foreign tag": {struct {
			A int `jsonschema:"minimum=1"`
		}{}, false, "struct { A int \"jsonschema:\\\"minimum=1\\\"\" }.A: the tag jsonschema is a description here, but begins with \"minimum=\": put constraints into the tag check"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gotype.For(reflect.TypeOf(tt.value), gotype.ForOptions{Arguments: tt.arguments})
			if err == nil {
				t.Fatal("has a schema")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestValuesWithoutJSONAreNamed(t *testing.T) {
	self := &tree{}
	self.Kids = []*tree{self}
	three := 3
	for name, tt := range map[string]struct {
		value any
		want  string
	}{
		"not a number":                  {&page[map[string]float64]{Items: []map[string]float64{{}, {"a.b": math.NaN()}}}, "items.1.a.b: NaN is not a number that JSON has"},
		"infinity":                      {new(math.Inf(-1)), "-Inf is not a number that JSON has"},
		"an invalid json.Number":        {new(json.Number("1 2")), `the json.Number "1 2" is not a number`},
		"raw JSON that would break out": {&page[json.RawMessage]{Items: []json.RawMessage{[]byte(`1},"x":{`)}}, "items.0: not JSON: offset 1: something follows the value"},
		"a wrapped JSON that would too": {&page[gotype.JSON[int]]{Items: []gotype.JSON[int]{{Raw: []byte(`1,2`)}}}, "items.0: not JSON: offset 1: something follows the value"},
		"a time beyond RFC 3339":        {new(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), "a time that RFC 3339 cannot represent: Time.MarshalText: year outside of range [0,9999]"},
		"nothing in a OneOf":            {&gotype.OneOf2[int, bool]{}, "exactly one member of a OneOf must be set"},
		"two in a OneOf":                {&gotype.OneOf2[int, int]{A: &three, B: &three}, "exactly one member of a OneOf must be set"},
		"keys with the same text":       {&map[oneKey]int{1: 1, 2: 2}, "same: two keys of the map have this text"},
		"nil in a union":                {new(surface), "nil where a gotype_test.surface is required"},
		"a stranger in a union":         {new(surface(stranger{})), "gotype_test.stranger is not registered for the union of gotype_test.surface"},
		"a value that contains itself":  {self, "…nested more than 1000 deep; does the value contain itself?"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := gotype.For(reflect.TypeOf(tt.value).Elem(), gotype.ForOptions{Unions: surfaces()})
			if err != nil {
				t.Fatal(err)
			}
			text, err := c.Append([]byte("kept"), tt.value)
			if err == nil {
				t.Fatalf("written as %s", text)
			}
			got := err.Error()
			if end, ok := strings.CutPrefix(tt.want, "…"); ok && strings.HasSuffix(got, end) {
				got = tt.want
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || string(text) != "kept" {
				t.Errorf("(-want +got), with %q before it:\n%s", text, diff)
			}
		})
	}
}

type oneKey int

func (oneKey) MarshalText() ([]byte, error) { return []byte("same"), nil }

type stranger struct{}

func (stranger) area() float64 { return 0 }

func TestDeepValues(t *testing.T) {
	deepest := &tree{}
	for range 450 {
		deepest = &tree{Kids: []*tree{deepest}}
	}
	c, err := gotype.For(reflect.TypeFor[tree](), gotype.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Append(nil, deepest); err != nil {
		t.Errorf("901 lists and objects: %v", err)
	}
	type itself *itself
	var p itself
	p = &p
	if c, err = gotype.For(reflect.TypeFor[struct{ P itself }](), gotype.ForOptions{}); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Append(nil, &struct{ P itself }{p}); err == nil {
		t.Errorf("a pointer to itself is written as %s", text)
	}
}

func TestObjectsAreTold(t *testing.T) {
	for name, tt := range map[string]struct {
		value any
		want  bool
	}{
		"a struct":                   {loc{}, true},
		"an anonymous struct":        {struct{ A int }{}, true},
		"JSON of a struct":           {gotype.JSON[loc]{}, true},
		"a map with string keys":     {map[color]int{}, true},
		"a map with text keys":       {map[netip.Addr]int{}, true},
		"a map with keys of numbers": {map[int]int{}, false},
		"a pointer":                  {&loc{}, false},
		"a list":                     {[]loc{}, false},
		"a provided schema":          {iban{}, false},
		"a union of structs":         {gotype.OneOf2[loc, base]{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := gotype.For(reflect.TypeOf(tt.value), gotype.ForOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.IsObject(); got != tt.want {
				t.Errorf("is an object: %v", got)
			}
		})
	}
}

// documented brings descriptions; a type that embeds it does not, of itself.
type documented struct {
	A int `json:"a"`
	B int `json:"b" doc:"The tag goes first."`
}

func (documented) DocComments() gotype.Docs[documented] {
	return gotype.Docs[documented]{"": "Documented by a comment.", "A": "The first.", "B": "Not seen."}
}

func TestTypesBringDescriptions(t *testing.T) {
	body := `"properties":{"a":{"description":"The first.","type":"integer"},"b":{"description":"The tag goes first.","type":"integer"}},"required":["a","b"]`
	checkWritten(t, new(documented), gotype.ForOptions{NoTitles: true}, `{"description":"Documented by a comment.",`+body+`,"type":"object"}`, `{"a":0,"b":0}`)
	checkWritten(t, &struct {
		documented
		Inner documented  `json:"inner" doc:"Inside."`
		Maybe *documented `json:"maybe"`
	}{}, gotype.ForOptions{NoTitles: true},
		`{"$defs":{"documented":{"description":"Documented by a comment.",`+body+`,"type":"object"}},`+
			strings.TrimSuffix(body, `},"required":["a","b"]`)+`,"inner":{"$ref":"#/$defs/documented","description":"Inside."},`+
			`"maybe":{"anyOf":[{"$ref":"#/$defs/documented"},{"type":"null"}]}},"required":["a","b","inner","maybe"],"type":"object"}`,
		`{"a":0,"b":0,"inner":{"a":0,"b":0},"maybe":null}`)
	c, err := gotype.For(reflect.TypeFor[documented](), gotype.ForOptions{NoTitles: true, Arguments: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"additionalProperties":false,`+body+`,"type":"object"}`, string(c.Doc())); diff != "" {
		t.Errorf("as arguments (-want +got):\n%s", diff)
	}
}
