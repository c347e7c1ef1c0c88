package openapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi"
)

func operation31(content string) string {
	return strings.Replace(operation30("/a", `"requestBody":{"content":{`+content+`}}`), `"3.0.3"`, `"3.1.0"`, 1)
}

// sentBody is what a call sends behind its headers, and its Content-Type.
func sentBody(t *testing.T, doc, args string) (media, body string) {
	t.Helper()
	sent, err := call(t, doc, args, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(sent, "\r\n\r\n")
	_, media, _ = strings.Cut(head, "Content-Type: ")
	media, _, _ = strings.Cut(media, "\r\n")
	return media, body
}

// TestRawXML: a string is the document itself where the schema describes no
// members.
func TestRawXML(t *testing.T) {
	const soap = `<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Body/></soap:Envelope>`
	plain := strings.ReplaceAll(soap, `\"`, `"`)
	for _, tt := range []struct{ name, content, argument, want string }{
		{"a string", `"text/xml":{"schema":{"type":"string"}}`, `"` + soap + `"`, plain},
		{"nothing said", `"application/soap+xml":{"schema":{}}`, `"` + soap + `"`, plain},
		{"no schema", `"application/xml":{}`, `"` + soap + `"`, plain},
		{"no markup", `"application/xml":{"schema":{"type":"string"}}`, `"a & b"`, "a & b"},
		{"a string with a name of its own", `"application/xml":{"schema":{"type":"string","xml":{"name":"note"}}}`, `"a & b"`, `<?xml version="1.0" encoding="UTF-8"?>` + "\n<note>a &amp; b</note>"},
		{"an object is still written", `"application/xml":{"schema":{}}`, `{"a":1}`, `<?xml version="1.0" encoding="UTF-8"?>` + "\n<root><a>1</a></root>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, body := sentBody(t, operation31(tt.content), `{"body":`+tt.argument+`}`)
			if diff := cmp.Diff(tt.want, body); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPartsWithoutASchema: since 3.1 a part whose schema says nothing is bytes.
func TestPartsWithoutASchema(t *testing.T) {
	form := func(properties, encoding string) string {
		return operation31(`"multipart/form-data":{"schema":{"type":"object","properties":{` + properties + `}},"encoding":{` + encoding + `}}`)
	}
	const bytes = "Content-Type: image/png\r\n\r\n\x00\xff\r\n"
	for _, tt := range []struct{ name, doc, argument, want string }{
		{"an empty schema", form(`"f":{}`, ""), `"data:image/png;base64,AP8="`, bytes},
		{"one that only describes", form(`"f":{"description":"a picture","x-y":1}`, ""), `"data:image/png;base64,AP8="`, bytes},
		{"true", form(`"f":true`, ""), `"data:image/png;base64,AP8="`, bytes},
		{"items", form(`"f":{"type":"array","items":{}}`, ""), `["data:image/png;base64,AP8=","data:image/png;base64,AP8="]`, bytes},
		{"an object is JSON all the same", form(`"f":{}`, ""), `{"a":1}`, "Content-Type: application/json\r\n\r\n{\"a\":1}\r\n"},
		{"a type is no file", form(`"f":{"type":"string"}`, ""), `"data:image/png;base64,AP8="`, "\r\n\r\ndata:image/png;base64,AP8=\r\n"},
		{"a Content-Type of text is no file", form(`"f":{}`, `"f":{"contentType":"text/plain"}`), `"data:,x"`, "Content-Type: text/plain\r\n\r\ndata:,x\r\n"},
		{"3.0 has no such rule", strings.Replace(form(`"f":{}`, ""), "3.1.0", "3.0.3", 1), `"data:,x"`, "\r\n\r\ndata:,x\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, body := sentBody(t, tt.doc, `{"body":{"f":`+tt.argument+`}}`)
			if n := strings.Count(body, tt.want); n == 0 || strings.HasPrefix(tt.argument, "[") && n != 2 {
				t.Errorf("%q", body)
			}
		})
	}
	media, body := sentBody(t, operation31(`"*/*":{"schema":{"type":"string","format":"binary"}}`), `{"body":"data:image/png;base64,AP8="}`)
	if media != "image/png" || body != "\x00\xff" {
		t.Errorf("a range: %s %q", media, body)
	}
}

// TestBodiesThatCannotBeMade are known when the document is read.
func TestBodiesThatCannotBeMade(t *testing.T) {
	ndjson := func(members string) string {
		return operation30("/a", `"requestBody":{`+members+`"content":{"application/x-ndjson":{"schema":{"type":"object"}}}}`)
	}
	for _, tt := range []struct {
		name, doc string
		offered   bool
		says      string
	}{
		{"required", ndjson(`"required":true,`), false, "operation POST /a is skipped: its request body is required, and bodies of type application/x-ndjson are not supported"},
		{"optional", ndjson(``), true, "operation POST /a is served without its request body: bodies of type application/x-ndjson are not supported"},
		{"2.0", operation20("/a", `"consumes":["application/x-ndjson"],"parameters":[{"name":"b","in":"body","required":true,"schema":{"type":"object"}}]`), false, "is skipped"},
		{"beside JSON", operation30("/a", `"requestBody":{"required":true,"content":{"application/x-ndjson":{},"application/json":{}}}`), true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			offer, err := openapi.Parse("d", []byte(tt.doc), openapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			told := ""
			for _, f := range offer.Diagnostics {
				told += f.Message + "\n"
			}
			if len(offer.Tools) == 1 != tt.offered || !strings.Contains(told, tt.says) || tt.says == "" && told != "" {
				t.Errorf("%d tools, %s", len(offer.Tools), told)
			}
			if tt.offered && tt.says != "" {
				if c, err := offer.Tools[0].Contract.Contract(); err != nil || strings.Contains(string(c.Input), `"body"`) {
					t.Errorf("%s %v", c.Input, err)
				}
			}
		})
	}
}
