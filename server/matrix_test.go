package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/search"
	"github.com/tenon-mcp/tenon/server"
)

// The ways in which an answer reaches its caller.
const (
	atOnce    = "first call"
	resumed   = "resumed"
	streamed  = "stream resumed"
	forwarded = "forwarded by search"
	asTask    = "task"
)

// cell is one combination of the matrix.
type cell struct {
	way     string
	client  clientKind
	env     tenon.Envelope
	kind    answerKind
	other   bool // somebody else tries to get what is not theirs
	coerced bool // the arguments are not yet what the schema says
	blocks  bool // the source makes its own content
}

// answerKind is what the source answers, and what the contract says of that.
type answerKind struct {
	verdict, executed, retry string

	policy   tenon.Policy
	sent     tenon.Execution
	id       string // how the source writes the number of an item
	became   string // how it is delivered
	declares bool   // the tool has an argument resume_token of its own
}

func answerKinds() []answerKind {
	return []answerKind{
		{"fits", "yes", "unsafe", tenon.Enforce, tenon.Execution{Unsafe: tenon.Responded}, "%d", "%d", false},
		{"repaired", "unknown", "safe", tenon.Repair, tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: true}, `"%d"`, "%d", true},
		{"violated", "yes", "safe", tenon.Warn, tenon.Execution{}, `"no %d"`, `"no %d"`, false},
	}
}

func matrixClients() []clientKind {
	return []clientKind{
		{"2025-11-25 with a session", "2025-11-25", forms, "session"},
		{"2026-07-28", "2026-07-28", taskClient, "POST"},
		{"2025-11-25 on stdio", "2025-11-25", forms, "stdio"},
		{"2026-07-28 on stdio", "2026-07-28", taskClient, "stdio"},
		{"the JSON-RPC endpoint", "", "", "POST"},
	}
}

// impossible says why a cell cannot be; empty: it can.
func (c cell) impossible() string {
	switch {
	case c.way == asTask && c.client.revision != "2026-07-28":
		return "tasks came with 2026-07-28"
	case c.other && c.client.endpoint == "stdio":
		return "stdio has one caller"
	case c.blocks && c.way == streamed:
		return "a response has items that arrive one by one, or content of its own"
	}
	return ""
}

func (c cell) String() string {
	who, args, content := "same caller", "arguments as they are", "no blocks"
	if c.other {
		who = "another caller"
	}
	if c.coerced {
		args = "arguments coerced"
	}
	if c.blocks {
		content = "blocks"
	}
	return strings.Join([]string{c.way, c.client.name, string(c.env), who, args, content, c.kind.verdict}, ", ")
}

// TestAnswerMatrix has every way in which an answer reaches its caller with
// every envelope and transport: what arrives together is the whole, each part of
// it says what the contract says of the call, whoever asks again gets the same
// bytes, nobody else gets any, and no credential is told or kept.
func TestAnswerMatrix(t *testing.T) {
	kinds := answerKinds()
	for _, way := range []string{atOnce, resumed, streamed, forwarded, asTask} {
		for i, client := range matrixClients() {
			for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
				for bits := range 8 {
					kind := kinds[(i+bits)%len(kinds)] // of each, some with every way, client and envelope
					c := cell{way, client, env, kind, bits&1 > 0, bits&2 > 0, bits&4 > 0}
					t.Run(c.String(), func(t *testing.T) {
						if why := c.impossible(); why != "" {
							t.Skip(why)
						}
						synctest.Test(t, c.check)
					})
				}
			}
		}
	}
}

// secret stands in every credential, mark in every answer of the source.
const (
	secret = "s3cr3t"
	mark   = "m4rk"
)

const (
	ownText = "content of the source, " + mark
	picture = "\x89PNG"
)

// source answers the calls of a cell, and remembers them.
type source struct {
	cell
	items  chan []byte // of a stream
	calls  int
	header []string // credentials that came with the calls
	args   []string
}

const (
	items     = 30   // of an answer
	arriving  = 10   // of them at a time, in a stream
	partLimit = 8000 // of an answer that is cut
)

// item is one of an answer, whose number is written so.
func item(number string, i int) string {
	return fmt.Sprintf(`{"id":`+number+`,"note":"%s"}`, i, mark+strings.Repeat(" and so on", 6))
}

// body is an answer of the source, or what is delivered of it. Its largest
// list must stay in one piece.
func (c cell) body(number string, first, behind int) string {
	var all []string
	for i := first; i < behind; i++ {
		all = append(all, item(number, i))
	}
	list := "[" + strings.Join(all, ",") + "]"
	if c.way == streamed {
		return list
	}
	tags := slices.Repeat([]string{`"` + strings.Repeat("tag ", 25) + `"`}, 30)
	return `{"page":7,"tags":[` + strings.Join(tags, ",") + `],"items":` + list + `}`
}

func (c cell) tool(s *source) tenon.Tool {
	input := `"page":{"type":"integer"}`
	if c.kind.declares {
		input += `,"resume_token":{"type":"string"}`
	}
	list := `{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}}`
	output, media := `{"type":"object","properties":{"page":{"type":"integer"},"tags":{"type":"array","minItems":30},"items":`+list+`},"required":["page","tags"]}`, "application/json"
	limit := partLimit
	switch c.way {
	case streamed:
		output, media, limit = list, "application/x-ndjson", 1<<20
	case atOnce:
		limit = 1 << 20
	}
	return tenon.Tool{
		Name: "list", Envelope: c.env, Policy: c.kind.policy, MaxResult: limit, Handler: s.answer,
		Contract: tenon.Contract{
			Input:     []byte(`{"type":"object","properties":{` + input + `},"required":["page"],"additionalProperties":false}`),
			Responses: []tenon.ResponseSchema{{Status: "200", MediaType: media, Schema: []byte(output)}},
		},
	}
}

func (s *source) answer(ctx context.Context, call *tenon.Call) (tenon.Response, error) {
	s.calls++
	s.args = append(s.args, string(call.Args))
	s.header = append(s.header, call.Header.Get("Authorization"))
	if s.way == asTask {
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return tenon.Response{}, ctx.Err()
		}
	}
	r := tenon.Response{Status: 200, MediaType: "application/json", Execution: s.kind.sent, Header: http.Header{
		"X-Request-Id": {"told"}, "Authentication-Info": {"nextnonce=" + secret}, "Set-Cookie": {"id=" + secret}, "Authorization": {"Bearer " + secret}, "X-Api-Key": {secret},
	}}
	if s.way == streamed {
		r.MediaType, r.Items = "application/x-ndjson", s.parts(ctx)
		return r, nil
	}
	r.Body = []byte(s.body(s.kind.id, 0, items))
	if s.blocks {
		r.Content = []tenon.Content{{Text: []byte(ownText)}, {Type: tenon.ImageContent, Data: []byte(picture), MediaType: "image/png"}}
	}
	return r, nil
}

func (s *source) parts(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			select {
			case b, ok := <-s.items:
				if !ok || !yield(b, nil) {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// arrive lets the next items of a stream come, and its end after the last.
func (s *source) arrive(part int) {
	if s.way != streamed || part > items/arriving {
		return
	}
	for i := range arriving {
		s.items <- []byte(item(s.kind.id, arriving*(part-1)+i))
	}
	if part == items/arriving {
		close(s.items)
	}
}

// recorder is a State that remembers what was ever written to it.
type recorder struct {
	*memstore.Store

	mu  sync.Mutex
	all bytes.Buffer
}

func (r *recorder) record(key string, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.WriteString(key + " ")
	r.all.Write(value)
}

func (r *recorder) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	r.record(key, value)
	return r.Store.Put(ctx, key, value, life)
}

func (r *recorder) PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (bool, error) {
	r.record(key, value)
	return r.Store.PutIfAbsent(ctx, key, value, life)
}

func (c cell) check(t *testing.T) {
	s := &source{cell: c, items: make(chan []byte, items)}
	inner := gateway.Build([]gateway.Mount{{Name: "test", Features: tenon.Features{Tools: []tenon.Tool{c.tool(s)}}}}, gateway.BuildOptions{})
	_, answers := inner.Find("list").Schemas()
	published, err := schema.Compile(answers, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outer := inner
	if c.way == forwarded {
		outer = search.Wrap(inner)
	}
	state, logged := &recorder{Store: memstore.New(memstore.Options{})}, &output{}
	logger := slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	srv := server.New(gateway.New(outer, gateway.Options{Store: state, Logger: logger}),
		server.Options{Logger: logger, ForwardHeaders: []string{"Authorization"}, Authenticate: authenticate})
	defer func() { // nobody asks any more
		time.Sleep(10 * time.Minute)
		synctest.Wait()
	}()
	m := &matrixRun{cell: c, t: t, source: s, server: srv, published: published}
	m.ann = m.join("ann")
	defer m.leave()
	m.run()
	for where, text := range map[string]string{"the answers": m.heard.String(), "the state": state.all.String(), "the log": logged.take()} {
		for _, word := range []string{secret, "authentication-info", "set-cookie", "authorization", "api-key"} {
			if strings.Contains(strings.ToLower(text), word) {
				t.Errorf("%s: %q in %s", where, word, text)
			}
		}
	}
}

// authenticate knows ann and bob by their credentials.
func authenticate(r *http.Request) (context.Context, string, error) {
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+secret+"-")
	if !ok {
		return nil, "", errors.New("nobody is known by this credential")
	}
	return r.Context(), name, nil
}
