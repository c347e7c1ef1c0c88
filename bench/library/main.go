// Command library takes a whole library of schema files beside the format's
// reference on Node, in one run: how many files load, how long that takes, how
// much memory it holds, and what comes of every test case of every tool when
// the upstream answers with what the tool's output schema describes.
//
//	library REFERENCE PROVIDERS LISTS PACKAGES LIBS OUT
//
// REFERENCE is a folder with flowmcp-core and its packages, PROVIDERS that of
// the schema files, LISTS that of the shared lists, PACKAGES has the npm
// packages of the handlers in its node_modules, and LIBS is what `tenon flowmcp
// libs add` made of them. It writes one JSON object to OUT and lines for people.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

//go:embed reference.mjs
var script []byte

// row is a test case as the reference ran it.
type row struct {
	ID      string          `json:"id"`
	Test    int             `json:"test"`
	Handler []string        `json:"handler"`
	Args    json.RawMessage `json:"args"`
	Answer  string          `json:"answer"`
	OK      bool            `json:"ok"`
	Why     string          `json:"why"`
	Sent    int             `json:"sent"`
	Data    any             `json:"data"`
	Files   int             `json:"files"`
	Loaded  int             `json:"loaded"`
}

// report is what OUT holds.
type report struct {
	Files     int     `json:"files"`
	Tenon     side    `json:"tenon"`
	Reference side    `json:"reference"`
	Cases     int     `json:"cases"`
	Handled   int     `json:"casesWithHandlers"`
	Same      int     `json:"bothFineAndEqual"`
	Differ    int     `json:"bothFineAndNotEqual"`
	Share     float64 `json:"shareWithoutError"`
	RefShare  float64 `json:"referenceShareWithoutError"`
	PostShare float64 `json:"postRequestShare"`
	RefPost   float64 `json:"referencePostRequestShare"`
}

// side is how one implementation loads the library.
type side struct {
	Loaded int     `json:"filesLoaded"`
	LoadMS float64 `json:"loadMS"` // exec to end
	PeakMB float64 `json:"peakMB"`
	Fine   int     `json:"casesWithoutError"`
	Post   int     `json:"postRequestCasesWithoutError"`
	post   int     // cases with a postRequest
}

func main() {
	worker := flowmcp.WorkerMain()
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "load":
		err = load(os.Args[2], os.Args[3], os.Args[4], worker)
	case len(os.Args) == 7:
		err = compare(os.Args[1:6], os.Args[6], worker)
	default:
		fmt.Fprintln(os.Stderr, "usage: library REFERENCE PROVIDERS LISTS PACKAGES LIBS OUT")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

func options(lists, libs string, worker []string) flowmcp.Options {
	return flowmcp.Options{
		ListsDir: lists, LibraryDir: libs, Worker: worker, Timeout: time.Minute, HandlerTimeout: 20 * time.Second,
		Env: func(name string) (string, bool) { return "SP_" + name, true },
	}
}

// load is the inside of a process of ours: everything that the first page of
// tools needs, for every tool.
func load(providers, lists, libs string, worker []string) error {
	offer, err := flowmcp.New(providers, options(lists, libs, worker)).Load(context.Background())
	if err != nil {
		return err
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "library", Features: offer}}, gateway.BuildOptions{})
	for _, t := range catalog.Tools() {
		t.Schemas()
	}
	files := map[string]bool{}
	for _, t := range offer.Tools {
		files[t.Origin.File] = true
	}
	return json.NewEncoder(os.Stdout).Encode(row{Loaded: len(files), Files: len(offer.Tools)})
}

func compare(from []string, out string, worker []string) error {
	dir, err := os.MkdirTemp("", "bench-library-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reference := filepath.Join(dir, "reference.mjs")
	if err := os.WriteFile(reference, script, 0o600); err != nil {
		return err
	}
	for i := range from {
		if from[i], err = filepath.Abs(from[i]); err != nil {
			return err
		}
	}
	node := func(mode string) []string { return append([]string{"node", reference, mode}, from[:4]...) }
	var r report
	for range 3 {
		if _, err := r.Reference.start(node("load")); err != nil {
			return err
		}
		if _, err := r.Tenon.start([]string{os.Args[0], "load", from[1], from[2], from[4]}); err != nil {
			return err
		}
	}
	rows, err := (&side{}).start(node("calls"))
	if err != nil {
		return err
	}
	r.Files = rows[len(rows)-1].Files
	if err := r.calls(rows, from, worker); err != nil {
		return err
	}
	r.print()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

// start runs a process, keeps the best of its time and memory, and returns the
// rows that it printed.
func (s *side) start(command []string) ([]row, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	begun := time.Now()
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	took := float64(time.Since(begun).Microseconds()) / 1000
	peak := float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	if s.LoadMS == 0 || took < s.LoadMS {
		s.LoadMS = took
	}
	if s.PeakMB == 0 || peak < s.PeakMB {
		s.PeakMB = peak
	}
	var rows []row
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue // what libraries print
		}
		var one row
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		rows = append(rows, one)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s printed nothing", command[0])
	}
	s.Loaded = rows[len(rows)-1].Loaded
	return rows, nil
}

// upstream answers every request with the same.
type upstream struct{ answer string }

func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(u.answer)), ContentLength: int64(len(u.answer)), Request: r,
	}, nil
}

// calls runs the rows through the gateway and counts.
func (r *report) calls(rows []row, from, worker []string) error {
	up := &upstream{}
	o := options(from[2], from[4], worker)
	o.Client = &http.Client{Transport: up}
	source := flowmcp.New(from[1], o)
	defer source.Close()
	offer, err := source.Load(context.Background())
	if err != nil {
		return err
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "library", Features: offer}}, gateway.BuildOptions{})
	g := gateway.New(catalog, gateway.Options{})
	names := map[string]string{}
	for _, t := range catalog.Tools() {
		var meta struct {
			ID string `json:"flowmcp/id"`
		}
		if err := json.Unmarshal(t.Tool().Meta, &meta); err != nil {
			return err
		}
		names[meta.ID] = t.Name()
	}
	for i := range rows {
		if rows[i].ID != "" {
			up.answer = rows[i].Answer
			r.one(g, names[rows[i].ID], &rows[i])
		}
	}
	return nil
}

// one makes the call of a row and compares what came of it.
func (r *report) one(g *gateway.Gateway, name string, want *row) {
	r.Cases++
	post := strings.Contains(strings.Join(want.Handler, " "), "postRequest")
	if len(want.Handler) > 0 {
		r.Handled++
	}
	var got struct {
		Status   bool
		Messages []string
		Data     any
	}
	if name == "" {
		got.Messages = []string{"not served"}
	} else if res, err := g.Call(context.Background(), &tenon.Call{Tool: name, Args: want.Args}); err != nil {
		got.Messages = []string{err.Error()}
	} else if err := json.Unmarshal(res.Structured, &got); err != nil {
		got.Messages = []string{err.Error()}
	}
	r.Reference.count(want.OK, post)
	r.Tenon.count(got.Status, post)
	switch {
	case want.OK && got.Status && reflect.DeepEqual(want.Data, got.Data):
		r.Same++
	case want.OK && got.Status:
		r.Differ++
		fmt.Printf("differs   %s test %d: %.300s, want %.300s\n", want.ID, want.Test, text(got.Data), text(want.Data))
	case want.OK:
		fmt.Printf("here only %s test %d fails: %.300s\n", want.ID, want.Test, strings.Join(got.Messages, "; "))
	}
}

func text(v any) []byte {
	b, _ := json.Marshal(v) // it was JSON
	return b
}

func (s *side) count(fine, post bool) {
	if fine {
		s.Fine++
	}
	if post {
		s.post++
		if fine {
			s.Post++
		}
	}
}

func (r *report) print() {
	share := func(n, of int) float64 { return float64(n) * 100 / float64(max(of, 1)) }
	r.Share, r.RefShare = share(r.Tenon.Fine, r.Cases), share(r.Reference.Fine, r.Cases)
	r.PostShare, r.RefPost = share(r.Tenon.Post, r.Tenon.post), share(r.Reference.Post, r.Reference.post)
	for name, s := range map[string]side{"tenon": r.Tenon, "reference": r.Reference} {
		fmt.Printf("%-10s %d of %d files, %6.0f ms, %5.1f MB; %d of %d cases without error, %d of %d behind postRequest\n",
			name, s.Loaded, r.Files, s.LoadMS, s.PeakMB, s.Fine, r.Cases, s.Post, s.post)
	}
	fmt.Printf("both without error: %d equal, %d not\n", r.Same, r.Differ)
}
