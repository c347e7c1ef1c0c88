package openapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

const markedDocument = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/users":{"post":{"operationId":"add",
"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/User"}}}},
"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/User"}}}}}}}},
"components":{"schemas":{
"Id":{"type":"integer","readOnly":true},
"User":{"type":"object","required":["id","name","password"],"properties":{
 "id":{"$ref":"#/components/schemas/Id"},"name":{"type":"string"},"password":{"type":"string","writeOnly":true},
 "home":{"type":"object","properties":{"checked":{"type":"boolean","readOnly":true},"pin":{"type":"integer","writeOnly":true}},"required":["checked","pin"]}},
 "additionalProperties":false},
"Open":{"type":"object","properties":{"id":{"type":"integer","readOnly":true}}}}}}`

// TestReadOnlyAndWriteOnly: what is write-only may come and then has its type,
// or may be missing; what is read-only is not published, and not sent.
func TestReadOnlyAndWriteOnly(t *testing.T) {
	closed := markedDocument
	open := strings.Replace(closed, `"schema":{"$ref":"#/components/schemas/User"}}}},
"responses"`, `"schema":{"$ref":"#/components/schemas/Open"}}}},
"responses"`, 1)
	const fits = `{"id":1,"name":"a"}`
	tests := []struct {
		name, document, body, answer string
		violated                     string // where; empty: nowhere
		refused                      string // what the error says; empty: it is sent
	}{
		{"write-only is missing", closed, `{"name":"a","password":"p"}`, fits, "", ""},
		{"write-only comes", closed, `{"name":"a","password":"p"}`, `{"id":1,"name":"a","password":"p"}`, "", ""},
		{"write-only comes with another type", closed, `{"name":"a","password":"p"}`, `{"id":1,"name":"a","password":7}`, "/password", ""},
		{"further down", closed, `{"name":"a","password":"p","home":{"pin":1}}`, `{"id":1,"name":"a","home":{"checked":true}}`, "", ""},
		{"further down, with another type", closed, `{"name":"a","password":"p"}`, `{"id":1,"name":"a","home":{"checked":true,"pin":"x"}}`, "/home/pin", ""},
		{"read-only is missing in the answer", closed, `{"name":"a","password":"p"}`, `{"name":"a"}`, `member \"id\"`, ""},
		{"read-only is sent", closed, `{"id":1,"name":"a","password":"p"}`, fits, "", "body.id"},
		{"read-only is sent further down", closed, `{"name":"a","password":"p","home":{"pin":1,"checked":true}}`, fits, "", "body.home.checked"},
		{"read-only is sent where anything else may be", open, `{"id":1,"more":2}`, fits, "", "body.id"},
		{"anything else", open, `{"more":2}`, fits, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent := ""
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = string(body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer upstream.Close()
			offer, err := openapi.Parse("d", []byte(tt.document), openapi.Options{Client: upstream.Client(), BaseURL: upstream.URL, Policy: tenon.Enforce, Confirm: tenon.ConfirmOff})
			if err != nil {
				t.Fatal(err)
			}
			g := gateway.New(gateway.Build([]gateway.Mount{{Name: "d", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
			input, output := g.Catalog().Find("add").Schemas()
			if strings.Contains(string(input), `"id"`) || strings.Contains(string(input), "checked") || !strings.Contains(string(output), "password") {
				t.Errorf("published are\n%s\n%s", input, output)
			}
			res, err := g.Call(t.Context(), &tenon.Call{Tool: "add", Args: []byte(`{"body":` + tt.body + `}`)})
			if err != nil {
				t.Fatal(err)
			}
			if tt.refused != "" {
				if sent != "" || !res.IsError || !strings.Contains(string(res.Structured), `"Leave out `+tt.refused+`"`) {
					t.Errorf("sent %q, told %s", sent, res.Structured)
				}
				return
			}
			if sent != tt.body {
				t.Errorf("sent %q: %s", sent, res.Structured)
			}
			if res.IsError != (tt.violated != "") || !strings.Contains(string(res.Meta), tt.violated) {
				t.Errorf("%s %s", res.Structured, res.Meta)
			}
		})
	}
}
