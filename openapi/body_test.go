package openapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi"
)

// multipart30 is an operation whose body is a form of parts.
func multipart30(properties, encoding string) string {
	return operation30("/a", `"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{`+properties+`}},"encoding":{`+encoding+`}}}}`)
}

// parts cuts a multipart request to its parts: the boundary is another one each
// time.
func parts(t *testing.T, sent string) []string {
	t.Helper()
	top, body, _ := strings.Cut(sent, "\r\n\r\n")
	_, rest, found := strings.Cut(top, "Content-Type: multipart/form-data; boundary=")
	boundary, _, _ := strings.Cut(rest, "\r\n")
	if !found || boundary == "" {
		t.Fatalf("no boundary in %q", top)
	}
	body, ended := strings.CutSuffix(body, "--"+boundary+"--\r\n")
	if !ended {
		t.Fatalf("%q does not end with its boundary", body)
	}
	if body == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(body, "\r\n"), "\r\n--"+boundary+"\r\n")
}

func TestMultipartIsExactOnTheWire(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("from disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	const file = `"f":{"type":"string","format":"binary"}`
	disposition := func(rest string) string { return "Content-Disposition: form-data; name=" + rest + "\r\n" }
	for _, c := range []struct {
		name, doc, args string
		want            []string
	}{
		{"a text and a number", multipart30(`"a":{"type":"string"}`, ""), `{"body":{"a":"ü","n":1.50}}`, []string{
			disposition(`"a"`) + "\r\nü", disposition(`"n"`) + "\r\n1.50",
		}},
		{"an object is JSON", multipart30("", ""), `{"body":{"o":{"b":1, "a":2}}}`, []string{
			disposition(`"o"`) + "Content-Type: application/json\r\n\r\n" + `{"b":1,"a":2}`,
		}},
		{"a list is a part for each", multipart30("", ""), `{"body":{"l":[1,null,"x",{"y":2}]}}`, []string{
			disposition(`"l"`) + "\r\n1", disposition(`"l"`) + "\r\nx", disposition(`"l"`) + "Content-Type: application/json\r\n\r\n" + `{"y":2}`,
		}},
		{"a list as JSON where the encoding says so", multipart30("", `"l":{"contentType":"application/json"}`), `{"body":{"l":[1,2]}}`, []string{
			disposition(`"l"`) + "Content-Type: application/json\r\n\r\n[1,2]",
		}},
		{"null is not sent", multipart30("", ""), `{"body":{"a":null}}`, nil},
		{"bytes from base64", multipart30(file, ""), `{"body":{"f":"AP8="}}`, []string{
			disposition(`"f"; filename="f"`) + "Content-Type: application/octet-stream\r\n\r\n\x00\xff",
		}},
		{"bytes from a data: URI with a name", multipart30(file, ""), `{"body":{"f":"data:image/png;name=a%22.png;base64,AP8"}}`, []string{
			disposition(`"f"; filename="a%22.png"`) + "Content-Type: image/png\r\n\r\n\x00\xff",
		}},
		{"text from a data: URI", multipart30(file, ""), `{"body":{"f":"data:,a%20b"}}`, []string{
			disposition(`"f"; filename="f"`) + "Content-Type: text/plain;charset=US-ASCII\r\n\r\na b",
		}},
		{"a file from disk", multipart30(file, ""), `{"body":{"f":"file:note.txt"}}`, []string{
			disposition(`"f"; filename="note.txt"`) + "Content-Type: text/plain; charset=utf-8\r\n\r\nfrom disk",
		}},
		{"several files", multipart30(`"f":{"type":"array","items":{"type":"string","format":"binary"}}`, ""), `{"body":{"f":["AA==","AQ=="]}}`, []string{
			disposition(`"f"; filename="f"`) + "Content-Type: application/octet-stream\r\n\r\n\x00", disposition(`"f"; filename="f"`) + "Content-Type: application/octet-stream\r\n\r\n\x01",
		}},
		{"the encoding names the type of a file", multipart30(`"f":{}`, `"f":{"contentType":"image/png, image/jpeg"}`), `{"body":{"f":"AA=="}}`, []string{
			disposition(`"f"; filename="f"`) + "Content-Type: image/png\r\n\r\n\x00",
		}},
		{"a name cannot end the line", multipart30("", ""), `{"body":{"a\"\r\nX: 1":"v"}}`, []string{
			disposition(`"a%22%0D%0AX: 1"`) + "\r\nv",
		}},
		{"2.0 file and field", operation20("/a", `"consumes":["multipart/form-data"],"parameters":[{"name":"f","in":"formData","type":"file"},{"name":"n","in":"formData","type":"integer"}]`), `{"f":"AA==","n":3}`, []string{
			disposition(`"f"; filename="f"`) + "Content-Type: application/octet-stream\r\n\r\n\x00", disposition(`"n"`) + "\r\n3",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent, err := call(t, c.doc, c.args, openapi.Options{UploadRoot: dir})
			if err != nil {
				t.Fatal(err)
			}
			got := parts(t, sent)
			if len(got) > 0 {
				_, got[0], _ = strings.Cut(got[0], "\r\n") // the first boundary
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFilesOutsideTheFolderAreNotSent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	doc := multipart30(`"f":{"type":"string","format":"binary"}`, "")
	for _, name := range []string{"../secret", "link", filepath.ToSlash(filepath.Join(dir, "secret")), "//" + filepath.ToSlash(dir) + "/secret", ".", "none"} {
		sent, err := call(t, doc, `{"body":{"f":"file:`+name+`"}}`, openapi.Options{UploadRoot: root})
		if err == nil || sent != "" {
			t.Errorf("%s: sent %q", name, sent)
		}
	}
}

func TestXMLIsExactOnTheWire(t *testing.T) {
	xml := func(schema string) string {
		return `{"openapi":"3.0.3","servers":[{"url":"https://api.test"}],"paths":{"/a":{"post":{"operationId":"op","requestBody":{"content":{"application/xml":{"schema":{"$ref":"#/components/schemas/Book"}}}},
			"responses":{"200":{"description":""}}}}},"components":{"schemas":{"Book":` + schema + `,"Tag":{"type":"string","xml":{"name":"tag"}}}}}`
	}
	for _, c := range []struct{ name, schema, body, want string }{
		{"the component names the root", `{}`, `{"a":1}`, `<Book><a>1</a></Book>`},
		{"names, attributes, order of the arguments", `{"xml":{"name":"book"},"properties":{"id":{"xml":{"attribute":true}},"title":{"xml":{"name":"t"}}}}`, `{"title":"x","id":7}`, `<book id="7"><t>x</t></book>`},
		{"a namespace with a prefix", `{"xml":{"name":"b","prefix":"p","namespace":"http://e.com/?a&b"}}`, `{}`, `<p:b xmlns:p="http://e.com/?a&amp;b"></p:b>`},
		{"a list without a wrapper", `{"properties":{"tags":{"type":"array","items":{"$ref":"#/components/schemas/Tag"}}}}`, `{"tags":["a","b"]}`, `<Book><tag>a</tag><tag>b</tag></Book>`},
		{"a list with a wrapper", `{"properties":{"tags":{"type":"array","xml":{"wrapped":true,"name":"all"},"items":{"type":"string","xml":{"name":"one"}}}}}`, `{"tags":["a"]}`, `<Book><all><one>a</one></all></Book>`},
		{"a list whose items have no name", `{"properties":{"tags":{"type":"array","items":{"type":"string"}}}}`, `{"tags":["a","b"]}`, `<Book><tags>a</tags><tags>b</tags></Book>`},
		{"text is escaped", `{"properties":{"q":{"xml":{"attribute":true}}}}`, `{"q":"\"<\n","a":"<&>\r"}`, `<Book q="&quot;&lt;&#xA;"><a>&lt;&amp;&gt;&#xD;</a></Book>`},
		{"null is left out", `{}`, `{"a":null,"b":{"c":[null,true]}}`, `<Book><b><c>true</c></b></Book>`},
		{"properties of allOf count", `{"allOf":[{"properties":{"id":{"xml":{"attribute":true}}}}]}`, `{"id":1}`, `<Book id="1"></Book>`},
		{"text beside attributes", `{"properties":{"lang":{"xml":{"nodeType":"attribute"}},"value":{"xml":{"nodeType":"text"}}}}`, `{"lang":"de","value":"Buch"}`, `<Book lang="de">Buch</Book>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent, err := call(t, xml(c.schema), `{"body":`+c.body+`}`, openapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := "POST /a|Content-Type: application/xml|" + `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + c.want
			if d := cmp.Diff(want, line(sent)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestQueryThatIsWrittenLikeAPath(t *testing.T) {
	doc := operation30("/fax?fixed=1&q={q}&from={date_from}&extra={extra}", `"parameters":[{"name":"q","in":"path","required":true,"schema":{}},{"name":"date_from","in":"path","schema":{"type":"integer"}}]`)
	got, err := call(t, doc, `{"q":"a&b","from":5}`, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("POST /v1/fax?fixed=1&q=a%26b&from=5", line(got)); d != "" {
		t.Error(d)
	}
}

func TestFormFieldsAsJSON(t *testing.T) {
	doc := operation30("/a", `"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{},"encoding":{"l":{"contentType":"application/json"}}}}}`)
	got, err := call(t, doc, `{"body":{"a":1,"l":[1,"x y"]}}`, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("POST /v1/a|Content-Type: application/x-www-form-urlencoded|a=1&l=%5B1%2C%22x+y%22%5D", line(got)); d != "" {
		t.Error(d)
	}
}
