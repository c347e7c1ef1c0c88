package openapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

const shop = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{
"/pets/{id}":{"get":{"operationId":"getPet","summary":"Get a pet","parameters":[
 {"name":"id","in":"path","required":true,"schema":{"type":"integer"}},{"name":"key","in":"query","required":true,"schema":{"type":"string"}},{"name":"full","in":"query","schema":{"type":"boolean"}}],
 "responses":{"200":{"description":"d"}}},
"post":{"operationId":"findPets","x-mcp-safe":true,"x-mcp-title":"Find","x-mcp-name":"search","x-mcp-open-world":false,"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
 "requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}},"responses":{"200":{"description":"d"}}},
"delete":{"operationId":"dropPet","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],"responses":{"200":{"description":"d"}}}}}}`

func offered(t *testing.T, changes ...openapi.OperationOverride) map[string]tenon.Tool {
	t.Helper()
	offer, err := openapi.Parse("shop.json", []byte(shop), openapi.Options{Overrides: changes, TrustMarks: true})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tenon.Tool{}
	for _, tool := range offer.Tools {
		all[tool.Name] = tool
	}
	return all
}

func TestChangesOfOperations(t *testing.T) {
	yes, no := true, false
	plain := offered(t)
	if tool := plain["search"]; tool.Title != "Find" || tool.Annotations.ReadOnly == nil || tool.Annotations.OpenWorld == nil || *tool.Annotations.OpenWorld || tool.Confirmation.Action != "" {
		t.Errorf("the document's own words: %+v", tool)
	}
	tools := offered(t,
		openapi.OperationOverride{Operations: "getPet", Name: "pet", Description: "One pet.", Title: "Pet", Safe: &no},
		openapi.OperationOverride{Operations: "method:DELETE", Destructive: &no, Idempotent: &no, OpenWorld: &yes},
		openapi.OperationOverride{Operations: "findPets", Safe: &no, Name: "find"})
	pet, drop, find := tools["pet"], tools["dropPet"], tools["find"]
	if pet.Description != "One pet." || pet.Title != "Pet" || pet.Annotations.ReadOnly != nil || pet.Confirmation.Action == "" {
		t.Errorf("an operation that was renamed, described and marked unsafe: %+v", pet)
	}
	if drop.Annotations.Destructive == nil || *drop.Annotations.Destructive || drop.Annotations.Idempotent != nil || drop.Annotations.OpenWorld == nil {
		t.Errorf("annotations: %+v", drop.Annotations)
	}
	if find.Confirmation.Action == "" || find.Annotations.ReadOnly != nil {
		t.Errorf("the operator's word counts more than the document's: %+v", find)
	}
}

func TestChangesOfParameters(t *testing.T) {
	var got string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		w.WriteHeader(http.StatusOK)
	}))
	defer upstream.Close()
	offer, err := openapi.Parse("shop.json", []byte(shop), openapi.Options{Client: upstream.Client(), BaseURL: upstream.URL, TrustMarks: true, Overrides: []openapi.OperationOverride{
		{Parameters: []openapi.ParameterOverride{{Name: "id", Rename: "pet", Description: "its number"}}},
		{Operations: "getPet", Parameters: []openapi.ParameterOverride{{Name: "key", Const: json.RawMessage(`"a b&c"`)}, {Name: "full", Hide: true}}},
		{Operations: "findPets", Parameters: []openapi.ParameterOverride{{Name: "body", Const: json.RawMessage(`{"kind":"cat"}`)}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "shop", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	input, _ := g.Catalog().Find("getPet").Schemas()
	want := `{"type":"object","properties":{"pet":{"description":"its number","type":"integer"}},"required":["pet"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(input)); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ name, tool, args, want string }{
		{"a value that is fixed", "getPet", `{"pet":7}`, "GET /pets/7?key=a%20b%26c "},
		{"a body that is fixed", "search", `{"pet":7}`, `POST /pets/7 {"kind":"cat"}`},
		{"the caller cannot say what is fixed", "getPet", `{"pet":7,"key":"mine"}`, ""},
		{"nor what is hidden", "getPet", `{"pet":7,"full":true}`, ""},
		{"nor the old name", "getPet", `{"id":7}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got = ""
			res, err := g.Call(context.Background(), &tenon.Call{Tool: tt.tool, Args: []byte(tt.args)})
			if err != nil || res.IsError != (tt.want == "") {
				t.Fatalf("%v %s", err, res.Structured)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesThatReachNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change openapi.OperationOverride
		want   string
	}{
		{"a rule that matches nothing", openapi.OperationOverride{Operations: "getDog"}, `the override of "getDog" matches no operation`},
		{"a rule that is none", openapi.OperationOverride{Operations: "/[/"}, `not a regular expression`},
		{"a parameter that is not there", openapi.OperationOverride{Operations: "getPet", Parameters: []openapi.ParameterOverride{{Name: "key"}, {Name: "kee", Hide: true}}}, `has the parameter kee`},
		{"a value that is not JSON", openapi.OperationOverride{Parameters: []openapi.ParameterOverride{{Name: "id", Const: json.RawMessage(`{`)}}}, `is not JSON`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openapi.Parse("shop.json", []byte(shop), openapi.Options{Overrides: []openapi.OperationOverride{tt.change}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestRequiredCannotBeHidden(t *testing.T) {
	offer, err := openapi.Parse("shop.json", []byte(shop), openapi.Options{Overrides: []openapi.OperationOverride{{Operations: "getPet", Parameters: []openapi.ParameterOverride{{Name: "key", Hide: true}}}}})
	if err != nil {
		t.Fatal(err)
	}
	e := gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{}).Find("getPet")
	if input, _ := e.Schemas(); !strings.Contains(string(input), `"key"`) {
		t.Errorf("the argument is gone: %s", input)
	}
	if diagnostics := e.Diagnostics(); len(diagnostics) == 0 || !strings.Contains(diagnostics[0].Message, "set a fixed value") {
		t.Errorf("nobody says so: %v", diagnostics)
	}
}
