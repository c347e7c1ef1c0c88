package bookshop_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/tenon-mcp/tenon/internal/bookshop"
)

const emma = `{"isbn":"978-1009990015","title":"Emma","subtitle":null,"authors":[{"name":"Jane Austen","born":1775,"died":1817}],` +
	`"year":1815,"genre":"romance","tags":["england"],"priceCents":875,"stock":3,"barcode":978100999001500127,` +
	`"format":{"kind":"paperback","pages":474},"supplierNote":"Second box from the left."}`

// declared is the shop's document, ready to check answers against it.
type declared struct {
	doc      any
	compiler *jsonschema.Compiler
}

func document(t *testing.T) *declared {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal(bookshop.New(bookshop.Options{}).Document("http://127.0.0.1:1"), &tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("shop.json", doc); err != nil {
		t.Fatal(err)
	}
	return &declared{doc: doc, compiler: c}
}

// at walks down members of objects and follows a reference on its way; it
// returns the pointer to what it found as well.
func (d *declared) at(t *testing.T, path ...string) (any, string) {
	t.Helper()
	node, pointer := d.doc, "#"
	for _, name := range path {
		members, ok := node.(map[string]any)
		if !ok || members[name] == nil {
			t.Fatalf("the document has no %s at %s", name, pointer)
		}
		node = members[name]
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if members, ok := node.(map[string]any); ok && members["$ref"] != nil {
			ref, ok := members["$ref"].(string)
			if !ok {
				t.Fatalf("%s: $ref is no string", pointer)
			}
			node, pointer = d.at(t, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return node, pointer
}

// check validates an answer against the schema declared for it.
func (d *declared) check(t *testing.T, path, method, status, media string, body []byte) error {
	t.Helper()
	_, pointer := d.at(t, "paths", path, method, "responses", status, "content", media, "schema")
	schema, err := d.compiler.Compile("shop.json" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s %s answered no JSON: %v", method, path, err)
	}
	return schema.Validate(value)
}

type exchange struct {
	name         string
	method, path string // of the document
	target       string // what is asked for
	body         string
	status       string
	media        string // empty: no body
}

func exchanges() []exchange {
	const (
		js   = "application/json"
		prob = "application/problem+json"
	)
	list := []exchange{
		{"the first page", "get", "/books", "/books", "", "200", js},
		{"a page in the middle", "get", "/books", "/books?limit=3&cursor=YjEwMDU", "", "200", js},
		{"a page behind the last book", "get", "/books", "/books?cursor=YjIwMDA", "", "200", js},
		{"a genre", "get", "/books", "/books?genre=gothic&limit=50", "", "200", js},
		{"a limit of none", "get", "/books", "/books?limit=0", "", "400", prob},
		{"a limit that is a word", "get", "/books", "/books?limit=many", "", "400", prob},
		{"a cursor of somebody else", "get", "/books", "/books?cursor=eHg", "", "400", prob},
		{"a genre that is none", "get", "/books", "/books?genre=cooking", "", "400", prob},
		{"everything", "get", "/books/search", "/books/search", "", "200", js},
		{"words, tags and price", "get", "/books/search", "/books/search?q=boat&tags=england&tags=voyage&price%5Bmin%5D=1&price%5Bmax%5D=800", "", "200", js},
		{"nothing that fits", "get", "/books/search", "/books/search?q=xyzzy", "", "200", js},
		{"a price that is a word", "get", "/books/search", "/books/search?price%5Bmin%5D=cheap", "", "400", prob},
		{"the categories", "get", "/categories", "/categories", "", "200", js},
		{"the report at once", "get", "/reports/sales", "/reports/sales?seconds=0", "", "200", js},
		{"a report in a minute", "get", "/reports/sales", "/reports/sales?seconds=60", "", "400", prob},
		{"the table", "get", "/exports/books.csv", "/exports/books.csv", "", "200", "text/csv"},
		{"a new book", "post", "/books", "/books", emma, "201", js},
		{"a book with an ISBN that is taken", "post", "/books", "/books", strings.Replace(emma, "978-1009990015", "978-1000010011", 1), "409", prob},
		{"a book that is no JSON", "post", "/books", "/books", "{", "400", prob},
		{"a book that is not complete", "post", "/books", "/books", "{}", "422", prob},
		{"a book whose year is a string", "post", "/books", "/books", strings.Replace(emma, "1815", `"1815"`, 1), "422", prob},
		{"another book in its place", "put", "/books/{bookId}", "/books/b1001", emma, "200", js},
		{"another book with an ISBN that is taken", "put", "/books/{bookId}", "/books/b1001", strings.Replace(emma, "978-1009990015", "978-1000020022", 1), "409", prob},
		{"half a book in its place", "put", "/books/{bookId}", "/books/b1001", `{"title":"Emma"}`, "422", prob},
		{"no JSON in its place", "put", "/books/{bookId}", "/books/b1001", `Emma`, "400", prob},
		{"another book in no place", "put", "/books/{bookId}", "/books/b9999", emma, "404", prob},
		{"a lower price", "patch", "/books/{bookId}", "/books/b1002", `{"priceCents":1,"subtitle":null,"translations":null,"tags":null}`, "200", js},
		{"a price below nothing", "patch", "/books/{bookId}", "/books/b1002", `{"priceCents":-1}`, "422", prob},
		{"a change that is a list", "patch", "/books/{bookId}", "/books/b1002", `[]`, "400", prob},
		{"a change to an ISBN that is taken", "patch", "/books/{bookId}", "/books/b1002", `{"isbn":"978-1000010011"}`, "409", prob},
		{"a change to no book", "patch", "/books/{bookId}", "/books/b9999", `{}`, "404", prob},
		{"a book less", "delete", "/books/{bookId}", "/books/b1003", "", "204", ""},
		{"no book less", "delete", "/books/{bookId}", "/books/b9999", "", "404", prob},
		{"no book", "get", "/books/{bookId}", "/books/b9999", "", "404", prob},
		{"the cover of no book", "get", "/books/{bookId}/cover", "/books/b9999/cover", "", "404", prob},
		{"the stock of no book", "get", "/books/{bookId}/stock", "/books/b9999/stock", "", "404", prob},
	}
	for _, id := range firstIDs() {
		list = append(list,
			exchange{"book " + id, "get", "/books/{bookId}", "/books/" + id, "", "200", js},
			exchange{"cover of " + id, "get", "/books/{bookId}/cover", "/books/" + id + "/cover", "", "200", "image/png"})
		if id != bookshop.BrokenStock {
			list = append(list, exchange{"stock of " + id, "get", "/books/{bookId}/stock", "/books/" + id + "/stock", "", "200", js})
		}
	}
	return list
}

// Every answer has a status and a media type that its operation declares, and
// fits the schema that is declared for them.
func TestAnswersFitTheDocument(t *testing.T) {
	doc := document(t)
	asked := map[string]bool{}
	for _, x := range exchanges() {
		asked[x.method+" "+x.path+" "+x.status] = true
		t.Run(x.name, func(t *testing.T) {
			shop := bookshop.New(bookshop.Options{})
			got := ask(t, shop, strings.ToUpper(x.method), x.target, x.body)
			if got.status != x.status || got.media != x.media {
				t.Fatalf("got %s %s, want %s %s\n%s", got.status, got.media, x.status, x.media, got.body)
			}
			switch {
			case strings.HasSuffix(x.media, "json"):
				if err := doc.check(t, x.path, x.method, x.status, x.media, got.body); err != nil {
					t.Errorf("%s\n%v", got.body, err)
				}
			case x.media != "":
				doc.at(t, "paths", x.path, x.method, "responses", x.status, "content", x.media)
			case len(got.body) > 0:
				t.Errorf("an answer without a media type has the body %q", got.body)
			}
		})
	}
	for _, declared := range doc.answers(t) {
		if !asked[declared] {
			t.Errorf("no case gets the declared answer %s", declared)
		}
	}
}

// answers lists every declared answer as "method path status".
func (d *declared) answers(t *testing.T) []string {
	t.Helper()
	var list []string
	paths, _ := d.at(t, "paths")
	for path := range object(t, paths) {
		item, _ := d.at(t, "paths", path)
		for method := range object(t, item) {
			if method == "parameters" {
				continue
			}
			responses, _ := d.at(t, "paths", path, method, "responses")
			for status := range object(t, responses) {
				list = append(list, method+" "+path+" "+status)
			}
		}
	}
	slices.Sort(list)
	return list
}

func object(t *testing.T, v any) map[string]any {
	t.Helper()
	o, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", v)
	}
	return o
}

func TestOneStockBreaksItsSchema(t *testing.T) {
	shop := bookshop.New(bookshop.Options{})
	got := ask(t, shop, http.MethodGet, "/books/"+bookshop.BrokenStock+"/stock", "")
	if got.status != "200" || got.media != "application/json" {
		t.Fatalf("got %s %s", got.status, got.media)
	}
	err := document(t).check(t, "/books/{bookId}/stock", "get", "200", "application/json", got.body)
	if err == nil {
		t.Fatalf("%s fits", got.body)
	}
	for _, problem := range []string{"'/count': got string, want integer", "missing property 'warehouse'"} {
		if !strings.Contains(err.Error(), problem) {
			t.Errorf("the error does not say %q:\n%v", problem, err)
		}
	}
}

func TestDocumentNamesTheServer(t *testing.T) {
	for _, base := range []string{"http://127.0.0.1:8080", `https://shop.example/"a: b #c`} {
		var doc struct {
			OpenAPI string `yaml:"openapi"`
			Servers []struct {
				URL string `yaml:"url"`
			} `yaml:"servers"`
		}
		if err := yaml.Unmarshal(bookshop.New(bookshop.Options{}).Document(base), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.OpenAPI != "3.1.0" || len(doc.Servers) != 1 || doc.Servers[0].URL != base {
			t.Errorf("%s: got %+v", base, doc)
		}
	}
}

// The counter knows every operation by the name that the document gives it.
func TestRequestsAreCountedByOperation(t *testing.T) {
	shop := bookshop.New(bookshop.Options{})
	doc := document(t)
	want := map[string]int{}
	for _, x := range exchanges() {
		ask(t, shop, strings.ToUpper(x.method), x.target, x.body)
		id, _ := doc.at(t, "paths", x.path, x.method, "operationId")
		name, ok := id.(string)
		if !ok {
			t.Fatalf("%s %s has no operationId", x.method, x.path)
		}
		want[name]++
	}
	ask(t, shop, http.MethodGet, "/nowhere", "")
	if diff := cmp.Diff(want, shop.Requests()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := slices.Sorted(maps.Keys(want)); len(got) != 12 {
		t.Errorf("asked for %v", got)
	}
	shop.Reset()
	if got := shop.Requests(); len(got) != 0 {
		t.Errorf("after Reset: %v", got)
	}
}
