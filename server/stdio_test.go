package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

func callOf(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `"}}`
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func pingOf(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

func TestEveryRequestIsAnsweredBeforeTheEnd(t *testing.T) {
	s := serve(server.Options{MaxConcurrent: 3}, echo())
	for _, end := range []string{"\n", "\r\n", ""} {
		var in strings.Builder
		var want []string
		for i := range 200 {
			id := fmt.Sprint(i)
			if i > 0 {
				in.WriteString("\n")
			}
			in.WriteString(callOf(id, "echo"))
			want = append(want, `{"jsonrpc":"2.0","id":`+id+`,"result":{`+passed+`"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`)
		}
		got := strings.Split(strings.TrimSuffix(talk(t, s, in.String()+end), "\n"), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with the end %q: %s", end, diff)
		}
	}
}

func TestCancelledRequestsAreSilent(t *testing.T) {
	for name, c := range map[string]struct {
		id, cancelled string
		silent        bool
	}{
		"an integer":                   {`7`, `7`, true},
		"an integer beyond a word":     {`123456789012345678901`, `123456789012345678901`, true},
		"a string":                     {`"a"`, `"a"`, true},
		"a string in other escapes":    {`"a/é"`, `"\u0061\/\u00e9"`, true},
		"a number is not its text":     {`7`, `"7"`, false},
		"another id":                   {`7`, `8`, false},
		"an id that cannot be":         {`7`, `null`, false},
		"an id that is no id":          {`7`, `7.0`, false},
		"an id that begins like it":    {`"ab"`, `"a"`, false},
		"an id that is an empty thing": {`7`, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started, release, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
				p := converse(t.Context(), serve(server.Options{}, waiting(started, release, ended)))
				p.send(callOf(c.id, "wait"))
				<-started
				p.send(cancelOf(c.cancelled))
				p.send(pingOf(`"still there"`))
				synctest.Wait()
				if got := p.out.take(); got != `{"jsonrpc":"2.0","id":"still there","result":{}}`+"\n" {
					t.Errorf("while the call runs: %s", got)
				}
				close(release)
				synctest.Wait()
				if silent := p.out.take() == ""; silent != c.silent {
					t.Errorf("silent is %v, want %v", silent, c.silent)
				}
				if cancelled := errors.Is(<-ended, context.Canceled); cancelled != c.silent {
					t.Errorf("the call was cancelled is %v, want %v", cancelled, c.silent)
				}
				_ = p.in.Close()
				if err := <-p.ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEndOfInput(t *testing.T) {
	const drain = 3 * time.Second
	for name, c := range map[string]struct {
		takes   time.Duration
		obeys   bool
		answer  string
		returns time.Duration
	}{
		"a call that ends in time is answered":                 {2 * time.Second, true, `"structuredContent":{}`, 2 * time.Second},
		"a call that does not is cut short, and says so":       {time.Hour, true, `cancelled`, drain},
		"a call that does not even listen is left, in silence": {time.Hour, false, "", drain + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(server.Options{Drain: drain}, tool("slow", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
					done := ctx.Done()
					if !c.obeys {
						done = nil
					}
					select {
					case <-time.After(c.takes):
						return tenon.Response{MediaType: "application/json", Body: []byte(`{}`)}, nil
					case <-done:
						return tenon.Response{}, ctx.Err()
					}
				}))
				begin := time.Now()
				p := converse(t.Context(), s)
				p.send(callOf("1", "slow"))
				_ = p.in.Close()
				if err := <-p.ended; err != nil {
					t.Error(err)
				}
				if took := time.Since(begin); took != c.returns {
					t.Errorf("it took %v, want %v", took, c.returns)
				}
				got := p.out.take()
				if !strings.Contains(got, c.answer) || (got == "") != (c.answer == "") {
					t.Errorf("got %s, want %s", got, c.answer)
				}
				time.Sleep(2 * c.takes) // let what was left end
				synctest.Wait()
				if late := p.out.take(); late != "" {
					t.Errorf("written after the end: %s", late)
				}
			})
		})
	}
}

func TestStopCutsCallsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		started := make(chan struct{}, 1)
		p := converse(ctx, serve(server.Options{}, waiting(started, nil, nil)))
		p.send(callOf("1", "wait"))
		<-started
		why := errors.New("interrupted")
		stop(why)
		if err := <-p.ended; !errors.Is(err, why) {
			t.Errorf("ended with %v", err)
		}
		if got := p.out.take(); !strings.Contains(got, `"id":1,"error":{"code":-32603,"message":"the call was cancelled"`) {
			t.Errorf("got %s", got)
		}
		_ = p.in.Close()
	})
}

func TestBrokenStreams(t *testing.T) {
	gone := errors.New("gone")
	synctest.Test(t, func(t *testing.T) {
		started := make(chan struct{}, 1)
		s := serve(server.Options{}, waiting(started, nil, nil))
		r, w := io.Pipe()
		ended := make(chan error)
		go func() { ended <- s.ServeStdio(t.Context(), r, failing{gone}) }()
		_, _ = io.WriteString(w, callOf("1", "wait")+"\n")
		<-started // an output that breaks ends the call too
		_, _ = io.WriteString(w, pingOf("2")+"\n")
		if err := <-ended; !errors.Is(err, gone) {
			t.Errorf("a broken output: %v", err)
		}
		_ = r.Close()
	})
	s := serve(server.Options{}, echo())
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(pingOf("1")+"\n"), failing{gone})
	if err := s.ServeStdio(t.Context(), in, &out); !errors.Is(err, gone) {
		t.Errorf("a broken input: %v", err)
	}
	if got := out.String(); got != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("what came before is answered: %s", got)
	}
}

func TestOutputThatNobodyReadsStopsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r, w := io.Pipe()
		unread, out := io.Pipe()
		ended := make(chan error)
		go func() { ended <- serve(server.Options{}).ServeStdio(ctx, r, out) }()
		_, _ = io.WriteString(w, pingOf("1")+"\n"+cancelOf("1")+"\n")
		synctest.Wait()
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		_ = unread.Close()
		_ = w.Close()
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestLongLines(t *testing.T) {
	s := serve(server.Options{MaxBody: 200_000}, echo())
	long := func(n int) string {
		const before, after = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`
		return before + strings.Repeat("x", n-len(before)-len(after)) + after
	}
	const pong, tooLong = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: the line is longer than 200000 bytes"}}` + "\n"
	for name, c := range map[string]struct{ in, want string }{
		"at the limit":                {long(200_000) + "\n", pong},
		"over the limit":              {long(200_001) + "\n", tooLong},
		"far over the limit":          {long(900_000) + "\n", tooLong},
		"over the limit, without end": {long(300_000), tooLong},
		"the next line is read":       {long(300_000) + "\n" + long(200_000), tooLong + pong},
	} {
		t.Run(name, func(t *testing.T) {
			if got := talk(t, s, c.in); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSubjectIsTheProcessOwner(t *testing.T) {
	var subjects []tenon.Subject
	s := serve(server.Options{}, tool("who", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		subjects = append(subjects, c.Subject)
		return tenon.Response{}, nil
	}))
	talk(t, s, callOf("1", "who"))
	answer(s, post(legacyBody("tools/call", `"name":"who"`)))
	if diff := cmp.Diff([]tenon.Subject{"process owner", ""}, subjects); diff != "" {
		t.Error(diff)
	}
}

// An answer is one line whatever an upstream or a schema is written like.
func TestAnswersAreOneLine(t *testing.T) {
	tools := []tenon.Tool{answered("pretty", "application/json", "{\r\n  \"a\": [\n1 ]\n}\n"), echo()}
	tools[1].Contract = tenon.Contract{Input: []byte("{\n\"type\":\r\n\"object\"}")}
	out := talk(t, serve(server.Options{}, tools...), callOf("1", "pretty")+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
	if strings.Count(out, "\n") != 2 {
		t.Errorf("want two lines: %q", out)
	}
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %q", line)
		}
	}
}

func TestHammerStdio(t *testing.T) {
	s := serve(server.Options{MaxConcurrent: 4}, append(many(30, "x"), echo())...)
	in, w := io.Pipe()
	r, out := io.Pipe()
	go func() {
		_ = s.ServeStdio(t.Context(), in, out)
		_ = out.Close()
	}()
	const n = 300
	go func() {
		for i := range n {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"i":%d}}}`+"\n", i, i)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"l%d","method":"tools/list"}`+"\n", i)
			fmt.Fprintf(w, "%s\n", cancelOf(fmt.Sprintf(`"l%d"`, i-3)))
		}
		_ = w.Close()
	}()
	calls := 0
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     json.RawMessage
			Result struct{ StructuredContent struct{ I json.RawMessage } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if m.ID[0] != '"' {
			calls++
			if string(m.ID) != string(m.Result.StructuredContent.I) {
				t.Errorf("request %s got the answer of %s", m.ID, m.Result.StructuredContent.I)
			}
		}
	}
	if calls != n {
		t.Errorf("%d calls were answered, want %d", calls, n)
	}
}
