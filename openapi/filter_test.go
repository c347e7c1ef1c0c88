package openapi_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

const filtered = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"x-own":{"kept":1},
"tags":[{"name":"pets"},{"name":"shops"}],"security":[{"root":[]}],
"paths":{
"/pets":{"parameters":[{"$ref":"#/components/parameters/page"}],
 "get":{"operationId":"listPets","tags":["pets"],"security":[{"pet":[]}],"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}},
  "links":{"next":{"operationId":"listPets"},"shop":{"operationId":"listShops"}}}}},
 "post":{"operationId":"addPet","tags":["pets"],"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/paths/~1shops/get/responses/200/content/application~1json/schema"}}}}}}},
"/shops":{"get":{"operationId":"listShops","tags":["shops"],"security":[{"shop":[]}],"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Shop"}}}}}}}},
"/cats":{"$ref":"#/components/pathItems/cats"}},
"webhooks":{"sold":{"post":{"responses":{"200":{"description":"d"}}}}},
"components":{"schemas":{
 "Pet":{"oneOf":[{"type":"object"}],"discriminator":{"propertyName":"kind","mapping":{"cat":"Cat","dog":"#/components/schemas/Dog"}}},
 "Cat":{"properties":{"links":{"type":"array","items":{"$ref":"#/components/schemas/Link"}}}},"Dog":{},"Link":{"type":"object","properties":{"links":{"$ref":"#/components/schemas/Link"}}},
 "Shop":{"properties":{"owner":{"$ref":"#/components/schemas/Owner"}}},"Owner":{},"Nobody":{}},
 "parameters":{"page":{"name":"page","in":"query","schema":{"type":"integer"}}},
 "pathItems":{"cats":{"get":{"operationId":"listCats","responses":{"200":{"description":"d"}}},"delete":{"operationId":"dropCats","responses":{"200":{"description":"d"}}}}},
 "securitySchemes":{"root":{"type":"http","scheme":"basic"},"pet":{"type":"http","scheme":"bearer"},"shop":{"type":"http","scheme":"bearer"}}}}`

func filter(t *testing.T, doc []byte, c openapi.Selection) *openapi.Filtered {
	t.Helper()
	name := t.TempDir() + "/doc.json"
	if err := os.WriteFile(name, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openapi.New(name, openapi.Options{Selection: c}).Filter(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		name       string
		choice     openapi.Selection
		has, hasNo []string
	}{
		{
			"without a choice only what nothing needs goes",
			openapi.Selection{},
			[]string{`"listShops"`, `"dropCats"`, `"webhooks"`, `"x-own":{"kept":1}`, `"Cat":{`, `"$ref":"#/components/pathItems/cats"`},
			[]string{`"Nobody"`},
		},
		{
			"one operation with what it needs",
			openapi.Selection{Include: []string{"listPets"}},
			[]string{`"/pets":{"parameters":[{"$ref":"#/components/parameters/page"}],"get"`, `"Cat":{"properties":{"links":`, `"Dog"`, `"Link"`, `"root":{`, `"pet":{`, `{"name":"pets"}`, `"links":{"next":{"operationId":"listPets"}}`},
			[]string{`"post"`, `/shops`, `"Shop"`, `"Owner"`, `"shop"`, `shops`, `webhooks`, `pathItems`, `/cats`},
		},
		{
			"a reference into what is gone",
			openapi.Selection{Include: []string{"addPet"}},
			[]string{`"schema":{"type":"array","items":{"$ref":"#/components/schemas/Shop"}}`, `"Owner"`},
			[]string{`/shops`, `"Pet"`},
		},
		{
			"a part of a shared path item",
			openapi.Selection{Include: []string{"listCats"}},
			[]string{`"/cats":{"get":{"operationId":"listCats"`},
			[]string{`dropCats`, `pathItems`, `"tags"`},
		},
		{
			"nothing that changes something",
			openapi.Selection{ReadOnly: true},
			[]string{`"listShops"`, `"/cats":{"get"`},
			[]string{`addPet`, `dropCats`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := filter(t, []byte(filtered), tt.choice)
			for _, want := range tt.has {
				if !bytes.Contains(f.JSON, []byte(want)) {
					t.Errorf("%s is not there", want)
				}
			}
			for _, not := range tt.hasNo {
				if bytes.Contains(f.JSON, []byte(not)) {
					t.Errorf("%s is there", not)
				}
			}
			if t.Failed() {
				t.Logf("%s", f.JSON)
			}
			checkReduced(t, []byte(filtered), f.JSON, tt.choice)
		})
	}
}

// checkReduced: the reduced document is valid, nothing in it is unneeded, and
// its tools are those that the choice makes of the whole one.
func checkReduced(t *testing.T, whole, reduced []byte, c openapi.Selection) {
	t.Helper()
	r, err := openapi.Review("reduced.json", reduced, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Issues {
		if i.Severity == openapi.SeverityError && i.Rule != "path" || i.Rule == "unused" {
			t.Errorf("the reduced document: %s", i)
		}
	}
	if diff := cmp.Diff(definitions(t, whole, c), definitions(t, reduced, openapi.Selection{})); diff != "" {
		t.Errorf("tools (-of the whole +of the reduced):\n%s", diff)
	}
}

func definitions(t *testing.T, doc []byte, c openapi.Selection) []string {
	t.Helper()
	offer, err := openapi.Parse("doc.json", doc, openapi.Options{Selection: c})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range gateway.Build([]gateway.Mount{{Name: "d", Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOff}).Tools() {
		all = append(all, string(e.Definition()))
	}
	return all
}

func TestFilterGitHub(t *testing.T) {
	_, raw := github(t)
	for _, rule := range []string{"tag:issues", "method:DELETE", "path:/gists/**"} {
		c := openapi.Selection{Include: []string{rule}}
		f := filter(t, raw, c)
		if f.Operations == 0 || f.Components == 0 || len(f.JSON) > len(raw)/10 {
			t.Errorf("%s: %d operations, %d components, %d bytes", rule, f.Operations, f.Components, len(f.JSON))
		}
		checkReduced(t, raw, f.JSON, c)
	}
}

func TestFilterSays(t *testing.T) {
	f := filter(t, []byte(filtered), openapi.Selection{Include: []string{"listPets", "listDogs"}})
	if len(f.Diagnostics) != 1 || !strings.Contains(f.Diagnostics[0].Message, `listDogs`) {
		t.Errorf("diagnostics: %v", f.Diagnostics)
	}
	if f.Operations != 1 || f.TotalOperations != 5 {
		t.Errorf("%d of %d operations, want 1 of 5", f.Operations, f.TotalOperations)
	}
}
