package gotype_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

// search is what an argument can be.
type search struct {
	City   string                              `json:"city"`
	Days   int                                 `json:"days" doc:"How many days" check:"min=1,max=14,default=3"`
	Unit   string                              `json:"unit" check:"enum=c|f,default=c"`
	Where  *loc                                `json:"where"`
	Tags   []string                            `json:"tags" check:"default=[]"`
	Exact  int64                               `json:"exact,omitempty"`
	Small  int8                                `json:"small,omitempty"`
	Wide   uint                                `json:"wide,omitempty"`
	Legs   []leg                               `json:"legs,omitempty"`
	ByName map[string]*leg                     `json:"by_name,omitempty"`
	Pair   *gotype.Tuple2[int, leg]            `json:"pair"`
	Either *gotype.OneOf2[leg, map[string]int] `json:"either"`
	Since  time.Time                           `json:"since,omitzero"`
	Hosts  []netip.Addr                        `json:"hosts,omitempty"`
	Text   string                              `json:"text,string,omitempty"`
}

type leg struct {
	From  string `json:"from"`
	Class int    `json:"class" check:"default=2"`
}

func reader(t testing.TB) (*gotype.Codec, *schema.Schema) {
	t.Helper()
	c, err := gotype.For(reflect.TypeFor[search](), gotype.ForOptions{Arguments: true, Name: "search"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestArgumentsAreReadIntoTheType(t *testing.T) {
	c, s := reader(t)
	for name, tt := range map[string]struct{ args, want string }{
		"missing members get their defaults":      {`{"city":"x"}`, `{"days":3,"unit":"c","tags":[]}`},
		"what is given wins":                      {`{"city":"x","days":1,"unit":"f","tags":["a"]}`, `{"days":1,"unit":"f","tags":["a"]}`},
		"defaults deep inside":                    {`{"city":"x","legs":[{"from":"a"},{"from":"b","class":1}],"by_name":{"n":{"from":"c"},"nil":null}}`, `{"days":3,"unit":"c","tags":[],"legs":[{"from":"a","class":2},{"from":"b","class":1}],"by_name":{"n":{"from":"c","class":2},"nil":null}}`},
		"defaults in a tuple":                     {`{"city":"x","pair":[1.0,{"from":"a"}]}`, `{"days":3,"unit":"c","tags":[],"pair":[1,{"from":"a","class":2}]}`},
		"the member of a OneOf whose schema fits": {`{"city":"x","either":{"from":"a"}}`, `{"days":3,"unit":"c","tags":[],"either":{"from":"a","class":2}}`},
		"and the other one":                       {`{"city":"x","either":{"from":1}}`, `{"days":3,"unit":"c","tags":[],"either":{"from":1}}`},
		"integers beyond a double are exact":      {`{"city":"x","exact":9007199254740993}`, `{"days":3,"unit":"c","tags":[],"exact":9007199254740993}`},
		"integers however they are written":       {`{"city":"x","days":2.0,"exact":-12e2,"small":0.1e1}`, `{"days":2,"unit":"c","tags":[],"exact":-1200,"small":1}`},
		"null where it is allowed":                {`{"city":"x","where":null}`, `{"days":3,"unit":"c","tags":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if broken := s.Validate([]byte(tt.args)); broken != nil {
				t.Fatalf("does not fit: %v", broken)
			}
			var got, want search
			if err := c.Decode([]byte(tt.args), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			want.City = "x"
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestArgumentsThatDoNotFitTheType(t *testing.T) {
	c, s := reader(t)
	for name, args := range map[string]string{
		"an unknown member":               `{"city":"x","cty":"y"}`,
		"the same in another case":        `{"City":"x"}`,
		"an unknown member deep inside":   `{"city":"x","legs":[{"from":"a","to":"b"}]}`,
		"a number that is too large":      `{"city":"x","small":128}`,
		"a number that is not an integer": `{"city":"x","exact":1.5}`,
		"null where nothing may be null":  `{"city":null}`,
		"an invalid time":                 `{"city":"x","since":"today"}`,
		"something that is not listed":    `{"city":"x","unit":"k"}`,
	} {
		if s.Validate([]byte(args)) == nil {
			t.Errorf("%s: %s fits", name, args)
		}
	}
	for args, want := range map[string]string{
		`{"city":"x","wide":1e30}`:                                                   "wide: number 1000000000000000000000000000000 cannot be held by uint",
		`{"city":"x","legs":[{"from":"a"},{"from":"b","class":-1e30}]}`:              "legs.1.class: number -1000000000000000000000000000000 cannot be held by int",
		`{"city":"x","by_name":{"a.b":{"from":"b"}},"hosts":["10.0.0.1","nowhere"]}`: `hosts.1: ParseAddr("nowhere"): unable to parse IP`,
		`{"city":"x","pair":[1e30,{"from":"b"}]}`:                                    "pair.0: number 1000000000000000000000000000000 cannot be held by int",
	} {
		if broken := s.Validate([]byte(args)); broken != nil {
			t.Errorf("%s does not fit: %v", args, broken)
		}
		var v search
		if err := c.Decode([]byte(args), &v); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// TestUnionsAreReadByTheirTag: as what was registered, a struct or a pointer.
func TestUnionsAreReadByTheirTag(t *testing.T) {
	type drawing struct {
		Surfaces []surface          `json:"surfaces"`
		Named    map[string]surface `json:"named,omitempty"`
	}
	c, err := gotype.For(reflect.TypeFor[drawing](), gotype.ForOptions{Arguments: true, Unions: surfaces()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(c.Doc(), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"surfaces":[{"kind":"circle","radius":2},{"surfaces":[{"radius":1,"kind":"circle"}],"kind":"group"}],"named":{"a":{"kind":"circle","radius":0}}}`)
	if broken := s.Validate(text); broken != nil {
		t.Fatal(broken)
	}
	var got drawing
	if err := c.Decode(text, &got); err != nil {
		t.Fatal(err)
	}
	want := drawing{
		Surfaces: []surface{circle{Radius: 2}, &group{Surfaces: []surface{circle{Radius: 1}}}},
		Named:    map[string]surface{"a": circle{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, wrong := range []string{`{"surfaces":[{"radius":2}]}`, `{"surfaces":[{"kind":"square"}]}`, `{"surfaces":[{"kind":"circle","radius":2,"more":1}]}`} {
		if s.Validate([]byte(wrong)) == nil {
			t.Errorf("%s fits", wrong)
		}
	}
}

// FuzzDecodeAnything: bytes that nobody checked end with an error or a value;
// those that fit are read as encoding/json reads them, if it can: 1.0 is no
// integer to it.
func FuzzDecodeAnything(f *testing.F) {
	type anything struct {
		*Inner
		City   string          `json:"city"`
		Where  *loc            `json:"where"`
		Small  int8            `json:"small,omitempty"`
		Legs   []loc           `json:"legs,omitempty"`
		ByName map[string]*loc `json:"by_name,omitempty"`
		Since  time.Time       `json:"since,omitzero"`
		Text   string          `json:"text,string,omitempty"`
		Count  *int            `json:"count,string,omitempty"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Bytes  []byte          `json:"bytes,omitempty"`
	}
	f.Add([]byte(`{"city":"x","legs":[{"lat":1,"lon":2}],"by_name":{"n":null},"where":{"lat":1e9,"lon":0},"text":"\"\\u0041\"","a":[1],"B":[1,2]}`))
	f.Add([]byte(`{"city":"x","since":"2026-01-02T03:04:05Z","raw":[{}, 1],"small":-0,"count":"7","bytes":"aGk=","a":[],"B":[0,0]}`))
	c, err := gotype.For(reflect.TypeFor[anything](), gotype.ForOptions{Arguments: true})
	if err != nil {
		f.Fatal(err)
	}
	s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		var ours, theirs anything
		if err := c.Decode(args, &ours); err != nil || s.Validate(args) != nil {
			return
		}
		if err := json.Unmarshal(args, &theirs); err != nil {
			if mismatch := new(json.UnmarshalTypeError); errors.As(err, &mismatch) {
				return
			}
			t.Fatalf("%s: encoding/json says %v", args, err)
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Fatalf("%s (-theirs +ours):\n%s", args, diff)
		}
	})
}

// FuzzDecode: arguments that fit the schema are read, or rejected with the
// place; what was read fits the schema again and is read as the same.
func FuzzDecode(f *testing.F) {
	for _, args := range []string{
		`{"city":"x","days":2.0,"legs":[{"from":"a"}],"pair":[1e0,{"from":"b"}],"either":{"a":1}}`,
		`{"city":"","by_name":{"n":null},"text":"\"q\"","since":"2026-01-02T03:04:05Z","wide":1e99,"where":{"lat":1,"lon":-0.0}}`,
	} {
		f.Add([]byte(args))
	}
	c, s := reader(f)
	f.Fuzz(func(t *testing.T, args []byte) {
		if s.Validate(args) != nil {
			return
		}
		var v, again search
		if err := c.Decode(args, &v); err != nil {
			if wrong := new(gotype.ValueError); !errors.As(err, &wrong) || wrong.Message == "" {
				t.Fatalf("%s: %v", args, err)
			}
			return
		}
		text, err := c.Append(nil, &v)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		if broken := s.Validate(text); broken != nil {
			t.Fatalf("%s became %s: %v", args, text, broken)
		}
		if err := c.Decode(text, &again); err != nil {
			t.Fatalf("%s became %s: %v", args, text, err)
		}
		if twice, err := c.Append(nil, &again); err != nil || string(twice) != string(text) {
			t.Fatalf("%s became %s, then %s (%v)", args, text, twice, err)
		}
	})
}

func TestDefaultsOfValuesInStrings(t *testing.T) {
	type quoted struct {
		T string `json:"t,string" check:"default=a b"`
		N int    `json:"n,string" check:"default=7"`
	}
	c, err := gotype.For(reflect.TypeFor[quoted](), gotype.ForOptions{Arguments: true, NoTitles: true})
	if err != nil {
		t.Fatal(err)
	}
	var got quoted
	if err := c.Decode([]byte(`{}`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(quoted{"a b", 7}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := `{"additionalProperties":false,"properties":{"t":{"default":"\"a b\"","type":"string"},"n":{"default":"7","pattern":"^-?(0|[1-9][0-9]*)$","type":"string"}},"type":"object"}`
	if diff := cmp.Diff(want, string(c.Doc())); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}
