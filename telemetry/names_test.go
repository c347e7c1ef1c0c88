package telemetry_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// registry is the extract of the published conventions that names are compared with.
type registry struct {
	Sources []string             `json:"sources"` // of the pages, as they say
	Spans   map[string]published `json:"spans"`
	Metrics map[string]published `json:"metrics"`
}

// published is a span or a metric.
type published struct {
	Kind       string               `json:"kind"` // of a span server or client, of a metric the instrument
	Unit       string               `json:"unit,omitempty"`
	Bounds     []float64            `json:"bounds,omitempty"`
	Attributes map[string]attribute `json:"attributes"`
}

type attribute struct {
	Level string `json:"level"` // required, conditionally_required, recommended or opt_in
	Type  string `json:"type"`
}

const extract = "testdata/semconv.json"

// readRegistry reads the extract. TENON_SEMCONV, a list of pages of the conventions in Markdown,
// makes it anew; .ci/semconv does that.
func readRegistry(t *testing.T) *registry {
	t.Helper()
	if pages := os.Getenv("TENON_SEMCONV"); pages != "" {
		r := &registry{Spans: map[string]published{}, Metrics: map[string]published{}}
		for _, page := range filepath.SplitList(pages) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			r.read(string(text))
		}
		r.Sources = strings.Fields(os.Getenv("TENON_SEMCONV_SOURCES"))
		out, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(extract, append(out, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(extract)
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	// The marks around generated parts, of both repositories.
	partMark   = regexp.MustCompile(`(?s)<!-- (?:semconv (span|metric)\.([a-z._]+)|weaver \.registry\.(span|metric)s\[\] \| select\(\.\w+ == "([a-z._]+)"\)) -->(.*?)<!-- end(?:semconv|weaver) -->`)
	keyRow     = regexp.MustCompile("(?m)^\\| (?:\\[)?`([a-z_.]+)`[^|]*\\|[^|]*\\| `(Required|Conditionally Required|Recommended|Opt-In)`[^|]*\\| \\[?([a-z]+(?:\\[\\])?)[^|]*\\|")
	metricRow  = regexp.MustCompile("(?m)^\\| `[a-z._]+` \\| (\\w+) \\| `([^`]+)` \\|")
	kindMark   = regexp.MustCompile("\\*\\*Span kind\\*\\* (?:SHOULD|MUST) be `(\\w+)`")
	boundsMark = regexp.MustCompile("`\\[ ([0-9., ]+) \\]`")
)

func (r *registry) read(page string) {
	for _, at := range partMark.FindAllStringSubmatchIndex(page, -1) {
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return page[at[2*i]:at[2*i+1]]
		}
		kind, name, body := cmp.Or(group(1), group(3)), cmp.Or(group(2), group(4)), group(5)
		p := published{Attributes: map[string]attribute{}}
		for _, row := range keyRow.FindAllStringSubmatch(body, -1) {
			p.Attributes[row[1]] = attribute{strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(row[2]), " ", "_"), "-", "_"), row[3]}
		}
		switch {
		case kind == "span":
			if m := kindMark.FindStringSubmatch(body); m != nil {
				p.Kind = strings.ToLower(m[1])
			}
			if name == "mcp.server" || name == "http.client" {
				r.Spans[name] = p
			}
		case name == "mcp.server.operation.duration" || name == "mcp.server.session.duration" || name == "http.client.request.duration":
			if m := metricRow.FindStringSubmatch(body); m != nil {
				p.Kind, p.Unit = strings.ToLower(m[1]), m[2]
			}
			if m := boundsMark.FindAllStringSubmatch(page[:at[0]], -1); m != nil { // the last before the part
				for b := range strings.SplitSeq(m[len(m)-1][1], ", ") {
					f, _ := strconv.ParseFloat(b, 64)
					p.Bounds = append(p.Bounds, f)
				}
			}
			r.Metrics[name] = p
		}
	}
}

// TestPublishedNames compares every name that is not our own with the conventions, and
// finds those that they require and we do not have.
func TestPublishedNames(t *testing.T) {
	r := readRegistry(t)
	compare := func(what string, p published, ours []string, without ...string) {
		if len(p.Attributes) == 0 {
			t.Errorf("the extract has no attribute of %s", what)
		}
		for _, name := range ours {
			if _, ok := p.Attributes[name]; !ok && !strings.HasPrefix(name, "tenon.") {
				t.Errorf("%s: the conventions do not know %s", what, name)
			}
		}
		for name, a := range p.Attributes {
			if a.Level != "opt_in" && !slices.Contains(ours, name) && !slices.Contains(without, name) {
				t.Errorf("%s: %s is %s and missing", what, name, a.Level)
			}
		}
	}
	spans := telemetry.SpanAttributes()
	// The version of JSON-RPC is recommended where it is not 2.0; client.port says nothing
	// to anybody behind a proxy.
	compare("server spans", r.Spans["mcp.server"], texts(spans["server"]), "jsonrpc.protocol.version", "client.port")
	// Addresses of peers and the version of HTTP are not known where spans end.
	compare("client spans", r.Spans["http.client"], texts(spans["client"]), "network.peer.address", "network.peer.port", "network.protocol.version", "network.protocol.name", "http.request.method_original")
	if r.Spans["mcp.server"].Kind != "server" || r.Spans["http.client"].Kind != "client" {
		t.Error("kinds of spans", r.Spans)
	}
	n := 0
	for _, m := range telemetry.Metrics() {
		if strings.HasPrefix(m.Name, "tenon.") {
			continue
		}
		n++
		p := r.Metrics[m.Name]
		if p.Kind != m.Kind || p.Unit != m.Unit {
			t.Errorf("%s is a %s in %s, not a %s in %s", m.Name, p.Kind, p.Unit, m.Kind, m.Unit)
		}
		without := []string{"jsonrpc.protocol.version", "network.protocol.version", "network.protocol.name"}
		if m.Name == "mcp.server.session.duration" {
			without = append(without, "error.type") // a session ends, but never with an error
		}
		compare(m.Name, p, texts(m.Attributes), without...)
		if got := fmt.Sprint(telemetry.Bounds(m.Name)); got != fmt.Sprint(p.Bounds) {
			t.Errorf("%s has the bounds %s, not %v", m.Name, got, p.Bounds)
		}
	}
	if n != len(r.Metrics) {
		t.Errorf("%d of %d published metrics", n, len(r.Metrics))
	}
}

func texts[T ~string](list []T) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// TestNamesAreDocumented compares docs/telemetry.md with names.go.
func TestNamesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return "`" + strings.Join(list, "`, `") + "` "
	}
	for _, m := range telemetry.Metrics() {
		unit := m.Unit
		want := fmt.Sprintf("| `%s` | %s, `%s` | %s| %s |\n", m.Name, m.Kind, unit, row(texts(m.Attributes)), m.Help)
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/telemetry.md has no row\n%s", want)
		}
	}
	for kind, attributes := range telemetry.SpanAttributes() {
		want := fmt.Sprintf("| %s | %s|\n", kind, row(texts(attributes)))
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/telemetry.md has no row\n%s", want)
		}
	}
}

// TestDashboard compares the queries of the dashboard with the names of metrics as
// Prometheus has them.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known, labels := map[string]bool{}, map[string]bool{"le": true, "instance": true, "job": true}
	for series := range strings.Lines(everything(t)) {
		if series[0] != '#' && !strings.HasPrefix(series, "target_info") {
			known[series[:strings.IndexAny(series, "{ ")]] = true
		}
	}
	for _, m := range telemetry.Metrics() {
		if name := strings.ReplaceAll(m.Name, ".", "_"); !known[name] && !known[name+"_total"] && !known[name+"_seconds_bucket"] {
			t.Errorf("Prometheus gets no %s", m.Name)
		}
		for _, a := range texts(m.Attributes) {
			labels[strings.ReplaceAll(a, ".", "_")] = true
		}
	}
	used := map[string]bool{}
	name := regexp.MustCompile(`\b(mcp|http|tenon)_[a-z_]+\b`)
	by := regexp.MustCompile(`by \(([^)]*)\)`)
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			for _, n := range name.FindAllString(q.Expr, -1) {
				if !known[n] && !labels[n] {
					t.Errorf("panel %q: there is no %s", p.Title, n)
				}
				used[n] = true
			}
			for _, m := range by.FindAllStringSubmatch(q.Expr, -1) {
				for l := range strings.SplitSeq(m[1], ",") {
					if !labels[strings.TrimSpace(l)] {
						t.Errorf("panel %q: there is no label %q", p.Title, l)
					}
				}
			}
		}
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
	}
	for n := range known {
		if !used[n] && !strings.HasSuffix(n, "_sum") && !strings.HasSuffix(n, "_count") && !strings.HasSuffix(n, "_bucket") {
			t.Errorf("no panel shows %s", n)
		}
	}
}

// everything is what Prometheus gets when every instrument has a value.
func everything(t *testing.T) string {
	w := newWorld(t, telemetry.Options{Prometheus: true})
	defer w.end(t)
	w.post("tools/call", "buy", `"name":"buy"`, "")
	w.telemetry.EndSession(server.SessionRecord{Revision: "2025-11-25"})
	w.telemetry.Refused(server.RefusalRecord{Status: 401})
	w.telemetry.Reloaded(true)
	w.telemetry.CacheLookup(true)
	w.telemetry.BreakerChanged("https://books.example", "open")
	w.telemetry.ObserveCall(t.Context(), &gateway.CallRecord{Tool: w.catalog.Find("buy"), Result: &tenon.Result{Outcome: tenon.Outcome{Verdict: tenon.Violated}}})
	return w.scrape()
}
