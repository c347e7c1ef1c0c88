package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// upstreamSays answers every request with the same answer.
type upstreamSays struct {
	status int
	header http.Header
	body   string
}

func (u *upstreamSays) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: u.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: u.header.Clone(), ContentLength: int64(len(u.body)),
		Body: io.NopCloser(strings.NewReader(u.body)), Request: r,
	}, nil
}

// contractReport is _meta["tenon/contract"].
type contractReport struct {
	Verdict, Executed, Retry string
	Violations               []struct{ Path, Expected string }
}

// callOne calls the one operation of a document.
func callOne(t testing.TB, document string, u *upstreamSays, policy tenon.Policy) (*tenon.Result, contractReport) {
	t.Helper()
	offer, err := openapi.Parse("d", []byte(document), openapi.Options{Client: &http.Client{Transport: u, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, Policy: policy, Envelope: tenon.OpenAPIMCP})
	if err != nil || len(offer.Tools) == 0 {
		t.Fatal(err, offer.Diagnostics)
	}
	offer.Tools[0].Confirmation = tenon.ConfirmRule{}
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "d", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	res, err := g.Call(t.Context(), &tenon.Call{Tool: offer.Tools[0].Name, Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Contract contractReport `json:"tenon/contract"`
	}
	if err := json.Unmarshal(res.Meta, &meta); err != nil {
		t.Fatal(err)
	}
	return res, meta.Contract
}

func documentOf(version, method, responses string) string {
	head := `"openapi":"` + version + `","servers":[{"url":"http://u.test"}]`
	if version == "2.0" {
		head = `"swagger":"2.0","host":"u.test","schemes":["http"],"produces":["application/x-ndjson","application/json"]`
	}
	return `{` + head + `,"info":{"title":"t","version":"1"},"paths":{"/a":{"` + method + `":{"operationId":"a","responses":` + responses + `}}}}`
}

// TestVerdicts holds answers against what documents say of them, under enforce.
func TestVerdicts(t *testing.T) {
	const (
		onlyErrors = `{"405":{"description":"no"}}`
		bare       = `{"200":{"description":"ok"}}`
		ndjson     = "application/x-ndjson"
		number     = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	)
	content := func(media, schema string) string {
		return `{"200":{"description":"ok","content":{"` + media + `":{"schema":` + schema + `}}}}`
	}
	list := `{"type":"array","items":` + number + `,"minItems":1}`
	tests := []struct {
		name, version, method, responses string
		status                           int
		media, body                      string
		verdict, path                    string
	}{
		{"no content is declared", "3.0.3", "post", bare, 200, "application/json", `{"n":1}`, "unchecked", ""},
		{"no content is declared, text", "3.1.0", "post", bare, 200, "text/plain", `hello`, "unchecked", ""},
		{"no content is declared, nothing comes", "3.1.0", "post", bare, 200, "", ``, "fits", ""},
		{"no content of a status without a body", "3.1.0", "post", `{"2XX":{"description":""},"204":{"description":""}}`, 204, "", ``, "fits", ""},
		{"only errors are declared", "3.0.3", "post", onlyErrors, 200, "application/json", `{"n":1}`, "unchecked", ""},
		{"only errors are declared, 2.0", "2.0", "put", onlyErrors, 200, "application/json", `{"n":1}`, "unchecked", ""},
		{"only errors are declared, nothing comes", "2.0", "delete", onlyErrors, 204, "", ``, "unchecked", ""},
		{"default beside a 2xx", "3.0.3", "get", `{"200":{"description":"ok"},"default":{"description":"","content":{"application/json":{"schema":{}}}}}`, 202, "application/json", `{}`, "undeclared", ""},
		{"lines, their items described", "3.0.3", "get", content(ndjson, number), 200, ndjson, "{\"n\":1}\n{\"n\":\"2\"}\n", "violated", "/1/n"},
		{"lines, their items described, which fit", "3.1.0", "get", content(ndjson, number), 200, ndjson, "{\"n\":1}\n", "fits", ""},
		{"lines, their list described", "3.1.0", "get", content(ndjson, list), 200, ndjson, "{\"n\":1}\n{}\n", "violated", "/1"},
		{"lines, their list described, which fits", "3.0.3", "get", content("application/jsonl", list), 200, "application/jsonl", "{\"n\":1}\n", "fits", ""},
		{"lines, a list by reference and parts", "3.1.0", "get", content(ndjson, `{"allOf":[{"type":["array","null"],"items":`+number+`}]}`), 200, ndjson, "{}\n", "violated", "/0"},
		{"lines, items of several kinds", "3.1.0", "get", content(ndjson, `{"oneOf":[`+number+`,{"type":"string"}]}`), 200, ndjson, "\"a\"\n7\n", "violated", "/1"},
		{"lines, an item without a type", "3.1.0", "get", content(ndjson, `{"required":["n"]}`), 200, ndjson, "{}\n", "violated", ""},
		{"lines, an item without a type, which fits", "3.1.0", "get", content(ndjson, `{"enum":[1]}`), 200, ndjson, "1\n1\n", "fits", ""},
		{"lines, 2.0", "2.0", "get", `{"200":{"description":"ok","schema":` + list + `}}`, 200, ndjson, "{\"n\":1}\n{}\n", "violated", "/1"},
		{"lines, the word of 3.2", "3.2.0", "get", `{"200":{"description":"ok","content":{"application/x-ndjson":{"schema":{"type":"array"},"itemSchema":` + number + `}}}}`, 200, ndjson, "{}\n", "violated", "/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			if tt.media != "" {
				header.Set("Content-Type", tt.media)
			}
			res, report := callOne(t, documentOf(tt.version, tt.method, tt.responses), &upstreamSays{tt.status, header, tt.body}, tenon.Enforce)
			if report.Verdict != tt.verdict {
				t.Errorf("verdict %s, want %s: %s", report.Verdict, tt.verdict, res.Meta)
			}
			if wrong := tt.verdict == "violated" || tt.verdict == "undeclared"; res.IsError != wrong {
				t.Errorf("isError is %v: %s", res.IsError, res.Structured)
			}
			if tt.path != "" && (len(report.Violations) == 0 || !strings.HasPrefix(report.Violations[0].Path, tt.path)) {
				t.Errorf("not at %s: %s", tt.path, res.Meta)
			}
		})
	}
}

// TestMarksAndEncodings: a byte order mark before JSON is ignored, and an encoding
// that nobody could undo is named.
func TestMarksAndEncodings(t *testing.T) {
	const declared = `{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"n":{"type":"integer"}}}},"text/plain":{},"application/x-ndjson":{"schema":{"type":"integer"}}}}}`
	const mark = "\xef\xbb\xbf"
	encoded := "\x1f\x9d\x90{\"n\":1}"
	tests := []struct {
		name, media, encoding, body string
		status                      int
		isError                     bool
		says                        string
	}{
		{"a mark before JSON", "application/json", "", mark + `{"n":1}`, 200, false, `"data":{"n":1}`},
		{"a mark before JSON that breaks its schema", "application/json", "", mark + `{"n":"x"}`, 200, true, `n: expected integer`},
		{"a mark before JSON of no named type", "", "", mark + `{"n":1}`, 200, false, `"data":{"n":1}`},
		{"a mark before lines", "application/x-ndjson", "", mark + "1\n2\n", 200, false, `"data":[1,2]`},
		{"a mark before an error", "application/json", "", mark + `{"message":"no"}`, 422, true, `HTTP 422 Unprocessable Entity: no`},
		{"two marks", "application/json", "", mark + mark + `{"n":1}`, 200, true, `strict JSON`},
		{"an encoding that cannot be undone", "application/json", "compress", encoded, 200, true, `Content-Encoding: compress`},
		{"of a text", "text/plain", "compress", encoded, 200, true, `Content-Encoding: compress`},
		{"of an error", "application/json", "compress", encoded, 500, true, `HTTP 500`},
		{"an encoding that is none", "application/json", "UTF-8", `{"n":1}`, 200, false, `"data":{"n":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := &upstreamSays{tt.status, http.Header{}, tt.body}
			if tt.media != "" {
				u.header.Set("Content-Type", tt.media)
			}
			if tt.encoding != "" {
				u.header.Set("Content-Encoding", tt.encoding)
			}
			res, _ := callOne(t, documentOf("3.1.0", "get", declared), u, tenon.Enforce)
			if res.IsError != tt.isError || !strings.Contains(string(res.Structured), tt.says) || strings.Contains(string(res.Structured), "offset 0") != (tt.name == "two marks") {
				t.Errorf("%s", res.Structured)
			}
		})
	}
}

// TestRedirectsThatAreNotFollowed: what a 3xx means for the request that it
// answers, where it leads, and what may help.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	tests := []struct {
		method           string
		status           int
		executed, retry  string
		message, advices string
	}{
		{"post", 307, "no", "safe", "HTTP 307 Temporary Redirect; it was not followed to https://other.test/a", "The call was not executed"},
		{"post", 308, "no", "safe", "HTTP 308 Permanent Redirect; it was not followed to", "expects it at the other URL"},
		{"post", 301, "unknown", "unsafe", "It is not known whether this call was executed", "another URL"},
		{"post", 302, "unknown", "unsafe", "HTTP 302 Found; it was not followed to", "find out with a tool that reads"},
		{"put", 302, "unknown", "safe", "HTTP 302 Found; it was not followed to", "find out with a tool that reads"},
		{"post", 303, "yes", "unsafe", "HTTP 303 See Other; it was not followed to", "read the outcome"},
		{"get", 304, "", "", "HTTP 304 Not Modified", "If-None-Match"},
		{"get", 308, "", "", "HTTP 308 Permanent Redirect", "The call was not executed"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.method, tt.status), func(t *testing.T) {
			u := &upstreamSays{tt.status, http.Header{}, ""}
			if tt.status != 304 {
				u.header.Set("Location", "https://other.test/a")
			}
			res, report := callOne(t, documentOf("3.1.0", tt.method, `{"200":{"description":"ok"}}`), u, tenon.Warn)
			if tt.executed != "" && (report.Executed != tt.executed || report.Retry != tt.retry) {
				t.Errorf("executed %s, retry %s", report.Executed, report.Retry)
			}
			for _, want := range []string{tt.message, tt.advices} {
				if !res.IsError || !strings.Contains(string(res.Structured), want) {
					t.Errorf("%s does not say %q", res.Structured, want)
				}
			}
			if has := strings.Contains(string(res.Details), `"location":"https://other.test/a"`); has != (tt.status != 304) {
				t.Errorf("details %s", res.Details)
			}
		})
	}
}

// TestABrokenCat: of what a discriminator calls a Cat, the violations as a Cat are
// told, in an answer and in the items of a stream.
func TestABrokenCat(t *testing.T) {
	const dogOrCat = `{"oneOf":[{"$ref":"#/components/schemas/Dog"},{"$ref":"#/components/schemas/Cat"}],"discriminator":{"propertyName":"kind","mapping":{"felix":"Cat"}}}`
	document := strings.TrimSuffix(documentOf("3.1.0", "get", `{"200":{"description":"ok","content":{"application/json":{"schema":`+dogOrCat+`},"application/x-ndjson":{"schema":`+dogOrCat+`}}}}`), "}") +
		`,"components":{"schemas":{"Cat":{"type":"object","required":["lives"],"properties":{"lives":{"type":"integer"}}},"Dog":{"type":"object","properties":{"kind":{"const":"Dog"}},"required":["bark"]}}}}`
	for media, path := range map[string]string{"application/json": "/lives", "application/x-ndjson": "/0/lives"} {
		res, report := callOne(t, document, &upstreamSays{200, http.Header{"Content-Type": {media}}, `{"kind":"felix","lives":"9"}`}, tenon.Enforce)
		if report.Verdict != "violated" || len(report.Violations) != 1 || report.Violations[0].Path != path {
			t.Errorf("%s: %s", media, res.Meta)
		}
	}
}
