package recording_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/recording"
)

// sameAnswer gives every request the same answer.
type sameAnswer struct {
	header http.Header
	body   string
}

func (a sameAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: a.header.Clone(), Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: -1, Request: r}, nil
}

// TestNoCredentialLiesInARecording sends a key in every place of a request, and
// has it and what an upstream hands out itself come back in every place of an
// answer.
func TestNoCredentialLiesInARecording(t *testing.T) {
	quoted, _ := json.Marshal(canary)
	for _, body := range []string{string(quoted), strings.ReplaceAll(string(quoted), "/", `\/`), "plain " + canary, "\xff\x00" + canary} {
		answer := sameAnswer{body: body, header: http.Header{"Content-Type": {"application/json"}, "Etag": {"kept"}, "Link": {"<https://api.shop.example/?key=c4nary%2Fof+the+shop%26%3D%221>"}}}
		handedOut := []string{"Set-Cookie", "Set-Cookie2", "Authorization", "Authentication-Info", "X-Auth-Token", "X-Access-Token", "X-Api-Key", "Session-Id", "X-Csrf-Token", "X-Amz-Credential", "X-Signature", "X-Password"}
		for _, name := range handedOut {
			answer.header.Set(name, "handed-out")
		}
		recorder := recording.New(false)
		recorder.Env(shopKey)("SHOP_KEY")
		client := recorder.Client(&http.Client{Transport: answer})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.shop.example/c4nary%2Fof%20the%20shop%26=%221?key=c4nary/of%20the%20shop%26%3D%221", strings.NewReader(string(quoted)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Authorization", "X-Shop-Key", "Cookie", "Proxy-Authorization"} {
			r.Header.Set(name, canary)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		recorded, err := json.Marshal(recorder.Exchanges())
		if err != nil {
			t.Fatal(err)
		}
		var all []recording.Exchange
		if err := json.Unmarshal(recorded, &all); err != nil || len(all) != 1 || all[0].Headers["Etag"] != "kept" {
			t.Fatalf("%s, %v", recorded, err)
		}
		for _, what := range []string{"c4nary", "YzRuYXJ5", "handed-out", "Cookie"} { // the second in base64
			if strings.Contains(string(recorded), what) {
				t.Errorf("%q: the recording has %q: %s", body, what, recorded)
			}
		}
		for _, name := range handedOut {
			if _, there := all[0].Headers[name]; there {
				t.Errorf("the recording has the header %s", name)
			}
		}
	}
}

const canary = "c4nary/of the shop&=\"1"

func shopKey(name string) (string, bool) { return canary, name == "SHOP_KEY" }
