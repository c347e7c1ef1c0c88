package openapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

const underscored = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/things/{_key}":{"post":{"operationId":"put","parameters":[
{"name":"_key","in":"path","required":true,"schema":{"type":"string"}},
{"name":"_id","in":"query","schema":{"type":"integer"},"description":"The first"},{"name":"id","in":"query","schema":{"type":"integer"}},
{"name":"_fields","in":"query","schema":{"type":"string"}},{"name":"__confirmed","in":"header","schema":{"type":"string"}},
{"name":"_","in":"query","schema":{"type":"integer"}},{"name":"model_config","in":"query","schema":{"type":"string"}}],
"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Node"}}}},
"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object"}}}}}}}},
"components":{"schemas":{"Node":{"type":"object","required":["__type"],"additionalProperties":false,"properties":{
 "__type":{"type":"string"},"_links":{"type":"array","items":{"$ref":"#/components/schemas/Node"}},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}}`

// TestNamesThatClientsTake: what begins with an underscore, at any depth, is
// published and told under another name and sent under its own, which callers
// may use as well.
func TestNamesThatClientsTake(t *testing.T) {
	var sent string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.URL.RequestURI() + " " + r.Header.Get("__confirmed") + " " + string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	defer upstream.Close()
	for _, envelope := range []tenon.Envelope{tenon.OpenAPIMCP, tenon.Native} {
		offer, err := openapi.Parse("d", []byte(underscored), openapi.Options{Client: upstream.Client(), BaseURL: upstream.URL, Envelope: envelope, Confirm: tenon.ConfirmOff})
		if err != nil {
			t.Fatal(err)
		}
		offer.Tools[0].Fields = true
		g := gateway.New(gateway.Build([]gateway.Mount{{Name: "d", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
		for _, tt := range []struct{ name, args, sent, refused string }{
			{
				"as published", `{"key":"a","id_":1,"id":2,"fields_":"f","confirmed__":"c","underscore":3,"model_config_":"m","body":{"type":"t","links":[{"type":"u","labels":{"type":"x","id":"y"}}]}}`,
				`/things/a?_id=1&id=2&_fields=f&_=3&model_config=m c {"__type":"t","_links":[{"__type":"u","labels":{"type":"x","id":"y"}}]}`, "",
			},
			{
				"as the document has it", `{"_key":"a","_id":1,"_fields":"f","__confirmed":"c","_":3,"body":{"__type":"t"}}`,
				`/things/a?_id=1&_fields=f&_=3 c {"__type":"t"}`, "",
			},
			{"JSON in a string", `{"key":"a","body":"{\"type\":\"t\",\"links\":[]}"}`, `/things/a  {"__type":"t","_links":[]}`, ""},
			{"twice", `{"key":"a","_key":"b","body":{"type":"t"}}`, "", "key and _key, which differ"},
			{"missing", `{"body":{"type":"t","links":[{}]}}`, "", `key: required field missing; body.links.0.type: required field missing`},
			{"wrong", `{"key":"a","id_":"x","body":{"type":1}}`, "", `id_: expected integer, got "x"; body.type: expected string, got 1`},
			{"nearly", `{"key":"a","body":{"type":"t","link":[]}}`, "", `did you mean "body.links"`},
		} {
			sent = ""
			res, err := g.Call(context.Background(), &tenon.Call{Tool: "put", Args: []byte(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			if sent != tt.sent || tt.refused != "" && !strings.Contains(strings.ReplaceAll(string(res.Content[0].Text), `\"`, `"`), tt.refused) {
				t.Errorf("%s, %s: sent %q\n%s", envelope, tt.name, sent, res.Content[0].Text)
			}
		}
		input, _ := g.Catalog().Find("put").Schemas()
		if strings.Contains(string(input), `"_`) || !strings.Contains(string(input), `The first. Its original name is _id.`) {
			t.Errorf("published is %s", input)
		}
	}
}
