package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// library has features of every kind but tools.
func library() tenon.Features {
	title := func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
		switch {
		case strings.HasSuffix(uri, "/404"):
			return nil, nil
		case strings.HasSuffix(uri, "/500"):
			return nil, errors.New("dial 10.0.0.7: secret")
		case strings.HasSuffix(uri, "/panic"):
			panic("secret")
		}
		return []tenon.Content{{Type: tenon.EmbeddedResource, MediaType: "text/plain", Text: []byte("about " + uri)}}, nil
	}
	complete := func(_ context.Context, variable, value string, known map[string]string) ([]string, error) {
		if value == "many" {
			return make([]string, 101), nil
		}
		return []string{variable + "=" + value + known["other"]}, nil
	}
	return tenon.Features{
		Tools: []tenon.Tool{linker()},
		Resources: []tenon.Resource{
			{URI: "shop://book/1", Title: "A book", MediaType: "text/plain", Size: 7, Read: title},
			{URI: "shop://cover", Name: "cover", Read: func(context.Context, string, *tenon.Call) ([]tenon.Content, error) {
				return []tenon.Content{{Type: tenon.EmbeddedResource, URI: "shop://cover/front", MediaType: "image/png", Data: []byte("\x89PNG")}}, nil
			}},
		},
		ResourceTemplates: []tenon.ResourceTemplate{{URI: "shop://shelf/{shelf}/book/{id}", Name: "book", Read: title, Complete: complete}},
		Prompts: []tenon.Prompt{{
			Name: "praise", Description: "Praises a book", Complete: complete,
			Arguments: []tenon.PromptArgument{{Name: "book", Required: true}, {Name: "tone"}},
			Get: func(_ context.Context, args map[string]string, _ *tenon.Call) ([]tenon.PromptMessage, error) {
				return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte("Praise " + args["book"])}}}, nil
			},
		}},
	}
}

func libraryServer(t *testing.T) *stand {
	return open(t, server.Options{}, gateway.Build([]gateway.Mount{{Features: library()}}, gateway.BuildOptions{}))
}

func TestContent(t *testing.T) {
	s := libraryServer(t)
	for name, c := range map[string]struct{ method, params, want string }{
		"resources":                    {"resources/list", ``, `"resources":[{"uri":"shop://book/1","name":"shop://book/1","title":"A book","mimeType":"text/plain","size":7},{"uri":"shop://cover","name":"cover"}]`},
		"templates":                    {"resources/templates/list", ``, `"resourceTemplates":[{"uriTemplate":"shop://shelf/{shelf}/book/{id}","name":"book"}]`},
		"prompts":                      {"prompts/list", ``, `"prompts":[{"name":"praise","description":"Praises a book","arguments":[{"name":"book","required":true},{"name":"tone","required":false}]}]`},
		"text":                         {"resources/read", `"uri":"shop://book/1"`, `"contents":[{"uri":"shop://book/1","mimeType":"text/plain","text":"about shop://book/1"}]`},
		"binary under its own address": {"resources/read", `"uri":"shop://cover"`, `"contents":[{"uri":"shop://cover/front","mimeType":"image/png","blob":"iVBORw=="}]`},
		"by a template":                {"resources/read", `"uri":"shop://shelf/a/book/b"`, `"text":"about shop://shelf/a/book/b"`},
		"a variable holds no slash":    {"resources/read", `"uri":"shop://shelf/a/b/book/c"`, `"code":-32002`},
		"a variable is not empty":      {"resources/read", `"uri":"shop://shelf//book/c"`, `"code":-32002`},
		"nothing there":                {"resources/read", `"uri":"shop://shelf/a/book/404"`, `"code":-32002`},
		"a failure keeps its cause":    {"resources/read", `"uri":"shop://shelf/a/book/500"`, `"code":-32603,"message":"internal error; see incident`},
		"a panic is a failure":         {"resources/read", `"uri":"shop://shelf/a/book/panic"`, `"code":-32603,"message":"internal error; see incident`},
		"no address":                   {"resources/read", ``, `"code":-32602`},
		"a prompt":                     {"prompts/get", `"name":"praise","arguments":{"book":"Emma"}`, `"description":"Praises a book","messages":[{"role":"user","content":{"type":"text","text":"Praise Emma"}}]`},
		"an argument is missing":       {"prompts/get", `"name":"praise","arguments":{}`, `"code":-32602`},
		"an argument is no string":     {"prompts/get", `"name":"praise","arguments":{"book":1}`, `"code":-32602`},
		"an unknown prompt":            {"prompts/get", `"name":"nobody"`, `"code":-32602`},
		"completion of a prompt":       {"completion/complete", `"ref":{"type":"ref/prompt","name":"praise"},"argument":{"name":"book","value":"E"},"context":{"arguments":{"other":"!"}}`, `"completion":{"values":["book=E!"],"total":1,"hasMore":false}`},
		"completion of a template":     {"completion/complete", `"ref":{"type":"ref/resource","uri":"shop://shelf/{shelf}/book/{id}"},"argument":{"name":"id","value":"1"}`, `"values":["id=1"]`},
		"completion of a resource":     {"completion/complete", `"ref":{"type":"ref/resource","uri":"shop://cover"},"argument":{"name":"id","value":"1"}`, `"values":[],"total":0`},
		"completion is bounded":        {"completion/complete", `"ref":{"type":"ref/prompt","name":"praise"},"argument":{"name":"book","value":"many"}`, `"total":101,"hasMore":true`},
		"completion of nothing":        {"completion/complete", `"ref":{"type":"ref/prompt","name":"nobody"},"argument":{"name":"book","value":""}`, `"code":-32602`},
		"completion without a ref":     {"completion/complete", `"argument":7`, `"code":-32602`},
		"a cursor of another list":     {"prompts/list", `"cursor":"AAAAAAAAAAAAAAAAAAAAAAAAAAA"`, `"code":-32602`},
		"subscription without session": {"resources/subscribe", `"uri":"shop://book/1"`, `"code":-32600`},
		"subscription to nothing":      {"resources/subscribe", `"uri":"shop://nowhere"`, `"code":-32002`},
		"what is declared":             {"initialize", `"protocolVersion":"2025-11-25"`, `"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if problem := missing(s.post(legacyBody(c.method, c.params)).all(), c.want); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func TestContentOf2026(t *testing.T) {
	s := libraryServer(t)
	read := modernBody("resources/read", `"uri":"shop://book/1"`)
	for name, c := range map[string]struct {
		response *response
		status   int
		want     string
	}{
		"a resource":           {s.modern(t.Context(), read, "resources/read", "shop://book/1"), 200, `"ttlMs":0,"cacheScope":"private"`},
		"Mcp-Name is the URI":  {s.modern(t.Context(), read, "resources/read", "shop://book/2"), 400, `"code":-32020`},
		"nothing there":        {s.modern(t.Context(), modernBody("resources/read", `"uri":"shop://x"`), "resources/read", "shop://x"), 200, `"code":-32602,"message":"invalid params: there is no resource \"shop://x\"","data":{"uri":"shop://x"}`},
		"lists say how long":   {s.modern(t.Context(), modernBody("prompts/list", ""), "prompts/list", ""), 200, `"ttlMs":60000,"cacheScope":"public"`},
		"subscribe went away":  {s.modern(t.Context(), modernBody("resources/subscribe", `"uri":"shop://book/1"`), "resources/subscribe", ""), 404, `"code":-32601`},
		"setLevel went away":   {s.modern(t.Context(), modernBody("logging/setLevel", `"level":"info"`), "logging/setLevel", ""), 404, `"code":-32601`},
		"a link is a link":     {s.modern(t.Context(), modernBody("tools/call", `"name":"link"`), "tools/call", "link"), 200, `{"type":"resource_link","uri":"shop://book/1","name":"book"}`},
		"a GET has no meaning": {s.do(t.Context(), http.MethodGet, "", "MCP-Protocol-Version: 2026-07-28", "Mcp-Session-Id: x"), 405, ``},
	} {
		if problem := missing(c.response.all(), c.want); problem != "" || c.response.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, c.response.Status, problem)
		}
	}
}

func TestManyResourcesHavePages(t *testing.T) {
	var o tenon.Features
	for i := range 501 {
		o.Resources = append(o.Resources, tenon.Resource{URI: "x://" + strings.Repeat("y", i+1), Read: library().Resources[0].Read})
	}
	s := open(t, server.Options{}, gateway.Build([]gateway.Mount{{Features: o}}, gateway.BuildOptions{}))
	first := s.post(legacyBody("resources/list", "")).all()
	_, rest, _ := strings.Cut(first, `"nextCursor":"`)
	cursor, _, _ := strings.Cut(rest, `"`)
	second := s.post(legacyBody("resources/list", `"cursor":"`+cursor+`"`)).all()
	if got := [2]int{strings.Count(first, `"uri"`), strings.Count(second, `"uri"`)}; got != [2]int{500, 1} || strings.Contains(second, "nextCursor") {
		t.Errorf("pages of %v", got)
	}
	if problem := missing(s.post(legacyBody("tools/list", `"cursor":"`+cursor+`"`)).all(), `"code":-32602`); problem != "" {
		t.Errorf("a cursor of one list opens another: %s", problem)
	}
}
