package envelope

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestHeadersThatAreTold(t *testing.T) {
	told := []string{
		"Content-Type", "Content-Language", "Content-Disposition", "Location", "Link", "Etag", "Last-Modified", "Retry-After", "Deprecation", "Sunset", "X-Total-Count", "X-Next-Page",
		"X-Ratelimit-Remaining", "Ratelimit-Reset", "Ratelimit", "X-Request-Id", "X-Github-Request-Id", "X-Correlation-Id", "Traceparent", "Idempotency-Key", "X-Ms-Continuation-Token",
		"X-Next-Token", "X-Author", "X-Custom", "Cache-Control", "Age", "Allow", "Operation-Location", "X-Api-Version",
	}
	kept := []string{
		"Date", "Server", "Set-Cookie", "Set-Cookie2", "Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Www-Authenticate", "Proxy-Authenticate", "X-Auth-Token",
		"X-Subject-Token", "X-Api-Key", "X-Csrf-Token", "X-Session-Id", "Sessionid", "X-Signature", "X-Amz-Security-Token", "X-Accesstoken", "X-Powered-By", "Via", "Vary", "Alt-Svc", "Nel", "Cf-Ray",
		"Strict-Transport-Security", "Content-Security-Policy", "Access-Control-Allow-Origin", "Content-Length", "Connection", "X-Frame-Options", "X-Cache",
	}
	h := http.Header{}
	for _, name := range append(slices.Clone(told), kept...) {
		h[name] = []string{"v"}
	}
	slices.Sort(told)
	if got := slices.Sorted(maps.Keys(Visible(h))); !slices.Equal(got, told) {
		t.Errorf("told %q, want %q", got, told)
	}
}

// However many headers an upstream sends, few bytes are told, and the useful ones
// among them.
func TestHeadersAreBounded(t *testing.T) {
	h := http.Header{"Link": {"</next>; rel=next"}, "X-Long": {strings.Repeat("a", maxHeaderValue+1)}, "X-Request-Id": {"1"}}
	for _, length := range []int{1, 300} {
		for i := range 10_000 {
			h[fmt.Sprintf("A-%d", i)] = []string{strings.Repeat("b", length)}
		}
		got := Visible(h)
		size := 0
		for name, values := range got {
			size += len(name) + len(strings.Join(values, ", "))
		}
		if len(got) > maxHeaders || size > maxHeaderBytes || got["Link"] == nil || got["X-Request-Id"] == nil || got["X-Long"] != nil {
			t.Errorf("%d headers, %d bytes", len(got), size)
		}
	}
}
