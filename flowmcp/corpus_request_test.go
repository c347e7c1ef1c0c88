package flowmcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// sent is a request as it left.
type sent struct {
	Method, URL string
	Headers     map[string]string
	Body        *string
}

// recorder keeps the last request and answers nothing.
type recorder struct{ last *sent }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	s := &sent{Method: req.Method, URL: req.URL.String(), Headers: map[string]string{}}
	for name := range req.Header {
		s.Headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		text := string(body)
		s.Body = &text
	}
	r.last = s
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("{}"))), Request: req}, nil
}

type requestRow struct {
	Schema, Tool string
	Test         int
	UserParams   json.RawMessage
	PreRequest   bool
	Request      sent
}

// TestCorpusRequests compares what every test case of the library sends with
// what the reference sends. A difference must be of a kind that is intended,
// and they must be few.
func TestCorpusRequests(t *testing.T) {
	dir, mains := corpusFolder(t)
	rec := &recorder{}
	tools := toolsByID(t, dir, rec, false)
	described := map[string]main{}
	for _, row := range mains {
		var m main
		if err := json.Unmarshal(row.Main, &m); err != nil {
			t.Fatal(err)
		}
		described[row.Schema] = m
	}
	compared, differ := 0, map[string]int{}
	for _, row := range corpus[requestRow](t, "requests.jsonl") {
		if row.PreRequest {
			continue
		}
		compared++
		m := described[row.Schema]
		id := m.Namespace + "/" + strings.TrimSuffix(path.Base(row.Schema), ".mjs") + "::" + row.Tool
		tool, ok := tools[id]
		if !ok {
			t.Errorf("%s is not served", id)
			continue
		}
		rec.last = nil
		_, err := tool.Handler(t.Context(), &tenon.Call{Args: row.UserParams})
		kind, why := compareRequest(m.Tools[row.Tool], row, rec.last, err)
		if kind != "" {
			differ[kind]++
		}
		if why != "" {
			t.Errorf("%s test %d: %s", id, row.Test, why)
		}
	}
	total := 0
	for _, n := range differ {
		total += n
	}
	share := float64(total) / float64(compared) * 100
	t.Logf("%d requests compared, %d differ by intent (%.1f %%): %v", compared, total, share, differ)
	if share > 8 {
		t.Errorf("%.1f %% of the requests differ", share)
	}
}

// toolsByID are the tools of a folder under their names in full.
func toolsByID(t *testing.T, dir string, rec *recorder, callerMarks bool) map[string]tenon.Tool {
	t.Helper()
	features, err := flowmcp.New(dir, flowmcp.Options{
		Client: &http.Client{Transport: rec}, ImplicitParameters: callerMarks,
		Env: func(name string) (string, bool) { return "SP_" + name, true },
	}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]tenon.Tool{}
	for _, tool := range features.Tools {
		var meta struct {
			ID string `json:"flowmcp/id"`
		}
		if err := json.Unmarshal(tool.Meta, &meta); err != nil {
			t.Fatal(err)
		}
		tools[meta.ID] = tool
	}
	return tools
}

// TestCorpusCallerMarks compares the requests with and without ImplicitParameters.
// Where they differ, the file has a mark that names nothing, and nothing but
// the case's arguments and defaults came in.
func TestCorpusCallerMarks(t *testing.T) {
	dir, mains := corpusFolder(t)
	rec := &recorder{}
	without, with := toolsByID(t, dir, rec, false), toolsByID(t, dir, rec, true)
	namespaces := map[string]main{}
	for _, row := range mains {
		var m main
		if err := json.Unmarshal(row.Main, &m); err != nil {
			t.Fatal(err)
		}
		namespaces[row.Schema] = m
	}
	compared, filled, refused := 0, 0, 0
	for _, row := range corpus[requestRow](t, "requests.jsonl") {
		m := namespaces[row.Schema]
		id := m.Namespace + "/" + strings.TrimSuffix(path.Base(row.Schema), ".mjs") + "::" + row.Tool
		if row.PreRequest || with[id].Handler == nil {
			continue
		}
		compared++
		var args map[string]any
		if err := json.Unmarshal(row.UserParams, &args); err != nil {
			t.Fatal(err)
		}
		var urls [2]string
		for i, tool := range []tenon.Tool{without[id], with[id]} {
			rec.last = nil
			if _, err := tool.Handler(t.Context(), &tenon.Call{Args: row.UserParams}); err == nil {
				urls[i] = rec.last.URL
			}
		}
		switch urls[1] {
		case urls[0]:
			continue
		case "": // cases of one tool that name the same argument in two ways
			refused++
			continue
		}
		filled++
		marked := slices.ContainsFunc(m.Tools[row.Tool].Parameters, func(p describedParameter) bool {
			return strings.Contains(strings.ReplaceAll(p.Position.Value, "{{USER_PARAM}}", ""), "{{")
		})
		if emptied(urls[0], args) != emptied(urls[1], args) || !marked {
			t.Errorf("%s test %d: %s without, %s with", id, row.Test, urls[0], urls[1])
		}
	}
	t.Logf("%d requests compared, %d have arguments in the place of marks that name nothing, %d lack one", compared, filled, refused)
}

// emptied is an address without arguments and marks, and without pairs that
// then are empty or a number, as defaults are.
func emptied(address string, args map[string]any) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	var texts []string
	for _, value := range args {
		texts = append(texts, fmt.Sprint(value))
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	without := func(text string) string {
		for _, s := range texts {
			text = strings.ReplaceAll(text, s, "")
		}
		return regexp.MustCompile(`\{\{\w+\}\}`).ReplaceAllString(text, "")
	}
	query := []string{}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(decoded(pair), "=")
		if value = without(value); strings.Trim(value, "0123456789") != "" {
			query = append(query, key+"="+value)
		}
	}
	return u.Host + strings.TrimSuffix(without(u.Path), "/") + "?" + strings.Join(query, "&")
}

// main is what the comparison needs to know of a schema file.
type main struct {
	Namespace string
	Tools     map[string]described
}

type described struct {
	Parameters []describedParameter
}

type describedParameter struct {
	Position struct{ Key, Value, Location string }
	Z        struct{ Options []string }
}

// compareRequest returns the kind of an intended difference, or why a
// difference is not of any.
func compareRequest(tool described, row requestRow, got *sent, err error) (kind, why string) {
	want := row.Request
	var args map[string]any
	if e := json.Unmarshal(row.UserParams, &args); e != nil {
		return "", e.Error()
	}
	if got == nil {
		var known *tenon.Error
		if errors.As(err, &known) && known.Code == tenon.CodeValidation && strings.Contains(want.URL, "undefined") {
			return "missing optionals", ""
		}
		return "", fmt.Sprintf("no request: %v; want %s", err, want.URL)
	}
	if got.Method != want.Method {
		return "", "method " + got.Method
	}
	headers := map[string]string{} // the reference sends a name twice where its case differs
	for name, value := range want.Headers {
		headers[strings.ToLower(name)] = value
	}
	if diff := cmp.Diff(headers, got.Headers); diff != "" {
		return "", "headers (-want +got):\n" + diff
	}
	defaults := defaultsOf(tool, args)
	kind, why = compareBody(got.Body, want.Body, defaults)
	if why != "" {
		return "", why
	}
	urlKind, why := compareURL(got.URL, want.URL, defaults, args)
	if urlKind != "" {
		kind = urlKind
	}
	return kind, why
}

// defaultsOf are the keys whose argument is not given and has a default.
func defaultsOf(tool described, args map[string]any) map[string]bool {
	keys := map[string]bool{}
	for _, p := range tool.Parameters {
		_, given := args[p.Position.Key]
		if !given && slices.ContainsFunc(p.Z.Options, func(o string) bool { return strings.HasPrefix(o, "default(") }) {
			keys[p.Position.Key] = true
		}
	}
	return keys
}

func compareBody(got, want *string, defaults map[string]bool) (kind, why string) {
	if got == nil || want == nil {
		if got == want {
			return "", ""
		}
		return "", fmt.Sprintf("body %v, want %v", got, want)
	}
	if *got == *want {
		return "", ""
	}
	var g, w map[string]any
	if json.Unmarshal([]byte(*got), &g) != nil || json.Unmarshal([]byte(*want), &w) != nil {
		return "", fmt.Sprintf("body %q, want %q", *got, *want)
	}
	for key := range g {
		if _, there := w[key]; !there && defaults[key] {
			delete(g, key)
			kind = "defaults"
		}
	}
	gs, _ := json.Marshal(g)
	ws, _ := json.Marshal(w)
	if !bytes.Equal(gs, ws) {
		return "", fmt.Sprintf("body %s, want %s", gs, ws)
	}
	return kind, ""
}

// compareURL compares in steps: as it is, without what defaults added, with
// everything decoded.
func compareURL(got, want string, defaults map[string]bool, args map[string]any) (kind, why string) {
	g, gerr := url.Parse(got)
	w, werr := url.Parse(want)
	if gerr != nil || werr != nil {
		return "", fmt.Sprintf("%v %v", gerr, werr)
	}
	if got == want || g.String() == w.String() {
		return "", ""
	}
	bad := fmt.Sprintf("\n got %s\nwant %s", got, want)
	if g.Scheme != w.Scheme || g.Host != w.Host {
		return "", bad
	}
	rest, added := withoutDefaults(g.RawQuery, w.RawQuery, defaults)
	switch {
	case strings.ReplaceAll(w.Path, "/undefined", "") == g.Path && g.Path != w.Path && (g.RawQuery == w.RawQuery || added && rest == w.RawQuery):
		return "missing optionals", ""
	case len(defaults) > 0 && g.RawQuery == w.RawQuery && insertsDefault(g.Path, w.Path):
		return "defaults", ""
	case g.EscapedPath() == w.EscapedPath() && added && rest == w.RawQuery:
		return "defaults", ""
	case g.Path == w.Path && (g.RawQuery == w.RawQuery || added && rest == w.RawQuery):
		return "encoding of inserts", ""
	case g.Path == w.Path && decoded(rest) == decoded(w.RawQuery) && strings.Contains(want, "?"):
		return "encoding of inserts", ""
	case g.EscapedPath() == w.EscapedPath() && repeated(g.Query(), w.Query()):
		return "repeated keys", ""
	case filled(w.RawQuery, "{{USER_PARAM}}", g.RawQuery, args): // the reference fills a mark that is repeated once
		return "repeated keys", ""
	case g.RawQuery == w.RawQuery && oneBrace(g.Path, w.Path, args):
		return "encoding of inserts", ""
	}
	return "", bad
}

// filled reports whether got is want with an argument in the place of mark.
func filled(want, mark, got string, args map[string]any) bool {
	for _, value := range args {
		if text, ok := value.(string); ok && strings.Contains(decoded(want), mark) && strings.ReplaceAll(decoded(want), mark, text) == decoded(got) {
			return true
		}
	}
	return false
}

// oneBrace reports whether got is want with arguments in the place of {key},
// which real files write and the reference sends as it stands.
func oneBrace(got, want string, args map[string]any) bool {
	there := want
	for key, value := range args {
		there = strings.ReplaceAll(there, "{"+key+"}", fmt.Sprint(value))
	}
	return there != want && there == got
}

// insertsDefault reports whether the paths differ only where the reference
// wrote undefined.
func insertsDefault(got, want string) bool {
	g, w := strings.Split(got, "/"), strings.Split(want, "/")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if g[i] != w[i] && w[i] != "undefined" {
			return false
		}
	}
	return true
}

// withoutDefaults takes the pairs out that a default added.
func withoutDefaults(got, want string, defaults map[string]bool) (rest string, added bool) {
	var kept []string
	there := strings.Split(want, "&")
	for pair := range strings.SplitSeq(got, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err == nil && defaults[key] && !slices.Contains(there, pair) {
			added = true
			continue
		}
		kept = append(kept, pair)
	}
	return strings.Join(kept, "&"), added
}

func decoded(query string) string {
	text, err := url.QueryUnescape(query)
	if err != nil {
		return query
	}
	return text
}

// repeated reports whether got has the last value of each key, as want has,
// and others before it.
func repeated(got, want url.Values) bool {
	more := false
	for key, values := range got {
		if len(values) == 0 || values[len(values)-1] != want.Get(key) {
			return false
		}
		more = more || len(values) > 1
	}
	return more && len(got) == len(want)
}
