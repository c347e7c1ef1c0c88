package gotype_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

type (
	stamped struct { // written by the methods of the time
		time.Time
		Note string
	}
	restamped struct{ stamped }
	hugely    struct{ *big.Int }
	ownMethod struct { // has a method of its own beside those that it is lent
		time.Time
		Note string
	}
	ownGeneric[T any] struct {
		time.Time
		Note T
	}
	money    struct{ cents int64 }
	priced   struct{ money }
	moneys   []money
	textKey  string
	ptrKey   int
	fullKey  struct{ N int }
	twoFaced struct{ N int } // MarshalJSON goes before MarshalText
)

func (ownMethod) MarshalJSON() ([]byte, error)     { return nothingAtAll() }
func (ownGeneric[T]) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }
func nothingAtAll() ([]byte, error)                { return []byte(`[]`), nil }

func (m *money) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%d.%02d"`, m.cents/100, m.cents%100), nil
}

func (m *money) UnmarshalJSON(text []byte) error {
	var whole int64
	_, err := fmt.Sscanf(string(text), `"%d.%d"`, &whole, &m.cents)
	m.cents += 100 * whole
	return err
}

func (textKey) MarshalText() ([]byte, error) {
	return []byte("not called for a key of a string kind"), nil
}
func (*ptrKey) MarshalText() ([]byte, error)   { return []byte("not called for a key"), nil }
func (k fullKey) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "key %d", k.N), nil }
func (k *fullKey) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "key %d", &k.N)
	return err
}
func (k fullKey) MarshalJSON() ([]byte, error)  { return fmt.Appendf(nil, "%d", k.N), nil }
func (twoFaced) MarshalText() ([]byte, error)   { return []byte("text"), nil }
func (t twoFaced) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%d", t.N), nil }

func foreignTypes() []gotype.TypeSchema {
	return []gotype.TypeSchema{
		gotype.Of[money](`{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"}`),
		gotype.Of[twoFaced](`{"type":"integer"}`),
		gotype.Of[fmt.Stringer](`{"type":["object","string"]}`),
	}
}

const urlSchema = `{"properties":{"Scheme":{"type":"string"},"Opaque":{"type":"string"},"User":{"anyOf":[{"properties":{},"type":"object"},{"type":"null"}]},` +
	`"Host":{"type":"string"},"Path":{"type":"string"},"Fragment":{"type":"string"},"RawQuery":{"type":"string"},"RawPath":{"type":"string"},"RawFragment":{"type":"string"},` +
	`"ForceQuery":{"type":"boolean"},"OmitHost":{"type":"boolean"}},"required":["Scheme","Opaque","User","Host","Path","Fragment","RawQuery","RawPath","RawFragment","ForceQuery","OmitHost"],"type":"object"}`

// TestWhatOthersWrite: types of the standard library and of others are written
// as their methods have it, and their schemas say so.
func TestWhatOthersWrite(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	address, err := url.Parse("https://user:pw@example.org/a?b=c")
	if err != nil {
		t.Fatal(err)
	}
	id := uuid.MustParse("7d444840-9dc0-11d1-b245-5ffdce74fad2")
	const dateTime = `{"format":"date-time","type":"string"}`
	for name, tt := range map[string]struct {
		value        any // a pointer
		schema, json string
	}{
		"any":                          {new(any(map[string]any{"a": []any{1, nil}})), `{}`, `{"a":[1,null]}`},
		"any that is nil":              {new(any), `{}`, `null`},
		"any of a type":                {new(any(loc{Lat: 1})), `{}`, `{"lat":1,"lon":0}`},
		"any of raw JSON":              {new(any(json.RawMessage(`{ }`))), `{}`, `{}`},
		"a map of any":                 {&map[string]any{"a": 1.5, "b": "<"}, `{"additionalProperties":true,"type":"object"}`, `{"a":1.5,"b":"<"}`},
		"a list of any":                {&[]any{1, "a", nil}, `{"items":{},"type":"array"}`, `[1,"a",null]`},
		"any in a struct":              {&struct{ A any }{A: true}, `{"properties":{"A":{}},"required":["A"],"type":"object"}`, `{"A":true}`},
		"a level":                      {new(slog.LevelWarn + 1), `{"examples":["INFO","ERROR+2"],"type":"string"}`, `"WARN+1"`},
		"a URL is a struct":            {address, urlSchema, ""},
		"a UUID":                       {&id, `{"format":"uuid","type":"string"}`, `"7d444840-9dc0-11d1-b245-5ffdce74fad2"`},
		"a UUID or null":               {&uuid.NullUUID{}, `{"anyOf":[{"format":"uuid","type":"string"},{"type":"null"}]}`, `null`},
		"an embedded time":             {&stamped{Time: at, Note: "gone"}, dateTime, `"2026-01-02T03:04:05Z"`},
		"one embedded deeper":          {&restamped{stamped{Time: at}}, dateTime, `"2026-01-02T03:04:05Z"`},
		"one in a type without a name": {&struct{ time.Time }{at}, dateTime, `"2026-01-02T03:04:05Z"`},
		"an embedded pointer":          {&hugely{big.NewInt(7)}, `{"type":"integer"}`, `7`},
		"two methods annul each other": {&struct {
			time.Time
			*big.Int
		}{}, "", ""},
		"a registered type":              {&money{150}, `{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"}`, `"1.50"`},
		"registered, inside":             {&moneys{{1}}, `{"items":{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"},"type":"array"}`, `["0.01"]`},
		"registered, embedded":           {&priced{money{150}}, `{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"}`, `"1.50"`},
		"MarshalJSON before MarshalText": {&twoFaced{3}, `{"type":"integer"}`, `3`},
		"a registered interface":         {new(fmt.Stringer(netip.MustParseAddr("::1"))), `{"type":["object","string"]}`, `"::1"`},
		"a key of a string kind":         {&map[textKey]int{"k": 1}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"k":1}`},
		"methods of a pointer to a key":  {&map[ptrKey]int{5: 1}, `{"additionalProperties":{"type":"integer"},"propertyNames":{"pattern":"^-?[0-9]+$"},"type":"object"}`, `{"5":1}`},
		"a level as a key":               {&map[slog.Level]int{slog.LevelInfo: 1}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"INFO":1}`},
		"a key with both methods":        {&map[fullKey]int{{1}: 1}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"key 1":1}`},
		"a pointer as a key":             {&map[*big.Int]int{big.NewInt(8): 1}, `{"additionalProperties":{"type":"integer"},"type":"object"}`, `{"8":1}`},
		"a key that is an enum":          {&map[level]int{2: 1}, `{"additionalProperties":{"type":"integer"},"propertyNames":{"enum":["1","2"]},"type":"object"}`, `{"2":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			theirs = bytes.ReplaceAll(theirs, []byte(`\u003c`), []byte(`<`))
			if tt.json == "" {
				tt.json = string(theirs)
			}
			if string(theirs) != tt.json {
				t.Errorf("encoding/json writes %s", theirs)
			}
			if tt.schema == "" {
				if _, err := gotype.For(reflect.TypeOf(tt.value).Elem(), gotype.ForOptions{}); err == nil {
					t.Error("has a schema")
				}
				return
			}
			checkWritten(t, tt.value, gotype.ForOptions{NoTitles: true, Types: foreignTypes()}, tt.schema, tt.json)
		})
	}
}

// TestMethodsOfOnesOwnAreNotTaken: a method beside those that are lent says
// something that nobody can tell, and the error says how to tell it.
func TestMethodsOfOnesOwnAreNotTaken(t *testing.T) {
	for _, value := range []any{ownMethod{}, &ownMethod{}, ownGeneric[int]{}, struct{ ownMethod }{}, []twoFaced{}, priced{}} {
		_, err := gotype.For(reflect.TypeOf(value), gotype.ForOptions{})
		if err == nil || !strings.Contains(err.Error(), "register it with gotype.Of in gofunc.Options.Types") {
			t.Errorf("%T: %v", value, err)
		}
	}
	for name, o := range map[string]gotype.ForOptions{
		"does not compile":       {Types: []gotype.TypeSchema{gotype.Of[ownMethod](`{"type":"foo"}`)}},
		"nothing can be read":    {Arguments: true, Types: []gotype.TypeSchema{gotype.Of[fmt.Stringer](`{}`)}},
		"has no place in values": {Refuse: func(reflect.Type) string { return "has no place in values" }},
	} {
		_, err := gotype.For(reflect.TypeFor[struct {
			A ownMethod
			B fmt.Stringer
		}](), o)
		if name == "nothing can be read" {
			_, err = gotype.For(reflect.TypeFor[struct{ B fmt.Stringer }](), o)
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// foreignValue is a random value of one of the types that others wrote.
func foreignValue(t *rapid.T) any {
	second := rapid.Int64Range(0, 4e9).Draw(t, "second")
	at := time.Unix(second, second%999999999).UTC()
	number := rapid.Int64Range(0, 1e6).Draw(t, "number")
	text := rapid.String().Draw(t, "text")
	return rapid.SampledFrom([]any{
		map[string]any{text: number, "b": []any{text, nil, at}},
		[]any{number, text, nil, true},
		struct{ A any }{text},
		struct{ A any }{&number},
		url.URL{Host: text, User: url.User(text)},
		struct{ U *url.URL }{&url.URL{Path: text}},
		slog.Level(number),
		map[slog.Level]string{slog.Level(number): text},
		uuid.NullUUID{UUID: uuid.NewSHA1(uuid.Nil, []byte(text)), Valid: number%2 == 0},
		map[uuid.UUID]any{uuid.NewSHA1(uuid.Nil, []byte(text)): number},
		stamped{Time: at, Note: text},
		[]restamped{{stamped{Time: at}}},
		map[string]hugely{text: {big.NewInt(number)}},
		&money{number}, &moneys{{number}}, &[1]priced{{money{number}}},
		twoFaced{int(number)},
		map[textKey]int{textKey(text): 1},
		map[ptrKey]int{ptrKey(number): 1},
		map[fullKey]any{{int(number)}: text},
		map[time.Time]int{at: 1},
	}).Draw(t, "value")
}

// TestRandomForeignValuesFitTheirSchemas: what encoding/json writes of a value
// fits the schema of its type, in the opinion of both validators, and is what
// is written here.
func TestRandomForeignValuesFitTheirSchemas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := foreignValue(t)
		ptr := reflect.New(reflect.TypeOf(value))
		ptr.Elem().Set(reflect.ValueOf(value))
		c, err := gotype.For(ptr.Type().Elem(), gotype.ForOptions{Types: foreignTypes()})
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := json.Marshal(ptr.Interface())
		if err != nil {
			t.Fatal(err)
		}
		fitsBoth(t, c.Doc(), theirs)
		ours, err := c.Append(nil, ptr.Interface())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decodedJSON(t, theirs), decodedJSON(t, ours)); diff != "" {
			t.Fatalf("%T: encoding/json writes %s, we %s", value, theirs, ours)
		}
	})
}

// TestArgumentsOfForeignTypes: what fits the schema is read as encoding/json
// reads it.
func TestArgumentsOfForeignTypes(t *testing.T) {
	type arguments struct {
		Any     any                `json:"any"`
		Map     map[string]any     `json:"map"`
		Level   slog.Level         `json:"level"`
		ID      uuid.NullUUID      `json:"id"`
		Price   money              `json:"price"`
		When    stamped            `json:"when"`
		ByLevel map[slog.Level]any `json:"by_level"`
		ByKey   map[fullKey]int    `json:"by_key"`
	}
	c, err := gotype.For(reflect.TypeFor[arguments](), gotype.ForOptions{Arguments: true, Types: foreignTypes()})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"any":[1,{"a":null}],"map":{"b":"c"},"level":"ERROR+2","id":"7d444840-9dc0-11d1-b245-5ffdce74fad2","price":"3.07",` +
		`"when":"2026-01-02T03:04:05Z","by_level":{"INFO":1},"by_key":{"key 4":4}}`)
	s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
	if err != nil {
		t.Fatal(err)
	}
	if found := s.Validate(text); found != nil {
		t.Fatalf("%v", found)
	}
	var ours, theirs arguments
	if err := c.Decode(text, &ours); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("read as %v, encoding/json reads %v", ours, theirs)
	}
}

func TestNumbersBeyondADouble(t *testing.T) {
	c, err := gotype.For(reflect.TypeFor[json.Number](), gotype.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[json.Number]string{
		"1e400": "the json.Number 1e400 is beyond the range of a double, which most JSON parsers use",
		"1e":    `the json.Number "1e" is not a number`,
	} {
		if _, err := c.Append(nil, &number); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
