package recording_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/recording"
)

func call(tool, text string) *recording.Call {
	return &recording.Call{Version: 1, Source: "shop", Tool: tool, Arguments: json.RawMessage(`{}`), Exchanges: []recording.Exchange{
		{Method: "GET", URL: "https://shop.example/", Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Text: text},
	}}
}

func write(t *testing.T, path string, calls ...*recording.Call) {
	t.Helper()
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func tools(calls []recording.Call) (names []string) {
	for _, c := range calls {
		names = append(names, c.Tool)
	}
	return names
}

// TestGoesOn opens a recording again whose last line was not written to its end.
func TestGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	write(t, dir, call("one", "1"))
	file := filepath.Join(dir, "calls-000001.ndjson")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"recording":1,"tool":"torn` + strings.Repeat("n", 1000))
	_ = f.Close()
	if calls, err := recording.Load(dir); err != nil || len(calls) != 1 {
		t.Errorf("%v, %v", tools(calls), err)
	}
	write(t, dir, call("two", "2"))
	calls, err := recording.Load(dir)
	if err != nil || !cmp.Equal(tools(calls), []string{"one", "two"}) {
		t.Errorf("%v, %v", tools(calls), err)
	}
	if text, err := os.ReadFile(file); err != nil || !bytes.HasSuffix(text, []byte("}\n")) || bytes.Contains(text, []byte("torn")) {
		t.Errorf("%s, %v", text, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if diff := cmp.Diff(*call("one", "1"), calls[0]); diff != "" {
		t.Error(diff)
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"other.ndjson": `{"level":"info"}` + "\n", "newer.ndjson": `{"recording":2,"exchanges":[]}` + "\n", "page.har": `<html>`, "empty.har": `{}`} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := recording.Load(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := recording.Create(filepath.Join(dir, "other.ndjson")); err == nil || !strings.Contains(err.Error(), "is not a recording; nothing is added to it") {
		t.Error(err)
	}
	if _, err := recording.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "the folder has no recording") {
		t.Error(err)
	}
	large := filepath.Join(dir, "large.har")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 300<<20); err != nil { // sparse
		t.Fatal(err)
	}
	if _, err := recording.Load(large); err == nil || err.Error() != "large.har has 300 MB: at most 256 MB of recordings are read at a time" {
		t.Error(err)
	}
}

// TestRotation writes more than a file takes.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	large := call("large", strings.Repeat("a", 30<<20))
	write(t, dir, large, large, large)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	write(t, dir, call("small", ""))
	if calls, err := recording.Load(dir); err != nil || !cmp.Equal(tools(calls), []string{"large", "large", "large", "small"}) {
		t.Errorf("%v, %v", tools(calls), err)
	}
}

// TestFullDisk: nothing of a call that cannot be written to its end stays, and it is

// TestHAR converts a recording and back.
func TestHAR(t *testing.T) {
	two := call("two", "")
	two.Exchanges[0].Text, two.Exchanges[0].Base64 = "", "/wA="
	two.Exchanges = append(two.Exchanges, recording.Exchange{Method: "POST", URL: "https://shop.example/a?b=c%20d&e", SentType: "application/json", Sent: `{"f":1}`, Status: 404, Headers: map[string]string{}})
	calls := []recording.Call{*call("one", "1"), *two}
	text, err := recording.AppendHAR(nil, calls, "test")
	if err != nil {
		t.Fatal(err)
	}
	back, err := recording.ParseHAR(text)
	if diff := cmp.Diff(calls, back); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

// TestForeignHAR is what a browser exports: with credentials, and entries that are no
// exchange.
func TestForeignHAR(t *testing.T) {
	calls, err := recording.ParseHAR([]byte(`{"log":{"version":"1.2","entries":[
 {"startedDateTime":"2026-01-02T03:04:05.000+02:00","time":1.5,"request":{"method":"GET","url":"https://shop.example/a?access_token=minted","headers":[{"name":"cookie","value":"sid=1"}]},
  "response":{"status":200,"headers":[{"name":"set-cookie","value":"minted"},{"name":"etag","value":"e"}],"content":{"mimeType":"application/json","text":"{\"password\":\"minted\",\"n\":1}"}}},
 {"request":{"method":"GET","url":"chrome-extension://x/"},"response":{"status":200,"content":{}}},
 {"request":{"method":"GET","url":"https://shop.example/cancelled"},"response":{"status":0,"content":{}}}]}}`))
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	line, _ := json.Marshal(calls)
	if strings.Contains(string(line), "minted") || strings.Contains(string(line), "sid") || calls[0].Exchanges[0].Headers["Etag"] != "e" || calls[0].Exchanges[0].Headers["Content-Type"] != "application/json" {
		t.Errorf("%s", line)
	}
}

// FuzzParse: whatever is read can be written, and read again with the same result;
// what is read of a HAR has no credential header.
func FuzzParse(f *testing.F) {
	line, _ := json.Marshal(call("one", "1"))
	f.Add(append(line, '\n'))
	f.Add([]byte(`{"recording":1,"exchanges":[{"method":"GET","url":"http://a","status":200,"base64":"AA=="}]}`))
	text, _ := recording.AppendHAR(nil, []recording.Call{*call("one", "1")}, "")
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if calls, err := recording.ParseLines(text); err == nil {
			var again []byte
			for _, c := range calls {
				line, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				again = append(append(again, line...), '\n')
			}
			back, err := recording.ParseLines(again)
			if err != nil {
				t.Fatalf("%q: %v", again, err)
			}
			if one, two := marshalled(t, calls), marshalled(t, back); !bytes.Equal(one, two) {
				t.Errorf("%s became %s", one, two)
			}
			recording.NewPlayer(recording.Exchanges(calls))
		}
		calls, err := recording.ParseHAR(text)
		if err != nil {
			return
		}
		for _, e := range recording.Exchanges(calls) {
			for name := range e.Headers {
				if strings.Contains(strings.ToLower(name), "cookie") || strings.Contains(strings.ToLower(name), "auth") {
					t.Errorf("the header %s was read", name)
				}
			}
		}
		har, err := recording.AppendHAR(nil, calls, "")
		if err != nil {
			t.Fatal(err)
		}
		if back, err := recording.ParseHAR(har); err != nil || len(recording.Exchanges(back)) != len(recording.Exchanges(calls)) {
			t.Errorf("%s: %v", har, err)
		}
	})
}

func marshalled(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
