package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// lists is a document whose operations lead through their pages in every way.
const lists = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},
"components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"key"}}},
"paths":{
 "/link":{"get":{"operationId":"link","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"integer"}}}}}}},
  "post":{"operationId":"change","responses":{"200":{"description":"ok"}}}},
 "/member":{"get":{"operationId":"member","security":[{"key":[]}],"responses":{"200":{"description":"ok"}}}},
 "/elsewhere":{"get":{"operationId":"elsewhere","responses":{"200":{"description":"ok"}}}},
 "/circle":{"get":{"operationId":"circle","responses":{"200":{"description":"ok"}}}},
 "/fails":{"get":{"operationId":"fails","responses":{"200":{"description":"ok"}}}},
 "/cursor":{"get":{"operationId":"cursor","parameters":[{"name":"page[after]","in":"query","schema":{"type":"string"}},{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
 "/offset":{"get":{"operationId":"offset","parameters":[{"name":"skip","in":"query","schema":{"type":"integer"}},{"name":"limit","in":"query","schema":{"type":"integer","default":2}}],"responses":{"200":{"description":"ok"}}}},
 "/page":{"get":{"operationId":"page","parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}}},
 "/deaf":{"get":{"operationId":"deaf","parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}}},
 "/items":{"get":{"operationId":"items","parameters":[{"name":"starting_after","in":"query","schema":{"type":"string"}},{"name":"ending_before","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
 "/hal":{"get":{"operationId":"hal","responses":{"200":{"description":"ok"}}}},
 "/short":{"get":{"operationId":"short","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","maxItems":4}}}}}}},
 "/broken":{"get":{"operationId":"broken","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"integer"}}}}}}}},
 "/none":{"get":{"operationId":"none","parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}}}
}}`

// turning is an upstream of seven numbers in pages of two; it notes what it
// was asked for.
type turning struct {
	mu    sync.Mutex
	asked []string
}

func (u *turning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.asked = append(u.asked, r.Method+" "+r.URL.RequestURI())
	u.mu.Unlock()
	q := r.URL.Query()
	at := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	numbers := []int{0, 1, 2, 3, 4, 5, 6}
	cut := func(from int) []int { return numbers[min(from, 7):min(from+2, 7)] }
	w.Header().Set("Content-Type", "application/json")
	send := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	from := at("from", 0)
	next := fmt.Sprintf("%s?from=%d", r.URL.Path, from+2)
	switch r.URL.Path {
	case "/link", "/short":
		if from+2 < 7 {
			w.Header().Set("Link", `<`+r.URL.Path+`?from=0>; rel="first prev", <`+next+`>; title="a, b"; REL=Next`)
		}
		send(cut(from))
	case "/broken":
		if from+2 < 7 {
			w.Header().Set("Link", `<`+next+`>; rel=next`)
		}
		if from == 4 {
			send([]string{"four"})
			return
		}
		send(cut(from))
	case "/member":
		answer := map[string]any{"count": 7, "results": cut(from), "next": nil}
		if from+2 < 7 {
			answer["next"] = "?from=" + strconv.Itoa(from+2) + "&key=" + url.QueryEscape(q.Get("key"))
		}
		send(answer)
	case "/elsewhere":
		w.Header().Set("Link", `<https://evil.test/elsewhere?from=2>; rel=next`)
		send(cut(from))
	case "/circle":
		w.Header().Set("Link", fmt.Sprintf(`</circle?from=%d>; rel=next`, (from+2)%4))
		send(cut(from))
	case "/fails":
		if from == 4 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Link", `<`+next+`>; rel=next`)
		send(cut(from))
	case "/cursor":
		from := at("page[after]", 0)
		meta := map[string]any{"next_cursor": strconv.Itoa(from + 2)}
		if from+2 >= 7 {
			meta["next_cursor"] = ""
		}
		send(map[string]any{"data": cut(from), "meta": meta, "other": []int{}})
	case "/offset":
		send(map[string]any{"items": cut(at("skip", 0)), "total": 7})
	case "/items":
		from := at("starting_after", -1) + 1
		var list []any
		for _, n := range cut(from) {
			list = append(list, map[string]any{"id": strconv.Itoa(n)})
		}
		send(map[string]any{"object": "list", "url": "/items", "has_more": from+2 < 7, "data": list})
	case "/hal":
		links := map[string]any{"self": map[string]any{"href": r.URL.RequestURI()}}
		if from+2 < 7 {
			links["next"] = map[string]any{"href": next}
		}
		send(map[string]any{"_links": links, "_embedded": map[string]any{"orders": cut(from)}})
	case "/page":
		page := at("page", 1)
		send(map[string]any{"rows": cut(2*page - 2), "has_more": page < 4, "page": page})
	case "/deaf":
		send(cut(0))
	default:
		send(map[string]any{"one": 1})
	}
}

func TestPagesAreFollowed(t *testing.T) {
	var u turning
	upstream := httptest.NewServer(&u)
	defer upstream.Close()
	tests := []struct {
		name, tool, args string
		most             int
		data, pages      string // as JSON
		asked            int
	}{
		{"links in a header", "link", `{}`, 10, `[0,1,2,3,4,5,6]`, `{"read":4,"items":7,"more":false}`, 4},
		{"as many as the operator allows", "link", `{}`, 2, `[0,1,2,3]`, `{"read":2,"items":4,"more":true,"why":"the operator's limit of pages is reached"}`, 2},
		{"not at all", "link", `{}`, 0, `[0,1]`, ``, 1},
		{"links in a member, with the credential once", "member", `{}`, 10, `{"count":7,"next":null,"results":[0,1,2,3,4,5,6]}`, `{"read":4,"items":7,"more":false}`, 4},
		{"a link to another origin", "elsewhere", `{}`, 10, `[0,1]`, `{"read":1,"items":2,"more":true,"why":"the next page is at another origin"}`, 1},
		{"links in a circle", "circle", `{}`, 10, `[0,1,2,3]`, `{"read":2,"items":4,"more":true,"why":"the upstream sent the same page again"}`, 3},
		{"a page that fails", "fails", `{}`, 10, `[0,1,2,3]`, `{"read":2,"items":4,"more":true,"why":"the upstream responded to the request for the next page with status 502"}`, 3},
		{"cursors", "cursor", `{"q":"x"}`, 10, `{"data":[0,1,2,3,4,5,6],"meta":{"next_cursor":""},"other":[]}`, `{"read":4,"items":7,"more":false}`, 4},
		{"offsets and a total", "offset", `{}`, 10, `{"items":[0,1,2,3,4,5,6],"total":7}`, `{"read":4,"items":7,"more":false}`, 4},
		{"numbers of pages", "page", `{}`, 10, `{"has_more":false,"page":4,"rows":[0,1,2,3,4,5,6]}`, `{"read":4,"items":7,"more":false}`, 4},
		{"the id of the last item", "items", `{}`, 10, `{"data":[{"id":"0"},{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"},{"id":"5"},{"id":"6"}],"has_more":false,"object":"list","url":"/items"}`, `{"read":4,"items":7,"more":false}`, 4},
		{"the pages before one that the call names", "items", `{"ending_before":"3"}`, 10, `{"data":[{"id":"0"},{"id":"1"}],"has_more":true,"object":"list","url":"/items"}`, `{"read":1,"items":2,"more":true,"why":"the call selects a page"}`, 1},
		{"links and lists as HAL has them", "hal", `{}`, 10, `{"_embedded":{"orders":[0,1,2,3,4,5,6]},"_links":{"self":{"href":"/hal?from=6"}}}`, `{"read":4,"items":7,"more":false}`, 4},
		{"a page that the call names", "page", `{"page":2}`, 10, `{"has_more":true,"page":2,"rows":[2,3]}`, `{"read":1,"items":2,"more":true,"why":"the call selects a page"}`, 1},
		{"numbers, and nothing that says how many", "deaf", `{}`, 10, `[0,1]`, `{"read":1,"items":2,"more":null,"why":"the response contains neither the number of items nor whether there are more, so argument page is not incremented"}`, 1},
		{"no more than the schema allows", "short", `{}`, 10, `[0,1,2,3]`, `{"read":2,"items":4,"more":true,"why":"the schema's maxItems is reached"}`, 2},
		{"no list", "none", `{}`, 10, `{"one":1}`, ``, 1},
		{"a request that changes something", "change", `{}`, 10, `[0,1]`, ``, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u.asked = nil
			got := callPages(t, upstream, tt.tool, tt.args, tt.most)
			if diff := cmp.Diff(tt.data, string(got.Body)); diff != "" {
				t.Errorf("data, -want +got:\n%s", diff)
			}
			want := ""
			if tt.pages != "" {
				want = `{"tenon/pages":` + tt.pages + `}`
			}
			if diff := cmp.Diff(want, string(got.Meta)); diff != "" {
				t.Errorf("pages, -want +got:\n%s", diff)
			}
			if len(u.asked) != tt.asked {
				t.Errorf("%d requests: %s", len(u.asked), strings.Join(u.asked, ", "))
			}
			for _, a := range u.asked {
				if strings.Count(a, "key=") > 1 || tt.tool == "cursor" && !strings.Contains(a, "q=x") {
					t.Errorf("request %s", a)
				}
			}
		})
	}
}

func callPages(t *testing.T, upstream *httptest.Server, tool, args string, most int) tenon.Response {
	t.Helper()
	offer, err := openapi.Parse("lists", []byte(lists), openapi.Options{
		Client: outward(t, upstream), BaseURL: upstream.URL, FollowPages: most,
		Credentials: map[string]openapi.Credential{"key": {Value: "s3cret"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range offer.Tools {
		if x.Name == tool {
			respond, err := x.Handler(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
			if err != nil {
				t.Fatal(err)
			}
			respond.Body = []byte(strings.TrimSpace(string(respond.Body)))
			return respond
		}
	}
	t.Fatalf("no tool %s", tool)
	return tenon.Response{}
}

// TestTheListOfAllPagesIsChecked holds that what one page breaks is found at
// its place in the whole list, and that the pages are told of beside it.
func TestTheListOfAllPagesIsChecked(t *testing.T) {
	var u turning
	upstream := httptest.NewServer(&u)
	defer upstream.Close()
	offer, err := openapi.Parse("lists", []byte(lists), openapi.Options{Client: outward(t, upstream), BaseURL: upstream.URL, FollowPages: 9, Envelope: tenon.Native})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "l", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "broken", Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"verdict":"violated"`, `"path":"/4"`, `"tenon/pages":{"read":4,"items":6,"more":false}`} {
		if !strings.Contains(string(res.Meta), want) {
			t.Errorf("%s is not in %s", want, res.Meta)
		}
	}
	if got := string(res.Structured); got != `{"result":[0,1,2,3,"four",6]}` {
		t.Errorf("%s", got)
	}
}
