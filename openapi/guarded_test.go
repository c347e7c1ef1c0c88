package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// sentRequest keeps the last request.
type sentRequest struct {
	req  *http.Request
	body string
}

func (s *sentRequest) RoundTrip(r *http.Request) (*http.Response, error) {
	s.req, s.body = r, ""
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		s.body = string(b)
	}
	return respond(r, http.StatusOK, `{}`), nil
}

const free = `"schema":{"type":"object","additionalProperties":true}`

// guardedDoc has operations whose arguments become names, and two credentials.
const guardedDoc = `{"openapi":"3.2.0","servers":[{"url":"https://api.test"}],
"components":{"securitySchemes":{"q":{"type":"apiKey","in":"query","name":"api_key"},"c":{"type":"apiKey","in":"cookie","name":"sid"},"h":{"type":"apiKey","in":"header","name":"X-Api-Key"}}},
"security":[{"q":[],"c":[],"h":[]}],"paths":{
"/exploded":{"get":{"operationId":"exploded","parameters":[{"name":"owner","in":"query","schema":{"type":"string"}},{"name":"rest","in":"query",` + free + `}]}},
"/reserved":{"get":{"operationId":"reserved","parameters":[{"name":"owner","in":"query","schema":{"type":"string"}},{"name":"rest","in":"query","allowReserved":true,` + free + `}]}},
"/deep":{"get":{"operationId":"deep","parameters":[{"name":"filter[owner]","in":"query","schema":{"type":"string"}},{"name":"filter","in":"query","style":"deepObject",` + free + `}]}},
"/whole":{"get":{"operationId":"whole","parameters":[{"name":"rest","in":"querystring","content":{"application/x-www-form-urlencoded":{"schema":{}}}}]}},
"/literal?action=list":{"get":{"operationId":"literal","parameters":[{"name":"rest","in":"query",` + free + `}]}},
"/cookie":{"get":{"operationId":"cookie","parameters":[{"name":"Cookie","in":"header","schema":{"type":"string"}},{"name":"role","in":"cookie","schema":{"type":"string"}},{"name":"rest","in":"cookie",` + free + `}]}},
"/matrix{owner}/{rest}":{"get":{"operationId":"matrix","parameters":[{"name":"owner","in":"path","required":true,"style":"matrix","schema":{"type":"string"}},{"name":"rest","in":"path","required":true,"style":"matrix","explode":true,` + free + `}]}},
"/form":{"post":{"operationId":"form","parameters":[{"name":"owner","in":"query","schema":{"type":"string"}}],"requestBody":{"content":{"application/x-www-form-urlencoded":{` + free + `}}}}},
"/parts":{"post":{"operationId":"parts","parameters":[{"name":"owner","in":"query","schema":{"type":"string"}}],"requestBody":{"content":{"multipart/form-data":{` + free + `}}}}},
"/others":{"get":{"operationId":"others","parameters":[{"name":"owner","in":"query","schema":{"type":"string"}},{"name":"OWNER","in":"query","schema":{"type":"string"}},{"name":"owner[]","in":"query","schema":{"type":"string"}},
 {"name":"Api_Key","in":"query","schema":{"type":"string"}},{"name":"X_Api_Key","in":"header","schema":{"type":"string"}},{"name":"SID","in":"cookie","schema":{"type":"string"}},
 {"name":"X-HTTP-Method-Override","in":"header","schema":{"type":"string"}},{"name":"Transfer_Encoding","in":"header","schema":{"type":"string"}}]}}
}}`

func guardedGateway(t testing.TB, way http.RoundTripper) *gateway.Gateway {
	t.Helper()
	me := json.RawMessage(`"me"`)
	fix := func(operations, name string) openapi.OperationOverride {
		return openapi.OperationOverride{Operations: operations, Parameters: []openapi.ParameterOverride{{Name: name, Const: me}}}
	}
	offer, err := openapi.Parse("doc.json", []byte(guardedDoc), openapi.Options{
		Client: &http.Client{Transport: way}, Confirm: tenon.ConfirmOff,
		Credentials: map[string]openapi.Credential{"q": {Value: "secret-q"}, "c": {Value: "secret-c"}, "h": {Value: "secret-h"}},
		Overrides:   []openapi.OperationOverride{fix("", "owner"), fix("deep", "filter[owner]"), fix("cookie", "role")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return gateway.New(gateway.Build([]gateway.Mount{{Name: "doc", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
}

func TestNoNameIsWrittenTwice(t *testing.T) {
	var way sentRequest
	g := guardedGateway(t, &way)
	spellings := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, n, strings.ToUpper(n), n+"[]", n+"[0]", n+"[x][y]", n+"%5B%5D", " "+n, n+" ", n+"\x00x", n+".x", strings.Replace(n, "_", ".", 1), "%"+fmt.Sprintf("%x", n[0])+n[1:], n+"\t")
		}
		return all
	}
	member := func(name string) string {
		b, _ := json.Marshal(map[string]string{name: "other"})
		return string(b)
	}
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	refused := map[string][]string{}
	for _, n := range spellings("owner", "api_key") {
		for _, tool := range []string{"exploded", "reserved"} {
			refused[tool] = append(refused[tool], `{"rest":`+member(n)+`}`)
		}
		for _, tool := range []string{"form", "parts"} {
			refused[tool] = append(refused[tool], `{"body":`+member(n)+`}`)
		}
		refused["matrix"] = append(refused["matrix"], `{"rest":`+member(n)+`}`)
	}
	for _, n := range spellings("api_key") {
		refused["whole"] = append(refused["whole"], `{"rest":`+member(n)+`}`)
	}
	for _, n := range spellings("action", "api_key") {
		refused["literal"] = append(refused["literal"], `{"rest":`+member(n)+`}`)
	}
	for _, n := range spellings("sid", "role") {
		refused["cookie"] = append(refused["cookie"], `{"rest":`+member(n)+`}`)
		if !strings.ContainsAny(n, "\x00\t") {
			refused["cookie"] = append(refused["cookie"], `{"Cookie":`+text("a=1; "+n+"=2")+`}`, `{"Cookie":`+text("a=1,"+n+"=2")+`}`, `{"Cookie":`+text(n+`="x"`)+`}`)
		}
	}
	refused["deep"] = []string{`{"filter":{"owner":"x"}}`, `{"filter":{"OWNER":"x"}}`, `{"filter":{"owner":["x"]}}`, `{"filter":{"owner]":"x"}}`, `{"filter":{"":{"owner":"x"}}}`, `{"filter":{"owner":{"a":"x"}}}`}
	for tool, all := range refused {
		for _, args := range all {
			way.req = nil
			res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
			if err != nil || !res.IsError || way.req != nil || !strings.Contains(res.Message, "set by the operator") && !strings.Contains(res.Message, "control character") {
				t.Errorf("%s %s: %v %s", tool, args, err, res.Structured)
			}
		}
	}
	for tool, args := range map[string]string{
		"exploded": `{"rest":{"owners":"x","api_key_id":"1","page":2}}`, "reserved": `{"rest":{"a":"owner"}}`, "deep": `{"filter":{"name":"x"}}`, "whole": `{"rest":"a=1&api_key=2"}`,
		"literal": `{"rest":{"b":1}}`, "cookie": `{"rest":{"a":"1"},"Cookie":"lang=en"}`, "matrix": `{"rest":{"a":"1"}}`, "form": `{"body":{"a":"owner"}}`, "parts": `{"body":{"a":"owner"}}`, "others": `{}`,
	} {
		way.req = nil
		res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
		if err != nil || res.IsError || way.req == nil {
			t.Errorf("%s %s is no other name: %v %s", tool, args, err, res.Structured)
			continue
		}
		if got := way.req.URL.Query()["api_key"]; len(got) != 1 || got[0] != "secret-q" {
			t.Errorf("%s: api_key %q", tool, got)
		}
	}
	input, _ := g.Catalog().Find("others").Schemas()
	if strings.Contains(string(input), "wner") || strings.Contains(string(input), "OWNER") || strings.Contains(strings.ToLower(string(input)), "key") || strings.Contains(string(input), "SID") || strings.Contains(string(input), "Override") {
		t.Errorf("other spellings are no arguments: %s", input)
	}
}

// FuzzNoNameIsWrittenTwice holds that no member of a free-form object changes
// what a service reads under the names of the operator.
func FuzzNoNameIsWrittenTwice(f *testing.F) {
	for _, s := range []string{"owner", "OWNER", "owner[]", "a&owner", "a;owner", "%6fwner", "own\x00er", "a=1&api_key"} {
		f.Add(s, s)
	}
	var way sentRequest
	g := guardedGateway(f, &way)
	f.Fuzz(func(t *testing.T, name, value string) {
		args, err := json.Marshal(map[string]any{"rest": map[string]string{name: value}})
		if err != nil {
			return
		}
		for _, tool := range []string{"exploded", "reserved"} {
			way.req = nil
			if _, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: args}); err != nil || way.req == nil {
				continue
			}
			for _, pair := range strings.FieldsFunc(way.req.URL.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
				key, _, _ := strings.Cut(pair, "=")
				key, _ = url.QueryUnescape(key)
				key, _, _ = strings.Cut(strings.ToLower(key), "[")
				if (key == "owner" && pair != "owner=me") || (key == "api_key" && pair != "api_key=secret-q") {
					t.Fatalf("%q: %s", args, way.req.URL.RawQuery)
				}
			}
		}
	})
}

// TestNoStyleWritesAGuardedName: in no location can the members of an object stand
// for a parameter of the operator, whatever separates them.
func TestNoStyleWritesAGuardedName(t *testing.T) {
	tried := 0
	for place, in := range map[string]encode.Location{"path": encode.InPath, "query": encode.InQuery, "cookie": encode.InCookie} {
		for _, name := range encode.StyleNames() {
			style, ok := encode.StyleOf(name, in)
			if !ok || style.Deep { // deepObject writes rest[owner]
				continue
			}
			tried++
			param := func(p, schema string) string {
				return `{"name":"` + p + `","in":"` + place + `","required":true,"style":"` + name + `","explode":true,"schema":` + schema + `}`
			}
			path := "/x"
			if in == encode.InPath {
				path = "/x/{owner}/{rest}"
			}
			doc := `{"openapi":"3.2.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.example"}],"paths":{"` + path + `":{"get":{"operationId":"get","parameters":[` +
				param("owner", `{"type":"string"}`) + `,` + param("rest", `{"type":"object"}`) + `],"responses":{"200":{"description":""}}}}}}`
			var way sentRequest
			fixed := openapi.OperationOverride{Parameters: []openapi.ParameterOverride{{Name: "owner", Const: json.RawMessage(`"me"`)}}}
			offer, err := openapi.Parse("doc.json", []byte(doc), openapi.Options{Client: &http.Client{Transport: &way}, Overrides: []openapi.OperationOverride{fixed}})
			if err != nil {
				t.Fatal(err)
			}
			for member, refused := range map[string]bool{"owner": true, "other": false} {
				way.req = nil
				_, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{Tool: "get", Args: []byte(`{"rest":{"a":"1","` + member + `":"you"}}`)})
				if refused != (tenon.CodeOf(err) == tenon.CodeValidation) || refused != (way.req == nil) {
					t.Errorf("%s in %s, member %s: %v", name, place, member, err)
				}
			}
		}
	}
	if tried < 6 {
		t.Errorf("only %d styles were tried", tried)
	}
}
