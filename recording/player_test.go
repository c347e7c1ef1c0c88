package recording_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/recording"
)

func ExamplePlayer() {
	p := recording.NewPlayer([]recording.Exchange{{Method: "GET", URL: "https://shop.example/food", Status: 200, Text: "biscuits"}})
	r, err := http.NewRequest(http.MethodGet, "https://shop.example/food", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := p.RoundTrip(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	fmt.Println(res.Status, string(text))
	// Output: 200 OK biscuits
}

func TestPlayer(t *testing.T) {
	const shop = "https://shop.example"
	player := func() *recording.Player {
		return recording.NewPlayer([]recording.Exchange{
			{Method: "GET", URL: shop + "/books?limit=2&genre=gothic", Status: 200, Text: "gothic"},
			{Method: "GET", URL: shop + "/books?genre=humour", Status: 200, Text: "humour"},
			{Method: "GET", URL: shop + "/books?genre=humour", Status: 200, Text: "humour again"},
			{Method: "GET", URL: shop + "/keyed?appid=redacted&q=1", Status: 200, Text: "keyed"},
			{Method: "POST", URL: shop + "/orders", SentType: "application/json", Sent: `{"a":1,"b":[2]}`, Status: 201, Text: "ordered"},
			{Method: "POST", URL: shop + "/upload", SentType: "multipart/form-data; boundary=abc", Sent: "--abc\r\n\r\nx\r\n--abc--", Status: 201, Text: "one"},
			{Method: "POST", URL: shop + "/upload", SentType: "multipart/form-data; boundary=abd", Sent: "--abd\r\n\r\ny\r\n--abd--", Status: 201, Text: "two"},
		})
	}
	for _, one := range []struct {
		what string
		asks [][4]string // method, URL, media type, body
		want []string
	}{
		{"the order of a query", [][4]string{{"GET", shop + "/books?genre=gothic&limit=2"}}, []string{"gothic"}},
		{"equal requests in order, and then the last again", [][4]string{{"GET", shop + "/books?genre=humour"}, {"GET", shop + "/books?genre=humour"}, {"GET", shop + "/books?genre=humour"}}, []string{"humour", "humour again", "humour again"}},
		{"else the next", [][4]string{{"GET", shop + "/books?genre=other"}, {"GET", shop + "/books?genre=others"}}, []string{"gothic", "humour"}},
		{"a credential that was replaced", [][4]string{{"GET", shop + "/keyed?q=1"}, {"GET", shop + "/keyed?q=1&appid=other"}}, []string{"keyed", "keyed"}},
		{"a JSON body", [][4]string{{"POST", shop + "/orders", "application/json", "{\"b\": [2],\n \"a\": 1.0}"}}, []string{"ordered"}},
		{"a boundary", [][4]string{{"POST", shop + "/upload", "multipart/form-data; boundary=zzz", "--zzz\r\n\r\ny\r\n--zzz--"}}, []string{"two"}},
		{"another method", [][4]string{{"DELETE", shop + "/orders?secret=1"}}, []string{"not sent: the recording has no response for DELETE shop.example/orders"}},
		{"another host", [][4]string{{"GET", "https://other.example/books"}}, []string{"not sent: the recording has nothing of other.example, only of shop.example; it is of another document or another --base-url"}},
		{"none left", [][4]string{{"POST", shop + "/orders", "", "1"}, {"POST", shop + "/orders", "", "2"}}, []string{"ordered", "not sent: the recording has no response for POST shop.example/orders"}},
	} {
		p := player()
		for i, ask := range one.asks {
			r := request(t, ask[0], ask[1], ask[3])
			r.Header.Set("Content-Type", ask[2])
			got, err := answer(p, r)
			if err != nil {
				got = err.Error()
			}
			if got != one.want[i] {
				t.Errorf("%s: request %d got %q", one.what, i, got)
			}
		}
	}
}

// TestAPlayerOfItsOwn: the player of a call answers its requests and no other's.
func TestAPlayerOfItsOwn(t *testing.T) {
	all := recording.NewPlayer(nil)
	own := recording.NewPlayer([]recording.Exchange{{Method: "GET", URL: "https://shop.example/", Status: 200, Text: "own"}})
	r := request(t, "GET", "https://shop.example/", "")
	if _, err := answer(all, r); err == nil || !strings.Contains(err.Error(), "the recording is empty") {
		t.Error(err)
	}
	if text, err := answer(all, r.WithContext(own.With(t.Context()))); err != nil || text != "own" {
		t.Error(text, err)
	}
}

// answer is the body with which p answers.
func answer(p *recording.Player, r *http.Request) (string, error) {
	res, err := p.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}
