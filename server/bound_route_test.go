package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// A proxy reads nothing but the header that repeats an argument; the server
// behind it compares both, so that a call cannot be routed by one value and
// carried out with another.
func TestAProxyRoutesByAnArgument(t *testing.T) {
	upstreams := map[string]*url.URL{}
	for _, region := range []string{"eu", "us"} {
		here := answered("place", "application/json", `{"in":"`+region+`"}`)
		here.Contract = tenon.Contract{Input: []byte(`{"type":"object","properties":{"region":{"$ref":"#/$defs/R"},"other":{"$ref":"#/$defs/R"}},"$defs":{"R":{"type":"string"}}}`)}
		here.ArgumentHeaders = []tenon.ArgumentHeader{{Argument: "region", Header: "Region"}}
		backend := httptest.NewServer(serve(server.Options{}, here))
		defer backend.Close()
		upstreams[region], _ = url.Parse(backend.URL)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstreams[r.In.Header.Get("Mcp-Param-Region")])
	}})
	defer proxy.Close()
	send := func(r *http.Request) string {
		r.RequestURI = ""
		r.URL, _ = url.Parse(proxy.URL + "/mcp")
		r.Host = ""
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	list := postModern("tools/list", "", "")
	list.Header.Set("Mcp-Param-Region", "eu")
	if problem := missing(send(list), `"region":{"type":"string","x-mcp-header":"Region","$ref"`); problem != "" {
		t.Error(problem)
	}
	for _, c := range []struct{ argument, header, want string }{
		{"eu", "eu", `{"in":"eu"}`},
		{"us", "us", `{"in":"us"}`},
		{"us", "eu", `-32020`},
	} {
		call := postModern("tools/call", "place", `"name":"place","arguments":{"region":"`+c.argument+`"}`)
		call.Header.Set("Mcp-Param-Region", c.header)
		if got := strings.ReplaceAll(send(call), `\`, ""); !strings.Contains(got, c.want) {
			t.Errorf("%s by way of %s: %s", c.argument, c.header, got)
		}
	}
}
