package bookshop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/bookshop"
)

type answer struct {
	status, media, location string
	body                    []byte
}

func ask(t *testing.T, shop http.Handler, method, target, body string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, r)
	media := w.Header().Get("Content-Type")
	if media != "" {
		var err error
		if media, _, err = mime.ParseMediaType(media); err != nil {
			t.Fatal(err)
		}
	}
	return answer{strconv.Itoa(w.Code), media, w.Header().Get("Location"), w.Body.Bytes()}
}

// decode reads a JSON object with its numbers as they are written.
func decode(t *testing.T, body []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v
}

func firstIDs() []string {
	ids := make([]string, 13)
	for i := range ids {
		ids[i] = fmt.Sprintf("b%d", 1001+i)
	}
	return ids
}

func TestPagesShowEveryBookOnce(t *testing.T) {
	for _, limit := range []int{1, 4, 13, 50} {
		shop := bookshop.New(bookshop.Options{})
		var got []string
		for cursor := ""; ; {
			p := decode(t, ask(t, shop, http.MethodGet, fmt.Sprintf("/books?limit=%d&cursor=%s", limit, cursor), "").body)
			items, ok := p["items"].([]any)
			if !ok || len(items) > limit || p["total"] != json.Number("13") {
				t.Fatalf("limit %d: bad page %v", limit, p)
			}
			for _, item := range items {
				got = append(got, fmt.Sprint(object(t, item)["id"]))
			}
			if p["nextCursor"] == nil {
				break
			}
			cursor = fmt.Sprint(p["nextCursor"])
		}
		if diff := cmp.Diff(firstIDs(), got); diff != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, diff)
		}
	}
}

func TestSearchFinds(t *testing.T) {
	shop := bookshop.New(bookshop.Options{})
	for name, c := range map[string]struct{ query, want string }{
		"an author in any case":  {"q=bRONTË", "b1010"},
		"words in any order":     {"q=whale+moby", "b1002"},
		"a tag":                  {"tags=sea", "b1002 b1006"},
		"two tags":               {"tags=sea&tags=voyage", "b1006"},
		"a price up to":          {"price[max]=650", "b1005 b1009"},
		"a price from":           {"price[min]=1399", "b1007 b1011"},
		"a price, both included": {"price[min]=1250&price[max]=1399", "b1002 b1007"},
		"nothing":                {"q=boat&tags=sea", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var found []struct{ ID string }
			if err := json.Unmarshal(ask(t, shop, http.MethodGet, "/books/search?"+c.query, "").body, &found); err != nil {
				t.Fatal(err)
			}
			ids := make([]string, len(found))
			for i, b := range found {
				ids[i] = b.ID
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestABookLivesItsLife(t *testing.T) {
	now := time.Date(2025, time.May, 4, 3, 2, 1, 999, time.UTC)
	shop := bookshop.New(bookshop.Options{Now: func() time.Time { return now }})
	made := ask(t, shop, http.MethodPost, "/books", emma)
	if made.location != "/books/b1014" {
		t.Errorf("Location is %q", made.location)
	}
	want := decode(t, []byte(emma))
	delete(want, "supplierNote")
	want["id"], want["createdAt"], want["translations"] = "b1014", "2025-05-04T03:02:01Z", map[string]any{}
	if diff := cmp.Diff(want, decode(t, made.body)); diff != "" {
		t.Errorf("made (-want +got)\n%s", diff)
	}
	changed := ask(t, shop, http.MethodPatch, made.location, `{"priceCents":1,"translations":{"de":"Emma"},"id":"b1","createdAt":"2000-01-01T00:00:00Z"}`)
	want["priceCents"], want["translations"] = json.Number("1"), map[string]any{"de": "Emma"}
	if diff := cmp.Diff(want, decode(t, changed.body)); diff != "" {
		t.Errorf("changed (-want +got)\n%s", diff)
	}
	if got := ask(t, shop, http.MethodPut, made.location, string(changed.body)); !bytes.Equal(got.body, changed.body) {
		t.Errorf("a book that was read and sent back became %s", got.body)
	}
	if got := ask(t, shop, http.MethodGet, made.location, ""); !bytes.Equal(got.body, changed.body) {
		t.Errorf("read: %s", got.body)
	}
	if got := ask(t, shop, http.MethodDelete, made.location, ""); got.status != "204" {
		t.Errorf("deleted: %s", got.status)
	}
	if got := ask(t, shop, http.MethodGet, made.location, ""); got.status != "404" {
		t.Errorf("read after the end: %s", got.status)
	}
	if got := ask(t, shop, http.MethodPost, "/books", emma); got.location != "/books/b1015" {
		t.Errorf("an id was given twice: %q", got.location)
	}
}

func TestWrongBooksSayWhereTheyAreWrong(t *testing.T) {
	for name, c := range map[string]struct{ old, bad, pointer string }{
		"a short ISBN":             {"978-1009990015", "978-1", "/isbn"},
		"no title":                 {`"Emma"`, `""`, "/title"},
		"an author without a name": {"Jane Austen", "", "/authors/0/name"},
		"a year to come":           {"1815", "2815", "/year"},
		"an unknown genre":         {"romance", "cooking", "/genre"},
		"a tag with a space":       {`"england"`, `"old england"`, "/tags/0"},
		"a tag twice":              {`"england"`, `"a","a"`, "/tags/1"},
		"a price of nothing":       {"875", "0", "/priceCents"},
		"copies below nothing":     {`"stock":3`, `"stock":-3`, "/stock"},
		"a price with a fraction":  {"875", "8.75", "/priceCents"},
		"a format of neither kind": {"paperback", "scroll", "/format/kind"},
		"an ebook with pages":      {"paperback", "ebook", "/format/fileFormat"},
		"a paperback without any":  {`,"pages":474`, "", "/format/pages"},
		"an unknown field":         {`"year"`, `"jahr":1,"year"`, ""},
		"a long note":              {"Second box", strings.Repeat("x", 501), "/supplierNote"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, bookshop.New(bookshop.Options{}), http.MethodPost, "/books", strings.Replace(emma, c.old, c.bad, 1))
			var p struct{ Errors []struct{ Pointer string } }
			if err := json.Unmarshal(got.body, &p); err != nil {
				t.Fatal(err)
			}
			if got.status != "422" || len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer {
				t.Errorf("got %s %s, want 422 at %q", got.status, got.body, c.pointer)
			}
		})
	}
}

func TestCoversArePicturesAndAllDiffer(t *testing.T) {
	shop := bookshop.New(bookshop.Options{})
	seen := map[string]string{}
	for _, id := range firstIDs() {
		got := ask(t, shop, http.MethodGet, "/books/"+id+"/cover", "").body
		img, err := png.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != 120 || b.Dy() != 180 {
			t.Errorf("%s is %v", id, b)
		}
		if other := seen[string(got)]; other != "" {
			t.Errorf("%s and %s look the same", id, other)
		}
		seen[string(got)] = id
	}
}

func TestReportTakesItsTimeAndStopsWhenTheClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := bookshop.New(bookshop.Options{})
		start := time.Now()
		if got := ask(t, shop, http.MethodGet, "/reports/sales?seconds=3", ""); got.status != "200" || time.Since(start) != 3*time.Second {
			t.Errorf("got %s after %v", got.status, time.Since(start))
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		start = time.Now()
		w := httptest.NewRecorder()
		shop.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/reports/sales?seconds=5", nil))
		if w.Code != http.StatusServiceUnavailable || time.Since(start) != time.Second {
			t.Errorf("got %d after %v", w.Code, time.Since(start))
		}
	})
}

func TestManyClientsAtOnceHammer(t *testing.T) {
	shop := bookshop.New(bookshop.Options{})
	var all sync.WaitGroup
	for client := range 8 {
		all.Go(func() {
			mine := strings.Replace(emma, "1009990015", fmt.Sprintf("20000000%02d", client), 1)
			for range 20 {
				made := ask(t, shop, http.MethodPost, "/books", mine)
				ask(t, shop, http.MethodPatch, made.location, fmt.Sprintf(`{"stock":%d}`, client))
				ask(t, shop, http.MethodPatch, "/books/b1001", fmt.Sprintf(`{"translations":{"de":"%d"}}`, client))
				ask(t, shop, http.MethodGet, "/books?limit=50", "")
				got := decode(t, ask(t, shop, http.MethodGet, made.location, "").body)
				if got["stock"] != json.Number(strconv.Itoa(client)) {
					t.Errorf("client %d sees %v", client, got)
				}
				ask(t, shop, http.MethodDelete, made.location, "")
			}
		})
	}
	all.Wait()
	if got := shop.Requests()["createBook"]; got != 160 {
		t.Errorf("%d books were made", got)
	}
	if got := decode(t, ask(t, shop, http.MethodGet, "/books", "").body)["total"]; got != json.Number("13") {
		t.Errorf("%v books are left", got)
	}
	shop.Reset()
	fresh := ask(t, bookshop.New(bookshop.Options{}), http.MethodGet, "/books?limit=50", "")
	if got := ask(t, shop, http.MethodGet, "/books?limit=50", ""); !bytes.Equal(got.body, fresh.body) {
		t.Error("Reset did not put the first books back")
	}
}
