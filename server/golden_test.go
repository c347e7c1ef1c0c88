package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tenon-mcp/tenon/server"
)

// TestExchanges runs the HTTP requests of testdata/http: file N.request holds
// a request without its length, N.response what came back.
func TestExchanges(t *testing.T) {
	golden(t, "testdata/http/*.txtar", func(t *testing.T, a *txtar.Archive) {
		s := serve(server.Options{Instructions: "Greet first."}, fixtures()...)
		for _, f := range slices.Clone(a.Files) {
			if number, ok := strings.CutSuffix(f.Name, ".request"); ok {
				setFile(a, number+".response", dump(answer(s, parseRequest(t, f.Data))))
			}
		}
	})
}

// TestTranscripts plays testdata/stdio: lines that begin with "> " are what
// the client says, one after the other, and "< " what it hears.
func TestTranscripts(t *testing.T) {
	golden(t, "testdata/stdio/*.txtar", func(t *testing.T, a *txtar.Archive) {
		var said []string
		for line := range strings.Lines(string(a.Files[0].Data)) {
			if text, ok := strings.CutPrefix(line, "> "); ok {
				said = append(said, strings.TrimSuffix(text, "\n"))
			}
		}
		var script bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			p := converse(t.Context(), serve(server.Options{MaxBody: 1000}, fixtures()...))
			for _, text := range said {
				p.send(text)
				synctest.Wait()
				fmt.Fprintf(&script, "> %s\n", text)
				for line := range strings.Lines(p.out.take()) {
					script.WriteString("< " + line)
				}
			}
			_ = p.in.Close()
			if err := <-p.ended; err != nil {
				t.Error(err)
			}
		})
		a.Files[0].Data = script.Bytes()
	})
}

// golden compares archives with what play makes of them, and writes them with
// UPDATE_GOLDEN=1.
func golden(t *testing.T, pattern string, play func(*testing.T, *txtar.Archive)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(want)
			play(t, a)
			got := txtar.Format(a)
			if os.Getenv("UPDATE_GOLDEN") == "1" {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the exchange differs (-golden +now):\n%s", diff)
			}
		})
	}
}

func setFile(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
	slices.SortStableFunc(a.Files, func(x, y txtar.File) int {
		nx, _, _ := strings.Cut(x.Name, ".")
		ny, _, _ := strings.Cut(y.Name, ".")
		return strings.Compare(nx, ny)
	})
}

// parseRequest reads a request as it goes over the wire, but for its length.
func parseRequest(t *testing.T, text []byte) *http.Request {
	t.Helper()
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	body = bytes.TrimSuffix(body, []byte("\n"))
	raw := fmt.Sprintf("%s\nHost: tenon.example\nContent-Length: %d\n\n%s", head, len(body), body)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return r
}

func dump(w *httptest.ResponseRecorder) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %s\n", w.Code, http.StatusText(w.Code))
	for _, name := range []string{"Allow", "Content-Type", "Mcp-Session-Id", "Retry-After"} {
		for _, v := range w.Header().Values(name) {
			if name == "Mcp-Session-Id" {
				v = "(minted)"
			}
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", w.Body)
	return b.Bytes()
}
