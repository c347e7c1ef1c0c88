package jsonpath_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/jsonpath"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const shop = `{"books":[{"title":"A","price":8,"tags":["x","y"]},{"title":"B","price":12.5},{"title":"C","tags":[]}],
	"paths":{"/a":{"get":{"operationId":"one"},"post":{"operationId":"two"}},"/b":{"get":{"operationId":"three","deprecated":true}}},
	"max":12.50}`

func TestSelect(t *testing.T) {
	for query, want := range map[string]string{
		`$`:                         "whole",
		`$.books[0].title`:          `"A"`,
		`$.books[-1].title`:         `"C"`,
		`$.books[9]`:                ``,
		`$.books[*].title`:          `"A" "B" "C"`,
		`$['books'][0,2]["title"]`:  `"A" "C"`,
		`$.books[1:].title`:         `"B" "C"`,
		`$.books[::-1].title`:       `"C" "B" "A"`,
		`$..operationId`:            `"one" "two" "three"`,
		`$.paths.*.get.operationId`: `"one" "three"`,
		`$.paths[?@.get.deprecated].get.operationId`:                 `"three"`,
		`$.paths['/a'].post.operationId`:                             `"two"`,
		`$.books[?@.price == $.max].title`:                           `"B"`,
		`$.books[?@.price < 10].title`:                               `"A"`,
		`$.books[?!@.price].title`:                                   `"C"`,
		`$.books[?@.price >= 8 && (@.title == 'B' || @.tags)].title`: `"A" "B"`,
		`$.books[?length(@.tags) == 2].title`:                        `"A"`,
		`$.books[?count(@.*) == 2].title`:                            `"B" "C"`,
		`$.books[?match(@.title, "[AB]")].title`:                     `"A" "B"`,
		`$..[?search(@.operationId, 'w|th')].operationId`:            `"two" "three"`,
		`$.books[?value(@..price) == 8].title`:                       `"A"`,
		`$["\u0062ooks"][0].price`:                                   `8`,
	} {
		p, err := jsonpath.Parse(query)
		if err != nil {
			t.Error(err)
			continue
		}
		doc, err := rawjson.Parse([]byte(shop))
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := p.Select(doc)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(nodes))
		for i, n := range nodes {
			if got[i] = string(doc.Raw(n)); n == doc.Root() {
				got[i] = "whole"
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if p.String() != query {
			t.Errorf("String is %s, want %s", p, query)
		}
	}
}

func TestParseSaysWhere(t *testing.T) {
	for query, want := range map[string]string{
		``:                                `at 0: a query begins with "$"`,
		`books`:                           `at 0: a query begins`,
		`$.`:                              `at 2: a name or * is missing`,
		`$.a b`:                           `at 3: something follows`,
		`$[`:                              `at 2: a selector is missing`,
		`$[1`:                             `"," or "]" is missing`,
		`$['a]`:                           `the string does not end`,
		`$["\x"]`:                         `unknown escape`,
		`$["\ud800"]`:                     `half of a surrogate pair`,
		`$[01]`:                           `not an integer that can be used`,
		`$[9007199254740992]`:             `not an integer that can be used`,
		`$[?@.a = 1]`:                     `"," or "]" is missing`,
		`$[?@.* == 1]`:                    `can be compared`,
		`$[?nope(@.a)]`:                   `the function nope is not known`,
		`$[?length(@.a)]`:                 `a test is`,
		`$[?match(@.a)]`:                  `another number of arguments`,
		`$[?count(1) == 1]`:               `cannot take such an argument`,
		`$[?` + strings.Repeat("(", 100):  `nested too deeply`,
		`$` + strings.Repeat(".a", 10000): `too long`,
	} {
		_, err := jsonpath.Parse(query)
		var syntax *jsonpath.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error %v, want %s", query, err, want)
		}
	}
}

func TestSelectIsBounded(t *testing.T) {
	deep := strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200)
	doc, err := rawjson.Parse([]byte(deep))
	if err != nil {
		t.Fatal(err)
	}
	p, err := jsonpath.Parse("$" + strings.Repeat("..*", 8))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Select(doc); !errors.Is(err, jsonpath.ErrTooMuch) {
		t.Errorf("error %v, want ErrTooMuch", err)
	}
}

// FuzzSelect: a query either does not parse or selects locations of the document,
// and means the same when it is read again.
func FuzzSelect(f *testing.F) {
	for _, q := range []string{`$`, `$..a[0,1:2]`, `$[?@.a==1||!@.b&&$.c]`, `$[?match(@,'a.b')]`, `$['\u0061',"b"]`, `$[?length(value(@..a))>count(@.*)]`} {
		f.Add(q, `{"a":[1,{"a":"axb"}],"b":{"c":null}}`)
	}
	f.Fuzz(func(t *testing.T, query, document string) {
		doc, err := rawjson.Parse([]byte(document))
		if err != nil || len(document) > 200 || len(query) > 100 {
			return
		}
		p, err := jsonpath.Parse(query)
		if err != nil {
			return
		}
		nodes, err := p.Select(doc)
		if err != nil {
			return
		}
		for _, n := range nodes {
			if doc.Kind(n) == rawjson.Invalid {
				t.Fatalf("%q selects something that is not a node", query)
			}
		}
		again, err := jsonpath.Parse(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if same, _ := again.Select(doc); !cmp.Equal(nodes, same) {
			t.Fatalf("%q selects %v, then %v", query, nodes, same)
		}
	})
}
