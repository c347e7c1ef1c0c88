package app_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/recording"
)

const recordedDoc = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [ { url: "https://shop.example" } ]
security: [ { basic: [] } ]
paths:
  /packed: { get: { operationId: packed, responses: { "200": { description: "", content: { application/json: { schema: { type: object, required: [n] } } } } } } }
  /moved: { get: { operationId: moved, responses: { "200": { description: "", content: { application/json: { schema: { type: object } } } } } } }
  /stream: { get: { operationId: stream, responses: { "200": { description: "", content: { application/x-ndjson: { schema: { type: object } } } } } } }
  /flaky: { get: { operationId: flaky, responses: { "200": { description: "", content: { application/json: { schema: { type: object } } } } } } }
  /page: { get: { operationId: page, parameters: [ { name: n, in: query, schema: { type: integer } } ], responses: { "200": { description: "", content: { application/json: { schema: { type: object } } } } } } }
  /leak: { get: { operationId: leak, responses: { "200": { description: "", content: { application/json: { schema: { type: object } } } } } } }
components: { securitySchemes: { basic: { type: http, scheme: basic } } }
`

// recordedShop has a response of every kind that differs on its way: compressed,
// redirected, streamed, after a failure.
func recordedShop() http.Handler {
	mux, tries := http.NewServeMux(), 0
	answer := func(path string, h func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if _, password, _ := r.BasicAuth(); password != "pa55word-of-the-shop" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			h(w, r)
		})
	}
	answer("/packed", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{"n":1,"m":18446744073709551615}`)
		_ = z.Close()
	})
	answer("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/page?n=7", http.StatusFound) })
	answer("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "{\"n\":1}\n{\"n\":2}\n")
	})
	answer("/flaky", func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintf(w, `{"try":%d}`, tries)
	})
	answer("/page", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, `{"n":%q}`, r.FormValue("n")) })
	answer("/leak", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"sent":%q}`, r.Header.Get("Authorization"))
	})
	return mux
}

func recordedConfig(t *testing.T, base string) *app.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(recordedDoc), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	c := app.NewConfig()
	c.AddSpec(file)
	c.Defaults.BaseURL, c.Defaults.AllowPrivateHost, c.Defaults.Retries = base, []string{u.Host}, 1
	c.Defaults.Auth = []string{"basic=env:SHOP"}
	return c
}

func shopEnv(log io.Writer) app.Env {
	return app.Env{
		Getenv: func(name string) (string, bool) {
			if name != "SHOP" {
				return "", false
			}
			return "me:pa55word-of-the-shop", true
		},
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
}

func result(ctx context.Context, a *app.App, tool, args string) string {
	res, err := a.Gateway.Call(ctx, &tenon.Call{Tool: tool, Args: []byte(args), Subject: "owner"})
	if err != nil {
		return err.Error()
	}
	return string(res.Structured)
}

// TestReplayIsTheSame records a shop and replays it without one: the results are the
// same, to the byte, and no credential is on the disk.
func TestReplayIsTheSame(t *testing.T) {
	shop := httptest.NewServer(recordedShop())
	defer shop.Close()
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "calls")
	c := recordedConfig(t, shop.URL)
	c.Record = dir
	a, err := app.New(t.Context(), c, shopEnv(&log))
	if err != nil {
		t.Fatal(err)
	}
	calls := [][2]string{{"packed", "{}"}, {"moved", "{}"}, {"stream", "{}"}, {"flaky", "{}"}, {"page", `{"n":1}`}, {"page", `{"n":2}`}}
	var want []string
	for _, one := range calls {
		want = append(want, result(t.Context(), a, one[0], one[1]))
	}
	if got := result(t.Context(), a, "leak", "{}"); !strings.Contains(got, "Basic ") {
		t.Errorf("a recording changes results: %s", got)
	}
	a.Close()
	shop.Close()

	text, err := os.ReadFile(filepath.Join(dir, "calls-000001.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"pa55word", "Basic", "cGE1NXdvcmQ", "bWU6cGE1NX"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the recording has %q: %s", secret, text)
		}
	}
	c = recordedConfig(t, shop.URL)
	c.Replay = dir
	again, err := app.New(t.Context(), c, app.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i, one := range calls {
		if got := result(t.Context(), again, one[0], one[1]); got != want[i] {
			t.Errorf("%s %s\n%s, recorded was\n%s", one[0], one[1], got, want[i])
		}
	}
	if got := result(t.Context(), again, "page", `{"n":1}`); got != want[4] {
		t.Errorf("once more: %s", got)
	}
}

// TestManyCallsAreRecorded makes calls at a time; each line is a whole call with its
// own exchange.
func TestManyCallsAreRecorded(t *testing.T) {
	shop := httptest.NewServer(recordedShop())
	defer shop.Close()
	c := recordedConfig(t, shop.URL)
	c.Record = filepath.Join(t.TempDir(), "calls.ndjson")
	a, err := app.New(t.Context(), c, shopEnv(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	const many = 40
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() { result(t.Context(), a, "page", fmt.Sprintf(`{"n":%d}`, i)) })
	}
	group.Wait()
	a.Close()
	calls, err := recording.Load(c.Record)
	if err != nil || len(calls) != many {
		t.Fatal(len(calls), err)
	}
	for _, one := range calls {
		if len(one.Exchanges) != 1 || !strings.HasSuffix(one.Exchanges[0].URL, strings.NewReplacer(`{"n":`, "?n=", "}", "").Replace(string(one.Arguments))) {
			t.Errorf("%s has %+v", one.Arguments, one.Exchanges)
		}
	}
}

// TestFullDiskEndsTheRecordingOnly: calls go on, and the log says why there is no
// recording.
func TestFullDiskEndsTheRecordingOnly(t *testing.T) {
	shop := httptest.NewServer(recordedShop())
	defer shop.Close()
	var log bytes.Buffer
	e := shopEnv(&log)
	full := func(*recording.Call) error { return fmt.Errorf("no space left on device") }
	var err error
	e.Recorder, err = recording.NewRecorder(recording.Options{Write: full, Failed: func(err error) { e.Logger.Warn(err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), recordedConfig(t, shop.URL), e)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := result(t.Context(), a, "page", `{"n":1}`); !strings.Contains(got, `"n":"1"`) || !strings.Contains(log.String(), "a call of page is not recorded: no space left on device") {
		t.Errorf("%s, %s", got, log.String())
	}
}
