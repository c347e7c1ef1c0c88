package recording_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-mcp/tenon/recording"
)

// A recorder keeps what a client sends and receives. Replaying needs no
// upstream.
func ExampleRecorder() {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "biscuits")
	}))
	get := func(c *http.Client) string {
		res, err := c.Get(shop.URL + "/food")
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return string(text)
	}
	recorder := recording.New(false)
	fmt.Println(get(recorder.Client(shop.Client())))
	shop.Close()

	replay := recording.New(true)
	replay.Load(recorder.Exchanges())
	fmt.Println(get(replay.Client(&http.Client{})))
	// Output:
	// biscuits
	// biscuits
}
