package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const overlaidDocument = `{"openapi":"3.1.0","info":{"title":"a"},"tags":[{"name":"x"}],"paths":{
	"/a":{"get":{"operationId":"one","tags":["x"],"x-internal":true},"post":{"operationId":"two"}},
	"/b":{"get":{"operationId":"three","parameters":[{"name":"n","in":"query"}]}}}}`

func TestOverlay(t *testing.T) {
	for name, c := range map[string]struct{ actions, at, want string }{
		"an object is merged, deeply":           {`{"target":"$","update":{"info":{"version":"1","title":"b"}}}`, "/info", `{"title":"b","version":"1"}`},
		"every place that is selected":          {`{"target":"$.paths.*.get","update":{"deprecated":true}}`, "/paths/~1b/get/deprecated", `true`},
		"an array gets an entry":                {`{"target":"$.tags","update":{"name":"y"}}`, "/tags", `[{"name":"x"},{"name":"y"}]`},
		"arrays inside of a merge are joined":   {`{"target":"$.paths['/a'].get","update":{"tags":["y"]}}`, "/paths/~1a/get/tags", `["x","y"]`},
		"a scalar is replaced":                  {`{"target":"$.info.title","update":"c"}`, "/info/title", `"c"`},
		"a place of another kind is replaced":   {`{"target":"$","update":{"tags":null}}`, "/tags", `null`},
		"removed members leave no comma":        {`{"target":"$.paths[*][?@['x-internal']]","remove":true}`, "/paths/~1a", `{"post":{"operationId":"two"}}`},
		"removed elements":                      {`{"target":"$.paths['/b'].get.parameters[0]","remove":true}`, "/paths/~1b/get/parameters", `[]`},
		"remove counts before update":           {`{"target":"$.tags","remove":true,"update":[]}`, "/tags", ``},
		"what is copied is merged":              {`{"target":"$.paths['/a'].post","copy":"$.paths['/a'].get"}`, "/paths/~1a/post", `{"operationId":"one","tags":["x"],"x-internal":true}`},
		"one action sees what the last one did": {`{"target":"$.info","update":{"x":1}},{"target":"$.info[?@==1]","remove":true}`, "/info", `{"title":"a"}`},
		"places inside of each other":           {`{"target":"$..*[?@.operationId]","update":{"x":1}}`, "/paths/~1a/post", `{"operationId":"two","x":1}`},
		"the root and all below it":             {`{"target":"$..[?@.title]","update":{"y":2}}`, "/info", `{"title":"a","y":2}`},
	} {
		o, err := parseOverlay("o.json", []byte(`{"overlay":"1.1.0","info":{"title":"t","version":"1"},"actions":[`+c.actions+`]}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, diagnostics, err := applyOverlays("api.json", []byte(overlaidDocument), []overlay{o})
		if err != nil || len(diagnostics) > 0 {
			t.Errorf("%s: %v, %v", name, diagnostics, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(f.Doc.Raw(f.Doc.Pointer(c.at)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOverlayLeavesTheRestAsItIs(t *testing.T) {
	o, err := parseOverlay("o.yaml", []byte("overlay: 1.0.0\nactions:\n- target: $.info\n  update: {a: 12345678901234567890, b: 1.0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := applyOverlays("api.json", []byte(overlaidDocument), []overlay{o})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(overlaidDocument, `{"title":"a"}`, `{"title":"a","a":12345678901234567890,"b":1.0}`, 1)
	a, _ := rawjson.AppendCompact(nil, f.Doc.Source())
	b, _ := rawjson.AppendCompact(nil, []byte(want))
	if diff := cmp.Diff(string(b), string(a)); diff != "" {
		t.Error(diff)
	}
}

func TestOverlayTellsWhatItDoesNotFind(t *testing.T) {
	text := "overlay: 1.0.0\nactions:\n- target: $.nothing\n  remove: true\n- target: $.info\n- target: $.info\n  copy: $.paths.*\n"
	o, err := parseOverlay("o.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, diagnostics, err := applyOverlays("api.json", []byte(overlaidDocument), []overlay{o})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range diagnostics {
		got = append(got, f.String())
	}
	want := []string{
		"o.yaml:3: the target $.nothing selects nothing",
		"o.yaml:5: the action has neither update nor remove nor copy",
		"o.yaml:6: copy $.paths.* selects 2 places, not one",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOverlaysThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"openapi":"3.1.0"}`:                                     `o.json:1: not an overlay of version 1.0 or 1.1`,
		`{"overlay":"2.0.0"}`:                                     `is "2.0.0"`,
		`{"overlay":"1.0.0"}`:                                     `1 to 1000 actions`,
		`{"overlay":"1.0.0","actions":[]}`:                        `1 to 1000 actions`,
		"{\"overlay\":\"1.0.0\",\"actions\":[\n{\"update\":{}}]}": `o.json:2: the action has no target`,
		`{"overlay":"1.0.0","actions":[{"target":"paths"}]}`:      `a query begins with "$"`,
		`nope: [`: `not YAML`,
	} {
		if _, err := parseOverlay("o.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	o, err := parseOverlay("o.json", []byte(`{"overlay":"1.0.0","actions":[{"target":"$","remove":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := applyOverlays("api.json", []byte(overlaidDocument), []overlay{o}); err == nil {
		t.Error("the whole document may be removed")
	}
}

// FuzzOverlay: whatever an overlay does to a document, it stays JSON.
func FuzzOverlay(f *testing.F) {
	f.Add(`{"target":"$..[?@.a]","update":{"a":[1]}}`, `{"a":{"a":[1,{"a":null}]}}`)
	f.Add(`{"target":"$.*","remove":true}`, `{"a":1,"b":[2]}`)
	f.Add(`{"target":"$..*","copy":"$.a"}`, `{"a":{"b":[]}}`)
	f.Fuzz(func(t *testing.T, actions, document string) {
		if len(document) > 300 || len(actions) > 200 {
			return
		}
		doc, err := rawjson.Parse([]byte(document))
		if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
			return
		}
		o, err := parseOverlay("o.json", []byte(`{"overlay":"1.1.0","actions":[`+actions+`]}`))
		if err != nil {
			return
		}
		raw, _, err := o.apply([]byte(document))
		if err != nil {
			return
		}
		if _, err := rawjson.Parse(raw); err != nil {
			t.Fatalf("%s makes %s of %s: %v", actions, raw, document, err)
		}
	})
}
