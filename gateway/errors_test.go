package gateway_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

// codesOfStatuses are the classes of errors as docs/errors.md has them.
var codesOfStatuses = map[int]string{
	400: "validation_error", 422: "validation_error", 401: "authentication_error", 403: "authorization_error", 404: "not_found", 410: "not_found",
	409: "conflict", 412: "conflict", 429: "rate_limited", 408: "timeout", 504: "timeout",
}

// TestEveryErrorFitsItsEnvelope has every status with every kind of body. The
// structure says the code, bounds the body and helps; and it fits the schema
// that the tool publishes for its successes.
func TestEveryErrorFitsItsEnvelope(t *testing.T) {
	bodies := []tenon.Response{
		{},
		{MediaType: "application/problem+json", Body: []byte(`{"title":"no","detail":"a reason"}`)},
		{MediaType: "application/json", Body: []byte(`{"title":`)},
		{MediaType: "text/html", Body: []byte(strings.Repeat("<p>ü", 20_000))},
		{MediaType: "application/json", Body: []byte(`["` + strings.Repeat("x", 100_000) + `"]`)},
		{MediaType: "image/png", Body: []byte("\x89PNG\xff")},
	}
	compiled := map[string]*schema.Schema{}
	for status := 300; status < 600; status++ {
		want := codesOfStatuses[status]
		switch {
		case want != "":
		case status >= 500:
			want = "server_error"
		default:
			want = "request_error"
		}
		for _, s := range allEnvelopes {
			for _, r := range bodies {
				r.Status, r.Header = status, http.Header{"Retry-After": {"7"}}
				g := one(tenon.Tool{Contract: bookContract(), Policy: tenon.Enforce, Envelope: s}, answer(r))
				res := call(t, g, `{"id":1}`)
				_, output := g.Catalog().Find("get_book").Schemas()
				fitsPublished(t, compiled, output, res.Structured, status)
				if !res.IsError || string(res.Code) != want || len(res.Content) != 1 || len(res.Content[0].Text) > 40<<10 {
					t.Errorf("%d %s %s: code %s, %d bytes", status, s, r.MediaType, res.Code, len(res.Content[0].Text))
				}
				if s == tenon.OpenAPIMCP {
					checkErrorForm(t, res.Structured, want, status)
				}
			}
		}
	}
}

func checkErrorForm(t *testing.T, structured []byte, code string, status int) {
	t.Helper()
	var form struct {
		OutputFormat, OutputType, Type string
		Error                          struct {
			Code, Message string
			Details       struct{ Status int }
			Suggestions   []string
		}
	}
	if err := json.Unmarshal(structured, &form); err != nil {
		t.Fatal(err)
	}
	e := form.Error
	if form.Type != "error" || e.Code != code || e.Details.Status != status || len(e.Suggestions) == 0 || !strings.HasPrefix(e.Message, "HTTP "+strconv.Itoa(status)) {
		t.Errorf("%d: %.300s", status, structured)
	}
	if code == "rate_limited" && !strings.Contains(e.Suggestions[0], "7") {
		t.Errorf("the wait is not said: %v", e.Suggestions)
	}
}
