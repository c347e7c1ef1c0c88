package flowmcp_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// endless answers with bodies of so many bytes and counts what is read of them.
type endless struct {
	bytes, announced int64
	read             atomic.Int64
}

type endlessBody struct {
	of   *endless
	left int64
}

func (b *endlessBody) Read(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	b.left -= n
	b.of.read.Add(n)
	return int(n), nil
}

func (b *endlessBody) Close() error { return nil }

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &endlessBody{e, e.bytes}, ContentLength: e.announced, Request: r}, nil
}

// TestFetchesShareABudget reads 64 answers at once, of which a few fit. No more
// is read than is allowed, but for one piece of each.
func TestFetchesShareABudget(t *testing.T) {
	const each, allowed, piece = 8 << 20, 64 << 20, 64 << 10
	for name, announced := range map[string]int64{"announced": each, "not announced": -1} {
		out := &endless{bytes: each, announced: announced}
		tool := load(t, handled(`executeRequest: async ({ struct }) => {
			const all = await Promise.allSettled(Array.from({ length: 64 }, () => fetch(struct.url).then((r) => r.status)))
			return { response: { good: all.filter((a) => a.status === 'fulfilled').length, why: all.find((a) => a.status === 'rejected')?.reason.message } } }`),
			flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey})
		reply, err := tool.Handler(t.Context(), &tenon.Call{})
		if err != nil || !strings.Contains(string(reply.Body), "are larger than 67108864 bytes together") {
			t.Errorf("%s: %s %v", name, reply.Body, err)
		}
		most := int64(allowed)
		if announced < 0 {
			most += 64 * piece
		}
		if n := out.read.Load(); n > most {
			t.Errorf("%s: %d bytes were read", name, n)
		}
	}
}
