package openapi_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// wire keeps the bytes of the requests that would have left.
type wire struct{ sent []string }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, err
	}
	w.sent = append(w.sent, b.String())
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2, Request: r,
	}, nil
}

// operation30 is a document with one operation at POST /x, or at the path
// that the members begin with.
func operation30(path, members string) string {
	if members != "" {
		members += ","
	}
	return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.test/v1"}],
		"paths":{"` + path + `":{"post":{"operationId":"op",` + members + `"responses":{"200":{"description":"ok"}}}}}}`
}

func operation20(path, members string) string {
	return `{"swagger":"2.0","info":{"title":"t","version":"1"},"host":"api.test","basePath":"/v1","schemes":["http","https"],
		"paths":{"` + path + `":{"post":{"operationId":"op",` + members + `,"responses":{"200":{"description":"ok"}}}}}}`
}

func operation32(media string) string {
	return operation30("/a", `"parameters":[{"name":"p","in":"querystring","content":{`+media+`:{"schema":{}}}}]`)
}

func parameter30(in, rest string) string {
	return `"parameters":[{"name":"p","in":"` + in + `",` + rest + `"schema":{}}]`
}

func load(t *testing.T, doc string, o openapi.Options) tenon.Features {
	t.Helper()
	offer, err := openapi.Parse("doc.json", []byte(doc), o)
	if err != nil {
		t.Fatal(err)
	}
	return offer
}

// call makes the only tool of a document send its request.
func call(t *testing.T, doc, args string, o openapi.Options) (string, error) {
	t.Helper()
	w := &wire{}
	o.Client = &http.Client{Transport: w}
	offer := load(t, doc, o)
	if len(offer.Tools) != 1 {
		t.Fatalf("%d tools, diagnostics %v", len(offer.Tools), offer.Diagnostics)
	}
	_, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(args)})
	return strings.Join(w.sent, "\n---\n"), err
}

// line cuts a request to what a table shows: the request line, the headers
// that are not always there, the body.
func line(sent string) string {
	top, body, _ := strings.Cut(sent, "\r\n\r\n")
	lines := strings.Split(top, "\r\n")
	out := strings.TrimSuffix(lines[0], " HTTP/1.1")
	for _, l := range lines[1:] {
		name, _, _ := strings.Cut(l, ":")
		switch name {
		case "Host", "User-Agent", "Accept", "Content-Length":
		default:
			out += "|" + l
		}
	}
	if body != "" {
		out += "|" + body
	}
	return out
}

func TestRequestIsExactOnTheWire(t *testing.T) {
	doc := operation30("/things/{id}", `"parameters":[
		{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},
		{"name":"q","in":"query","schema":{"type":"string"}},
		{"name":"X-Trace","in":"header","schema":{"type":"string"}},
		{"name":"sid","in":"cookie","schema":{"type":"string"}}],
		"requestBody":{"content":{"application/json; charset=utf-8":{"schema":{}}}}`)
	got, err := call(t, doc, `{"q":"a b","id":9007199254740993,"sid":"s;1","X-Trace":"t 1","body":{"n":1.0,"big":12345678901234567890}}`,
		openapi.Options{Header: http.Header{"User-Agent": {"test"}, "X-Key": {"k"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "POST /v1/things/9007199254740993?q=a%20b HTTP/1.1\r\n" +
		"Host: api.test\r\n" +
		"User-Agent: test\r\n" +
		"Content-Length: 36\r\n" +
		"Accept: application/json, */*;q=0.5\r\n" +
		"Content-Type: application/json; charset=utf-8\r\n" +
		"Cookie: sid=s%3B1\r\n" +
		"X-Key: k\r\n" +
		"X-Trace: t 1\r\n" +
		"\r\n" +
		`{"n":1.0,"big":12345678901234567890}`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParameterStyles(t *testing.T) {
	const list, object = `{"p":["a b","c/d",3]}`, `{"p":{"R":100,"G":"x y"}}`
	for _, c := range []struct{ name, doc, args, want string }{
		{"path simple scalar", operation30("/a/{p}", parameter30("path", "")), `{"p":"ü/&"}`, "POST /v1/a/%C3%BC%2F%26"},
		{"path simple list", operation30("/a/{p}", parameter30("path", "")), list, "POST /v1/a/a%20b,c%2Fd,3"},
		{"path simple object", operation30("/a/{p}", parameter30("path", "")), object, "POST /v1/a/R,100,G,x%20y"},
		{"path simple object exploded", operation30("/a/{p}", parameter30("path", `"explode":true,`)), object, "POST /v1/a/R=100,G=x%20y"},
		{"path label scalar", operation30("/a/{p}", parameter30("path", `"style":"label",`)), `{"p":5}`, "POST /v1/a/.5"},
		{"path label list", operation30("/a/{p}", parameter30("path", `"style":"label",`)), list, "POST /v1/a/.a%20b,c%2Fd,3"},
		{"path label list exploded", operation30("/a/{p}", parameter30("path", `"style":"label","explode":true,`)), list, "POST /v1/a/.a%20b.c%2Fd.3"},
		{"path label object exploded", operation30("/a/{p}", parameter30("path", `"style":"label","explode":true,`)), object, "POST /v1/a/.R=100.G=x%20y"},
		{"path matrix scalar", operation30("/a{p}", parameter30("path", `"style":"matrix",`)), `{"p":5}`, "POST /v1/a;p=5"},
		{"path matrix empty", operation30("/a{p}", parameter30("path", `"style":"matrix",`)), `{"p":""}`, "POST /v1/a;p"},
		{"path matrix list", operation30("/a{p}", parameter30("path", `"style":"matrix",`)), list, "POST /v1/a;p=a%20b,c%2Fd,3"},
		{"path matrix list exploded", operation30("/a{p}", parameter30("path", `"style":"matrix","explode":true,`)), list, "POST /v1/a;p=a%20b;p=c%2Fd;p=3"},
		{"path matrix object", operation30("/a{p}", parameter30("path", `"style":"matrix",`)), object, "POST /v1/a;p=R,100,G,x%20y"},
		{"path matrix object exploded", operation30("/a{p}", parameter30("path", `"style":"matrix","explode":true,`)), object, "POST /v1/a;R=100;G=x%20y"},
		{"path in the middle of a segment", operation30("/a/{p}.json", parameter30("path", "")), `{"p":"x"}`, "POST /v1/a/x.json"},
		{"query form scalar", operation30("/a", parameter30("query", "")), `{"p":"a&b=c +ü"}`, "POST /v1/a?p=a%26b%3Dc%20%2B%C3%BC"},
		{"query form number", operation30("/a", parameter30("query", "")), `{"p":123456789012345678901.50}`, "POST /v1/a?p=123456789012345678901.50"},
		{"query form boolean", operation30("/a", parameter30("query", "")), `{"p":false}`, "POST /v1/a?p=false"},
		{"query form empty string", operation30("/a", parameter30("query", "")), `{"p":""}`, "POST /v1/a?p="},
		{"query form escape in the argument", operation30("/a", parameter30("query", "")), `{"p":"\u0041\n"}`, "POST /v1/a?p=A%0A"},
		{"query null is left out", operation30("/a", parameter30("query", "")), `{"p":null}`, "POST /v1/a"},
		{"query absent is left out", operation30("/a", parameter30("query", "")), ``, "POST /v1/a"},
		{"query form list", operation30("/a", parameter30("query", "")), list, "POST /v1/a?p=a%20b&p=c%2Fd&p=3"},
		{"query form empty list", operation30("/a", parameter30("query", "")), `{"p":[]}`, "POST /v1/a"},
		{"query form null in a list", operation30("/a", parameter30("query", "")), `{"p":[null,1,null,2]}`, "POST /v1/a?p=1&p=2"},
		{"query form list not exploded", operation30("/a", parameter30("query", `"explode":false,`)), list, "POST /v1/a?p=a%20b,c%2Fd,3"},
		{"query form object", operation30("/a", parameter30("query", "")), object, "POST /v1/a?R=100&G=x%20y"},
		{"query form object not exploded", operation30("/a", parameter30("query", `"explode":false,`)), object, "POST /v1/a?p=R,100,G,x%20y"},
		{"query spaceDelimited", operation30("/a", parameter30("query", `"style":"spaceDelimited",`)), list, "POST /v1/a?p=a%20b%20c%2Fd%203"},
		{"query pipeDelimited", operation30("/a", parameter30("query", `"style":"pipeDelimited",`)), list, "POST /v1/a?p=a%20b%7Cc%2Fd%7C3"},
		{"query pipeDelimited exploded", operation30("/a", parameter30("query", `"style":"pipeDelimited","explode":true,`)), list, "POST /v1/a?p=a%20b&p=c%2Fd&p=3"},
		{"query deepObject", operation30("/a", parameter30("query", `"style":"deepObject",`)), object, "POST /v1/a?p%5BR%5D=100&p%5BG%5D=x%20y"},
		{
			"query deepObject nested", operation30("/a", parameter30("query", `"style":"deepObject","explode":true,`)),
			`{"p":{"a":{"b":1,"c":null},"d":[{"e":2},3],"f g":""}}`,
			"POST /v1/a?p%5Ba%5D%5Bb%5D=1&p%5Bd%5D%5B0%5D%5Be%5D=2&p%5Bd%5D%5B1%5D=3&p%5Bf%20g%5D=",
		},
		{"query allowReserved", operation30("/a", parameter30("query", `"allowReserved":true,`)), `{"p":"a/b:c&d=e#f%"}`, "POST /v1/a?p=a/b:c%26d%3De%23f%25"},
		{"query content is JSON", operation30("/a", `"parameters":[{"name":"p","in":"query","content":{"application/json":{"schema":{}}}}]`), `{"p":{"a": [1]}}`, "POST /v1/a?p=%7B%22a%22%3A%5B1%5D%7D"},
		{"query name is escaped", operation30("/a", `"parameters":[{"name":"page[size]","in":"query","schema":{}}]`), `{"page_size":1}`, "POST /v1/a?page%5Bsize%5D=1"},
		{"header simple scalar", operation30("/a", parameter30("header", "")), `{"p":"a, b%"}`, "POST /v1/a|P: a, b%"},
		{"header simple list", operation30("/a", parameter30("header", "")), list, "POST /v1/a|P: a b,c/d,3"},
		{"header simple object", operation30("/a", parameter30("header", "")), object, "POST /v1/a|P: R,100,G,x y"},
		{"header simple object exploded", operation30("/a", parameter30("header", `"explode":true,`)), object, "POST /v1/a|P: R=100,G=x y"},
		{"header empty list", operation30("/a", parameter30("header", "")), `{"p":[null]}`, "POST /v1/a"},
		{"header empty list is JSON", operation30("/a", `"parameters":[{"name":"p","in":"header","content":{"application/json":{"schema":{}}}}]`), `{"p":[]}`, "POST /v1/a|P: []"},
		{"header empty text", operation30("/a", parameter30("header", "")), `{"p":""}`, "POST /v1/a|P: "},
		{"cookie form scalar", operation30("/a", parameter30("cookie", "")), `{"p":"a; admin=1"}`, "POST /v1/a|Cookie: p=a%3B%20admin%3D1"},
		{"cookie form list", operation30("/a", parameter30("cookie", `"explode":false,`)), list, "POST /v1/a|Cookie: p=a%20b,c%2Fd,3"},
		{"query of the path", operation30("/a?v=2&q={p}", parameter30("path", "")), `{"q":"a&b=c"}`, "POST /v1/a?v=2&q=a%26b%3Dc"},
		{"part of a value in the query of the path", operation30("/a?q=name:{p}&v=2", parameter30("path", "")), `{"p":"a&b=c"}`, "POST /v1/a?q=name:a%26b%3Dc&v=2"},
		{"key in the query of the path", operation30("/a?{p}=1&{k}=2", parameter30("path", "")), `{"p":"a&b=c","k":"#"}`, "POST /v1/a?a%26b%3Dc=1&%23=2"},
		{"2.0 csv is the default", operation20("/a", `"parameters":[{"name":"p","in":"query","type":"array","items":{"type":"string"}}]`), list, "POST /v1/a?p=a%20b,c%2Fd,3"},
		{"2.0 ssv", operation20("/a", `"parameters":[{"name":"p","in":"query","type":"array","collectionFormat":"ssv"}]`), list, "POST /v1/a?p=a%20b%20c%2Fd%203"},
		{"2.0 tsv", operation20("/a", `"parameters":[{"name":"p","in":"query","type":"array","collectionFormat":"tsv"}]`), list, "POST /v1/a?p=a%20b%09c%2Fd%093"},
		{"2.0 pipes", operation20("/a", `"parameters":[{"name":"p","in":"query","type":"array","collectionFormat":"pipes"}]`), list, "POST /v1/a?p=a%20b%7Cc%2Fd%7C3"},
		{"2.0 multi", operation20("/a", `"parameters":[{"name":"p","in":"query","type":"array","collectionFormat":"multi"}]`), list, "POST /v1/a?p=a%20b&p=c%2Fd&p=3"},
		{"2.0 path csv", operation20("/a/{p}", `"parameters":[{"name":"p","in":"path","required":true,"type":"array"}]`), list, "POST /v1/a/a%20b,c%2Fd,3"},
		{"2.0 header pipes", operation20("/a", `"parameters":[{"name":"p","in":"header","type":"array","collectionFormat":"pipes"}]`), list, "POST /v1/a|P: a b|c/d|3"},
		{"style of another place", operation30("/a", parameter30("query", `"style":"simple",`)), list, "POST /v1/a?p=a%20b&p=c%2Fd&p=3"},
		{"headers that differ in case only", operation30("/a", `"parameters":[{"name":"X-A","in":"header","schema":{}},{"name":"x-a","in":"header","schema":{}}]`), `{"x-a":1}`, "POST /v1/a|X-A: 1"},
		{"3.2 whole query, form", operation32(`"application/x-www-form-urlencoded"`), `{"p":{"a":"x y","b":[1]}}`, "POST /v1/a?a=x%20y&b=%5B1%5D"},
		{"3.2 whole query, JSON", operation32(`"application/json"`), `{"p":{"a": 1}}`, "POST /v1/a?%7B%22a%22%3A1%7D"},
		{"literal query in the path", operation30("/a?action=do", parameter30("query", "")), `{"p":1}`, "POST /v1/a?action=do&p=1"},
		{"fragment in the path", operation30("/a#one", parameter30("query", "")), `{"p":1}`, "POST /v1/a?p=1"},
		{"literal text is escaped once", operation30("/a b/%7Bc%7D/{p}", parameter30("path", "")), `{"p":1}`, "POST /v1/a%20b/%7Bc%7D/1"},
		{"parameter that only the path names", operation30("/a/{p}", ""), `{"p":"1"}`, "POST /v1/a/1"},
		{"one parameter twice in a path", operation30("/a/{p}/b/{p}", parameter30("path", "")), `{"p":1}`, "POST /v1/a/1/b/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := call(t, c.doc, c.args, openapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, line(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRequestBodies(t *testing.T) {
	body := func(media, rest string) string {
		return `"requestBody":{"content":{"` + media + `":{"schema":{}` + rest + `}}}`
	}
	form := body("application/x-www-form-urlencoded", "")
	const formType = "|Content-Type: application/x-www-form-urlencoded|"
	for _, c := range []struct{ name, doc, args, want string }{
		{"JSON goes as it came", operation30("/a", body("application/json", "")), `{"body": {"z":1e2, "a":[ ]} }`, `POST /v1/a|Content-Type: application/json|{"z":1e2, "a":[ ]}`},
		{"JSON list", operation30("/a", body("application/json", "")), `{"body":[1]}`, `POST /v1/a|Content-Type: application/json|[1]`},
		{"optional body is left out", operation30("/a", body("application/json", "")), `{}`, `POST /v1/a`},
		{"optional null is left out", operation30("/a", body("application/json", "")), `{"body":null}`, `POST /v1/a`},
		{"required null is sent", operation30("/a", `"requestBody":{"required":true,"content":{"application/json":{"schema":{}}}}`), `{"body":null}`, `POST /v1/a|Content-Type: application/json|null`},
		{"a range means JSON", operation30("/a", body("*/*", "")), `{"body":1}`, `POST /v1/a|Content-Type: application/json|1`},
		{"merge patch", operation30("/a", body("application/merge-patch+json", "")), `{"body":{}}`, `POST /v1/a|Content-Type: application/merge-patch+json|{}`},
		{"form", operation30("/a", form), `{"body":{"a":"x y&","b":1,"c":["p","q"],"d":{"e":1},"f":null}}`, `POST /v1/a` + formType + `a=x+y%26&b=1&c=p&c=q&d=%7B%22e%22%3A1%7D`},
		{
			"form with deepObject", operation30("/a", body("application/x-www-form-urlencoded", `,"encoding":{"d":{"style":"deepObject","explode":true},"c":{"explode":false}}`)),
			`{"body":{"d":{"e":[1]},"c":[1,2]}}`, `POST /v1/a` + formType + `d%5Be%5D%5B0%5D=1&c=1,2`,
		},
		{"text", operation30("/a", body("text/plain", "")), `{"body":"a\nb"}`, "POST /v1/a|Content-Type: text/plain|a\nb"},
		{"binary", operation30("/a", body("application/octet-stream", "")), `{"body":"AP8="}`, "POST /v1/a|Content-Type: application/octet-stream|\x00\xff"},
		{"binary, base64url", operation30("/a", body("image/png", "")), `{"body":"-_8"}`, "POST /v1/a|Content-Type: image/png|\xfb\xff"},
		{"JSON before form", operation30("/a", `"requestBody":{"content":{"application/x-www-form-urlencoded":{},"application/json":{}}}`), `{"body":{}}`, `POST /v1/a|Content-Type: application/json|{}`},
		{"body beside a parameter called body", operation30("/a", `"parameters":[{"name":"body","in":"query","schema":{}}],`+body("application/json", "")), `{"body":1,"request_body":2}`, `POST /v1/a?body=1|Content-Type: application/json|2`},
		{"2.0 body", operation20("/a", `"parameters":[{"name":"thing","in":"body","schema":{}}]`), `{"body":{"a":1}}`, `POST /v1/a|Content-Type: application/json|{"a":1}`},
		{"2.0 form", operation20("/a", `"consumes":["application/x-www-form-urlencoded"],"parameters":[{"name":"a","in":"formData","type":"string"},{"name":"b","in":"formData","type":"array","collectionFormat":"multi"}]`), `{"a":"x y","b":[1,2]}`, `POST /v1/a` + formType + `a=x+y&b=1&b=2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := call(t, c.doc, c.args, openapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, line(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRequestIsRefused(t *testing.T) {
	path := operation30("/a/{p}/z", parameter30("path", ""))
	header := operation30("/a", parameter30("header", ""))
	for _, c := range []struct{ name, doc, args, want string }{
		{"empty path argument", path, `{"p":""}`, "argument p is empty"},
		{"dot", path, `{"p":"."}`, "argument p must not contain"},
		{"dot dot", path, `{"p":".."}`, "argument p must not contain"},
		{"dot dot behind a slash", path, `{"p":"../admin"}`, "argument p must not contain"},
		{"dot dot behind a backslash", path, `{"p":"a\\..\\b"}`, "argument p must not contain"},
		{"dot dot made of two arguments", operation30("/a/{p}{q}", ""), `{"p":".","q":"."}`, "must not contain"},
		{"empty label", operation30("/a/{p}", parameter30("path", `"style":"label",`)), `{"p":""}`, "must not contain"},
		{"missing path argument", path, `{}`, "argument p is required"},
		{"null path argument", path, `{"p":null}`, "argument p is required"},
		{"empty list in a path", path, `{"p":[]}`, "argument p is empty"},
		{"CR LF in a header", header, `{"p":"a\r\nX: 1"}`, "argument p contains a control character"},
		{"NUL in a header", header, `{"p":"a\u0000"}`, "argument p contains a control character"},
		{"LF in a header's list", header, `{"p":["a","b\nc"]}`, "argument p contains a control character"},
		{"required query argument", operation30("/a", parameter30("query", `"required":true,`)), `{}`, "argument p is required"},
		{"required body", operation30("/a", `"requestBody":{"required":true,"content":{"application/json":{}}}`), `{}`, "argument body is required"},
		{"form that is no object", operation30("/a", `"requestBody":{"content":{"application/x-www-form-urlencoded":{}}}`), `{"body":1}`, "argument body must be an object"},
		{"binary that is no base64", operation30("/a", `"requestBody":{"content":{"image/png":{}}}`), `{"body":"ü"}`, "argument body is not base64"},
		{"multipart that is no object", operation30("/a", `"requestBody":{"required":true,"content":{"multipart/form-data":{}}}`), `{"body":1}`, "argument body must be an object"},
		{"a file that no folder is allowed for", operation20("/a", `"parameters":[{"name":"f","in":"formData","type":"file"}]`), `{"f":"file:a.txt"}`, "--upload-root"},
		{"a file of another scheme", operation20("/a", `"parameters":[{"name":"f","in":"formData","type":"file"}]`), `{"f":"http://example.com/"}`, "neither base64 nor a data: URI nor file:PATH"},
		{"a data: URI without data", operation20("/a", `"parameters":[{"name":"f","in":"formData","type":"file"}]`), `{"f":"data:text/plain"}`, "without a comma"},
		{"a control character in XML", operation30("/a", `"requestBody":{"content":{"application/xml":{}}}`), `{"body":{"a":"\u0001"}}`, "it contains a control character"},
		{"a member that is not a valid name in XML", operation30("/a", `"requestBody":{"content":{"application/xml":{}}}`), `{"body":{"a b":1}}`, `"a b" is not a valid name`},
		{"a list without a root in XML", operation30("/a", `"requestBody":{"content":{"application/xml":{}}}`), `{"body":[1]}`, "its schema has no xml.wrapped"},
		{"a body of an unknown kind", operation30("/a", `"requestBody":{"content":{"application/x-unknown":{}}}`), `{"body":{}}`, "application/x-unknown is not supported yet"},
		{"arguments that are no object", path, `[]`, "the arguments are not an object"},
		{"arguments that are no JSON", path, `{`, "the arguments are not JSON"},
		{
			"query beyond the bound", operation30("/a", parameter30("query", `"style":"deepObject",`)),
			`{"p":{"` + strings.Repeat("k", 600_000) + `":[1,2,3,4]}}`, "the arguments make the query longer",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent, err := call(t, c.doc, c.args, openapi.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if sent != "" {
				t.Errorf("sent %q", sent)
			}
		})
	}
}
