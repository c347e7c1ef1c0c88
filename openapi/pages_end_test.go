package openapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// script answers one request after the other; the last answer again and again.
// An answer may begin with lines of a header.
type script struct {
	answers []string
	asked   []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	text := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, r.URL.RequestURI())
	header := http.Header{"Content-Type": {"application/json"}}
	for {
		line, rest, found := strings.Cut(text, "\n")
		name, value, _ := strings.Cut(line, ": ")
		if !found {
			break
		}
		header.Add(name, value)
		text = rest
	}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(text)), ContentLength: -1, Request: r}, nil
}

func followed(t *testing.T, params string, s *script, args string) (tenon.Response, []tenon.Diagnostic) {
	t.Helper()
	doc := fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://u.test"}],`+
		`"components":{"schemas":{"Count":{"type":"integer"}}},`+
		`"paths":{"/a":{"get":{"operationId":"a","parameters":[%s],"responses":{"200":{"description":"ok"}}}}}}`, params)
	offer, err := openapi.Parse("d", []byte(doc), openapi.Options{Client: &http.Client{Transport: s}, FollowPages: 8})
	if err != nil {
		t.Fatal(err)
	}
	respond, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	_, diagnostics := offer.Tools[0].Contract.PublishedContract()
	return respond, diagnostics
}

// TestWhereListsEnd: what led on once is what ends a list, numbers are counted
// only where the answer agrees, and what is invented is a value of its argument.
func TestWhereListsEnd(t *testing.T) {
	param := func(name, schema string) string {
		return `{"name":"` + name + `","in":"query","schema":` + schema + `}`
	}
	const integer, text = `{"type":"integer"}`, `{"type":"string"}`
	page, offset, limit := param("page", `{"type":"integer","default":1}`), param("offset", integer), param("limit", `{"type":"integer","default":5}`)
	const (
		link = "Link: </a?p=2>; rel=next\n"
		none = `"more":false}`
	)
	why := func(more, what string) string { return `"more":` + more + `,"why":"` + what + `"}` }
	unknown := func(arg string) string {
		return why("null", "the response contains neither the number of items nor whether there are more, so argument "+arg+" is not incremented")
	}
	tests := []struct {
		name, params string
		answers      []string
		args         string
		data, pages  string
		asked        []string // after the first request
	}{
		{"a link that is not there any more", page, []string{link + `[1,2]`, `[3]`}, `{}`, `[1,2,3]`, none, []string{"/a?p=2"}},
		{"links that lead back only", page, []string{"Link: </a?p=1>; rel=\"first prev\"\n" + `{"total":2,"items":[1,2]}`}, `{}`, ``, ``, nil},
		{"a URL that is not there any more", page, []string{`{"next":"/a?p=2","items":[1,2]}`, `{"items":[3],"has_more":true}`}, `{}`, `{"items":[1,2,3],"has_more":true}`, why("true", "the response says that there are more items, but not where the next page is"), []string{"/a?p=2"}},
		{"a URL that is null", page, []string{`{"next":null,"items":[1,2]}`}, `{}`, ``, ``, nil},
		{"a URL that is null at last", page, []string{`{"next":"/a?p=2","items":[1,2]}`, `{"next":null,"items":[3,4]}`}, `{}`, `{"next":null,"items":[1,2,3,4]}`, none, []string{"/a?p=2"}},
		{"a URL that is empty", offset, []string{`{"links":{"next":""},"items":[1,2],"total":2}`}, `{}`, ``, ``, nil},
		{"an object with an address that is null", offset, []string{`{"_links":{"next":{"href":null}},"items":[1,2]}`}, `{}`, ``, ``, nil},
		{"a cursor that is not there any more", param("cursor", text) + "," + offset, []string{`{"next_cursor":"b","items":[1,2],"total":9}`, `{"items":[3],"total":9}`}, `{}`, `{"items":[1,2,3],"total":9}`, why("true", "the response says that there are 9 items, but not where the next page is"), []string{"/a?cursor=b"}},
		{"a cursor that is null", param("cursor", text) + "," + page, []string{`{"next_cursor":null,"items":[1,2]}`}, `{}`, ``, ``, nil},
		{"pages that are alike and lead on", page, []string{"Link: </a?p=2>; rel=next\n[0]", "Link: </a?p=3>; rel=next\n[0]", "[0]"}, `{}`, `[0,0,0]`, none, []string{"/a?p=2", "/a?p=3"}},
		{"an empty page that leads on", page, []string{link + `[1]`, "Link: </a?p=3>; rel=next\n[]", `[2]`}, `{}`, `[1,2]`, none, []string{"/a?p=2", "/a?p=3"}},
		{"the same page for another number", page, []string{`{"has_more":true,"items":[1]}`}, `{}`, `{"has_more":true,"items":[1]}`, why("true", "the upstream sent the same page again"), []string{"/a?page=2"}},

		{"a text that is called start", param("start", text), []string{`{"total":4,"items":[1,2]}`}, `{}`, `{"total":4,"items":[1,2]}`, why("true", "the response says that there are 4 items, but not where the next page is"), nil},
		{"a time that is called start, beside links", param("start", `{"type":"string","format":"date"}`), []string{link + `[1]`, `[2]`}, `{"start":"2026-01-01"}`, `[1,2]`, none, []string{"/a?p=2"}},
		{"digits that are a text", param("offset", `{"type":"string","pattern":"^[0-9]+$"}`), []string{`{"has_more":true,"items":[1]}`}, `{}`, `{"has_more":true,"items":[1]}`, why("true", "the response says that there are more items, but not where the next page is"), nil},
		{"a number that nobody described", `{"name":"offset","in":"query"}`, []string{`{"has_more":true,"items":[1]}`}, `{}`, `{"has_more":true,"items":[1]}`, why("true", "the response says that there are more items, but not where the next page is"), nil},
		{"an integer by reference", param("offset", `{"$ref":"#/components/schemas/Count"}`), []string{`{"total":3,"items":[1,2]}`, `{"total":3,"items":[3]}`}, `{}`, `{"total":3,"items":[1,2,3]}`, none, []string{"/a?offset=2"}},
		{"a list that is capped below its limit", offset + "," + limit, []string{`{"total":3,"items":[1,2]}`, `{"total":3,"items":[3]}`}, `{}`, `{"total":3,"items":[1,2,3]}`, none, []string{"/a?offset=2"}},
		{"a cap and pages", page + "," + limit, []string{`{"total":3,"items":[1,2]}`, `{"total":3,"items":[3]}`}, `{}`, `{"total":3,"items":[1,2,3]}`, none, []string{"/a?page=2"}},
		{"a total that is not reached", offset, []string{`{"total":3,"items":[1,2]}`, `{"total":3,"items":[]}`}, `{}`, `{"total":3,"items":[1,2]}`, why("true", "the response says that there are 3 items, but not where the next page is"), []string{"/a?offset=2"}},
		{"a total that is of something else", offset, []string{`{"total":1,"items":[1,2]}`}, `{}`, `{"total":1,"items":[1,2]}`, unknown("offset"), nil},
		{"a total in a header", offset, []string{"X-Total-Count: 3\n[1,2]", "X-Total-Count: 3\n[3]"}, `{}`, `[1,2,3]`, none, []string{"/a?offset=2"}},
		{"neither a total nor more", offset, []string{`[1,2]`}, `{}`, `[1,2]`, unknown("offset"), nil},
		{"neither, in the page that the call names", offset, []string{`[1,2]`}, `{"offset":4}`, ``, ``, nil},
		{"a number of pages", page, []string{`{"total_pages":2,"items":[1]}`, `{"total_pages":2,"items":[2]}`}, `{}`, `{"total_pages":2,"items":[1,2]}`, none, []string{"/a?page=2"}},
		{"pages from zero, as the answer says", page, []string{`{"total":2,"page":0,"items":[1]}`, `{"total":2,"page":1,"items":[2]}`}, `{}`, `{"total":2,"page":1,"items":[1,2]}`, none, []string{"/a?page=1"}},
		{"the next page by its number", page, []string{`{"next_page":7,"items":[1]}`, `{"next_page":null,"items":[2]}`}, `{}`, `{"next_page":null,"items":[1,2]}`, none, []string{"/a?page=7"}},
		{"pages that begin where nothing says", param("page", integer), []string{`{"total":2,"items":[1]}`}, `{}`, `{"total":2,"items":[1]}`, why("true", "the first value of argument page is not declared"), nil},
		{"the same, by a number of pages", param("page", integer), []string{`{"total_pages":2,"items":[1]}`}, `{}`, `{"total_pages":2,"items":[1]}`, why("true", "the first value of argument page is not declared"), nil},
		{"pages from zero, by the minimum", param("page", `{"type":"integer","minimum":0}`), []string{`{"total":2,"items":[1]}`, `{"total":2,"items":[2]}`}, `{}`, `{"total":2,"items":[1,2]}`, none, []string{"/a?page=1"}},
		{"an index that begins where nothing says", param("startIndex", integer), []string{`{"totalResults":3,"items":[1,2]}`}, `{}`, `{"totalResults":3,"items":[1,2]}`, why("true", "the first value of argument startIndex is not declared"), nil},
		{"an index that begins where the answer says", param("startIndex", integer), []string{`{"totalResults":3,"startIndex":1,"items":[1,2]}`, `{"totalResults":3,"startIndex":3,"items":[3]}`}, `{}`, `{"totalResults":3,"startIndex":3,"items":[1,2,3]}`, none, []string{"/a?startIndex=3"}},
		{"a number above what the argument takes", param("page", `{"type":"integer","minimum":1,"maximum":2}`), []string{`{"total":3,"items":[1]}`, `{"total":3,"items":[2]}`}, `{}`, `{"total":3,"items":[1,2]}`, why("true", "the upstream's value for the next page is not valid for argument page"), []string{"/a?page=2"}},
		{"a cursor that the argument does not take", param("cursor", `{"type":"string","maxLength":3}`), []string{`{"next_cursor":"long","items":[1]}`}, `{}`, `{"next_cursor":"long","items":[1]}`, why("true", "the upstream's value for the next page is not valid for argument cursor"), nil},
		{"a cursor that is a number", param("cursor", integer), []string{`{"next_cursor":"7","items":[1]}`, `{"items":[2]}`}, `{}`, `{"items":[1,2]}`, none, []string{"/a?cursor=7"}},
		{"the id of an item that the argument does not take", param("starting_after", integer), []string{`{"has_more":true,"data":[{"id":"x"}]}`}, `{}`, `{"has_more":true,"data":[{"id":"x"}]}`, why("true", "the upstream's value for the next page is not valid for argument starting_after"), nil},
		{"a time that is called after", param("after", `{"type":"string","format":"date-time"}`), []string{`{"has_more":true,"data":[{"id":"x"}]}`}, `{}`, `{"has_more":true,"data":[{"id":"x"}]}`, why("true", "the response says that there are more items, but not where the next page is"), nil},
		{"no argument for pages, and a number called total", param("q", text), []string{`{"total":99,"items":[1]}`}, `{}`, ``, ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{answers: tt.answers}
			got, _ := followed(t, tt.params, s, tt.args)
			body := got.Body
			if tt.data == "" { // the first answer as it is
				tt.data = tt.answers[0][strings.LastIndex(tt.answers[0], "\n")+1:]
			}
			if diff := cmp.Diff(tt.data, string(body)); diff != "" {
				t.Errorf("data, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(tt.asked, "\n"), strings.Join(s.asked[1:], "\n")); diff != "" {
				t.Errorf("requests, -want +got:\n%s", diff)
			}
			pages := ""
			if _, after, found := strings.Cut(string(got.Meta), `,"more":`); found {
				pages = `"more":` + strings.TrimSuffix(after, "}")
			}
			if diff := cmp.Diff(tt.pages, pages); diff != "" {
				t.Errorf("pages, -want +got:\n%s", diff)
			}
		})
	}
}

// TestWhatIsNotCountedIsToldBefore holds what is known without a call.
func TestWhatIsNotCountedIsToldBefore(t *testing.T) {
	for params, want := range map[string]bool{
		`{"name":"start","in":"query","schema":{"type":"string"}}`:                 true,
		`{"name":"start","in":"query","schema":{"type":"string","format":"date"}}`: false,
		`{"name":"page","in":"query"}`:                                             true,
		`{"name":"page","in":"query","schema":{"type":"integer"}}`:                 false,
	} {
		_, diagnostics := followed(t, params, &script{answers: []string{"[]"}}, `{}`)
		if told := len(diagnostics) > 0 && strings.Contains(diagnostics[0].Message, "pages are not followed by argument"); told != want {
			t.Errorf("%s: %v", params, diagnostics)
		}
	}
}
