package server_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

type listed struct {
	Tools      []struct{ Name string }
	NextCursor string
	TTLMs      *int
	CacheScope string
}

// list asks for one page. An empty cursor is not sent.
func list(t *testing.T, s *server.Server, cursor string, modern bool) (listed, int) {
	t.Helper()
	params := ""
	if cursor != "" {
		params = `"cursor":"` + cursor + `"`
	}
	r := post(legacyBody("tools/list", params))
	if modern {
		r = postModern("tools/list", "", params)
	}
	w := answer(s, r)
	var m struct {
		Result listed
		Error  struct{ Code int }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("%v in %.200s", err, w.Body)
	}
	return m.Result, m.Error.Code
}

// pages asks for all pages and returns how many tools each has.
func pages(t *testing.T, s *server.Server, modern bool) (sizes []int, names []string) {
	t.Helper()
	for cursor := ""; ; {
		p, code := list(t, s, cursor, modern)
		if code != 0 || len(sizes) > 100 {
			t.Fatalf("page %d: error %d", len(sizes), code)
		}
		sizes = append(sizes, len(p.Tools))
		for _, tool := range p.Tools {
			names = append(names, tool.Name)
		}
		if cursor = p.NextCursor; cursor == "" {
			return sizes, names
		}
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		name  string
		tools []tenon.Tool
		want  []int
	}{
		{"no tool at all", nil, []int{0}},
		{"one", many(1, ""), []int{1}},
		{"as many as fit on a page", many(500, ""), []int{500}},
		{"one more", many(501, ""), []int{500, 1}},
		{"several pages", many(1234, ""), []int{500, 500, 234}},
		{"a page ends at 1 MiB", many(40, strings.Repeat("x", 100_000)), []int{10, 10, 10, 10}},
		{"a definition beyond that has a page of its own", append(append(many(2, ""), many(1, strings.Repeat("x", 2<<20))...), many(2, "")...), []int{2, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(server.Options{}, c.tools...)
			legacy, names := pages(t, s, false)
			modern, _ := pages(t, s, true)
			if diff := cmp.Diff([][]int{c.want, c.want}, [][]int{legacy, modern}); diff != "" {
				t.Error(diff)
			}
			var want []string
			for _, e := range catalog(c.tools...).Tools() {
				want = append(want, e.Name())
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCachingHints(t *testing.T) {
	s := serve(server.Options{}, many(501, "")...)
	for cursor, pages := "", 0; pages < 2; pages++ {
		p, _ := list(t, s, cursor, true)
		if p.TTLMs == nil || *p.TTLMs < 0 || p.CacheScope != "public" {
			t.Errorf("page %d: ttlMs %v, cacheScope %q", pages, p.TTLMs, p.CacheScope)
		}
		cursor = p.NextCursor
	}
	if p, _ := list(t, s, "", false); p.TTLMs != nil || p.CacheScope != "" {
		t.Errorf("a legacy list has members that came later: %+v", p)
	}
}

func TestListYieldsWhatClientsGet(t *testing.T) {
	s := serve(server.Options{}, many(1001, "")...)
	var got []string
	for p := range s.List() {
		got = append(got, string(p))
	}
	var want []string
	for cursor := ""; ; {
		r := postModern("tools/list", "", cursor)
		body := answer(s, r).Body.String()
		body = strings.TrimSuffix(strings.TrimPrefix(body, `{"jsonrpc":"2.0","id":1,"result":`), `}`)
		want = append(want, body)
		_, rest, more := strings.Cut(body, `"nextCursor":"`)
		if !more {
			break
		}
		next, _, _ := strings.Cut(rest, `"`)
		cursor = `"cursor":"` + next + `"`
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
		t.Errorf("%d pages: %s", len(got), diff)
	}
	for range s.List() {
		break // a reader may stop
	}
}

// counted is a contract that counts how often it is asked.
type counted struct{ asked *atomic.Int64 }

func (c counted) Contract() (tenon.Contract, error) { return tenon.Contract{}, nil }

func (c counted) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c.asked.Add(1)
	return tenon.Contract{}, nil
}

func TestPagesAreRenderedWhenAsked(t *testing.T) {
	var asked atomic.Int64
	tools := many(1200, "")
	for i := range tools {
		tools[i].Contract = counted{asked: &asked}
	}
	s := serve(server.Options{}, tools...)
	first, _ := list(t, s, "", false)
	list(t, s, "", true)
	if n := asked.Load(); n != 500 {
		t.Errorf("the first page asked %d tools for their schemas, want 500", n)
	}
	list(t, s, first.NextCursor, true)
	if n := asked.Load(); n != 1000 {
		t.Errorf("two pages asked %d tools for their schemas, want 1000", n)
	}
}

// broken is a contract that panics.
type broken struct{}

func (broken) Contract() (tenon.Contract, error) { return tenon.Contract{}, nil }

func (broken) PublishedContract() (tenon.Contract, []tenon.Diagnostic) { panic("cannot be published") }

func TestToolThatCannotBeListedCostsNoOther(t *testing.T) {
	for place := range 3 {
		tools := many(3, "")
		tools[place].Contract = broken{}
		s := serve(server.Options{}, tools...)
		for range 2 {
			if p, code := list(t, s, "", true); code != 0 || len(p.Tools) != 2 {
				t.Errorf("with tool %d broken: error %d, %d tools", place, code, len(p.Tools))
			}
		}
	}
}

func TestCursors(t *testing.T) {
	const invalid = -32602
	tools := many(1001, "")
	g := gateway.New(catalog(tools...), gateway.Options{})
	s := server.New(g, server.Options{})
	p, _ := list(t, s, "", false)
	second, _ := list(t, s, p.NextCursor, false)
	foreign, _ := list(t, server.New(g, server.Options{}), "", false)
	for name, cursor := range map[string]string{
		"of another server":     foreign.NextCursor,
		"cut short":             p.NextCursor[1:],
		"with more behind it":   p.NextCursor + "A",
		"that is no base64":     strings.Repeat("!", len(p.NextCursor)),
		"joined from two pages": p.NextCursor[:6] + second.NextCursor[6:],
	} {
		if _, code := list(t, s, cursor, false); code != invalid {
			t.Errorf("a cursor %s: %d", name, code)
		}
	}
	for name, params := range map[string]string{"an empty one": `"cursor":""`, "a number": `"cursor":500`} {
		if v, body := judge(t, s, post(legacyBody("tools/list", params))); v.code != invalid {
			t.Errorf("%s: %s", name, body)
		}
	}
	if v, body := judge(t, s, post(legacyBody("tools/list", `"cursor":null`))); v.code != 0 {
		t.Errorf("null is no cursor: %s", body)
	}
	if again, code := list(t, s, p.NextCursor, true); code != 0 || len(again.Tools) != 500 || again.Tools[0].Name != "tool_500" {
		t.Errorf("a cursor works again, and in every revision: %d", code)
	}
	for reloads := 1; reloads <= 4; reloads++ {
		g.Swap(catalog(tools[:1000-reloads]...))
		if again, code := list(t, s, p.NextCursor, false); code != 0 || len(again.Tools) != 500 || again.NextCursor == "" {
			t.Errorf("a cursor from before %d reloads: %d", reloads, code)
		}
	}
	g.Swap(catalog(tools[:990]...))
	if _, code := list(t, s, p.NextCursor, false); code != invalid {
		t.Errorf("a cursor from before five reloads: %d", code)
	}
	g.Swap(catalog(tools...))
	if again, code := list(t, s, p.NextCursor, false); code != 0 || again.Tools[0].Name != "tool_500" {
		t.Errorf("a cursor from when there were the same tools: %d", code)
	}
	if fresh, code := list(t, s, "", false); code != 0 || fmt.Sprint(len(fresh.Tools)) != "500" {
		t.Errorf("the list begins again: %d", code)
	}
}

func TestPagesOutliveTheirCatalogForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(catalog(many(501, "")...), gateway.Options{})
		s := server.New(g, server.Options{})
		first, _ := list(t, s, "", false)
		g.Swap(catalog())
		if p, code := list(t, s, first.NextCursor, false); code != 0 || len(p.Tools) != 1 || p.Tools[0].Name != "tool_500" {
			t.Errorf("at once: %d", code)
		}
		time.Sleep(59 * time.Second)
		g.Swap(catalog(many(1, "")...))
		if p, code := list(t, s, first.NextCursor, false); code != 0 || len(p.Tools) != 1 {
			t.Errorf("a second catalog later: %d", code)
		}
		time.Sleep(2 * time.Second)
		if _, code := list(t, s, first.NextCursor, false); code == 0 {
			t.Error("the pages live for ever")
		}
	})
}

// slow is a contract that takes a second to convert.
type slow struct{}

func (slow) Contract() (tenon.Contract, error) { return tenon.Contract{}, nil }

func (slow) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	time.Sleep(time.Second)
	return tenon.Contract{}, nil
}

// Tools that are slow to convert make shorter pages, and hold up no page that is
// asked for meanwhile. None is missing.
func TestSlowToolsMakeShortPages(t *testing.T) {
	tools := many(100, "")
	for i := range tools {
		tools[i].Contract = slow{}
	}
	synctest.Test(t, func(t *testing.T) {
		sizes, names := pages(t, serve(server.Options{}, tools...), true)
		if len(names) != len(tools) || slices.Max(sizes) > 3*runtime.GOMAXPROCS(0) {
			t.Errorf("%d tools in pages of %v", len(names), sizes)
		}
	})
}
