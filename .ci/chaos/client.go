package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// call lets the clients call until ctx ends.
func (w *world) call(ctx context.Context) {
	var all sync.WaitGroup
	for i := range clients {
		c := &client{world: w, number: i, old: i%4 == 3, http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				c.one(n)
			}
		})
	}
	all.Wait()
}

// client is one of them. An old one speaks a revision from before 2026-07-28, in which
// nobody can be asked without a session: it confirms by an argument.
type client struct {
	*world
	number int
	old    bool
	http   *http.Client
}

// one does one thing.
func (c *client) one(n int) {
	id := fmt.Sprintf("%d-%d", c.number, n)
	switch n % 8 {
	case 0, 4:
		c.quick(id)
	case 1, 5:
		c.limited(id)
	case 2:
		c.order(id, n)
	case 3:
		c.big(id)
	case 6:
		c.list(id)
	case 7:
		if c.old { // before 2026-07-28 who hangs up has not withdrawn
			c.quick(id)
			return
		}
		c.slow(id, time.Duration(50+37*n%250)*time.Millisecond)
	}
}

// response is what a client reads of a result.
type response struct {
	Result *struct {
		IsError bool `json:"isError"`
		Meta    struct {
			Contract struct {
				Executed   string `json:"executed"`
				RetryAfter int    `json:"retry_after"`
			} `json:"tenon/contract"`
		} `json:"_meta"`
		Value struct {
			Data    json.RawMessage `json:"data"`
			Token   string          `json:"resume_token"`
			Confirm bool            `json:"confirmation_required"`
			Error   struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"structuredContent"`
		State    string                     `json:"requestState"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
		Tools    []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Cursor string `json:"nextCursor"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// errLost: no answer of tenon came. A proxy says so by 502 to 504, or the connection ends.
var errLost = errors.New("lost")

// ask sends a request. An error other than errLost is one that must not be.
func (c *client) ask(ctx context.Context, method, name string, params map[string]any) (*response, error) {
	if !c.old {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "X-Api-Key": {key(c.number)}, "Mcp-Protocol-Version": {"2025-11-25"}}
	if !c.old {
		r.Header["Mcp-Protocol-Version"], r.Header["Mcp-Method"] = []string{"2026-07-28"}, []string{method}
		if name != "" {
			r.Header["Mcp-Name"] = []string{name}
		}
	}
	res, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() == nil && strings.Contains(err.Error(), "Client.Timeout") {
			return nil, fmt.Errorf("no answer within %v", c.http.Timeout)
		}
		return nil, errLost
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, errLost
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		text = lastEvent(text)
	}
	var out response
	if json.Unmarshal(text, &out) == nil && (out.Result != nil || out.Error != nil) {
		return &out, nil
	}
	if res.StatusCode >= 502 && res.StatusCode <= 504 || len(text) == 0 { // a proxy's, or a stream without its end
		return nil, errLost
	}
	return nil, fmt.Errorf("status %d: %.200s", res.StatusCode, text)
}

func lastEvent(text []byte) (data []byte) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		if d, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && len(d) > 0 {
			data = bytes.Clone(d)
		}
	}
	return data
}

// outcome is how something that a client did ended, and what must be true of it.
type outcome struct {
	operation, id string
	began, ended  time.Time
	kind          kind
	executed      string // what it was told
	sends         int    // how often the call that executes was sent
	code, text    string
	wait          int // seconds that it was told to wait
}

type kind string

const (
	right    kind = "right"
	failed   kind = "error"
	lost     kind = "lost"
	broken   kind = "broken" // what must not be
	withdrew kind = "withdrawn"
)

func (c *client) done(o outcome) {
	o.ended = time.Now()
	c.mu.Lock()
	c.told = append(c.told, o)
	c.mu.Unlock()
}

// judge fills in how a call ended that returns its id.
func (o *outcome) of(r *response, err error) {
	switch {
	case errors.Is(err, errLost):
		o.kind = lost
	case err != nil:
		o.kind, o.text = broken, err.Error()
	case r.Error != nil:
		o.kind, o.code, o.text = failed, fmt.Sprint(r.Error.Code), r.Error.Message
	case r.Result.IsError:
		v := &r.Result.Value.Error
		o.kind, o.code, o.text, o.executed, o.wait = failed, v.Code, v.Message, r.Result.Meta.Contract.Executed, r.Result.Meta.Contract.RetryAfter
	default:
		o.kind, o.executed = right, r.Result.Meta.Contract.Executed
		var data struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(r.Result.Value.Data, &data) != nil || data.ID != o.id {
			o.kind, o.text = broken, fmt.Sprintf("the answer is %.100s", r.Result.Value.Data)
		}
	}
}

func (c *client) tool(ctx context.Context, name string, arguments map[string]any, more ...any) (*response, error) {
	params := map[string]any{"name": name, "arguments": arguments}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1] //nolint:errcheck,forcetypeassert // ours
	}
	return c.ask(ctx, "tools/call", name, params)
}

func (c *client) quick(id string) {
	o := outcome{operation: "quick", id: id, began: time.Now(), sends: 1}
	o.of(c.tool(context.Background(), "quick", map[string]any{"id": id}))
	c.done(o)
}

func (c *client) limited(id string) {
	o := outcome{operation: "limited", id: id, began: time.Now(), sends: 1}
	o.of(c.tool(context.Background(), "limited", map[string]any{"id": id}))
	c.done(o)
}

// slow hangs up after a while.
func (c *client) slow(id string, hold time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), hold)
	defer cancel()
	o := outcome{operation: "slow", id: id, began: time.Now(), sends: 1}
	o.of(c.tool(ctx, "slow", map[string]any{"id": id}))
	if o.kind == lost && ctx.Err() != nil {
		o.kind = withdrew
	}
	c.done(o)
}

// order asks for an order, and confirms what it was asked. Some clients send their
// confirmation twice at once; those with a state of the request, which counts once, send
// it again where no answer came. Old ones have none: one who confirms by an argument and
// has no answer cannot know whether the next yes is to a question that was lost.
func (c *client) order(id string, n int) {
	ctx := context.Background()
	o := outcome{operation: "order", id: id, began: time.Now()}
	arguments := map[string]any{"body": map[string]any{"id": id}}
	asked, err := again(func() (*response, error) { return c.tool(ctx, "order", arguments) })
	if err != nil || asked.Result == nil || asked.Result.IsError {
		o.of(asked, err)
		c.done(o)
		return
	}
	confirm := func() (*response, error) { return nil, nil }
	switch {
	case c.old && asked.Result.Value.Confirm:
		confirmed := map[string]any{"body": map[string]any{"id": id}, "confirmed": true}
		confirm = func() (*response, error) { return c.tool(ctx, "order", confirmed) }
	case asked.Result.State != "" && len(asked.Result.Requests) == 1:
		answers := map[string]any{}
		for name := range asked.Result.Requests {
			answers[name] = map[string]any{"action": "accept", "content": map[string]any{"confirm": n%5 != 0}}
		}
		confirm = func() (*response, error) {
			return c.tool(ctx, "order", arguments, "requestState", asked.Result.State, "inputResponses", answers)
		}
	default:
		o.kind, o.text = broken, "nothing was asked"
		c.done(o)
		return
	}
	o.sends = 1
	if n%3 == 0 {
		o.sends = 2
		twin := make(chan outcome, 1)
		go func() {
			t := o
			t.of(confirmAnswer(confirm()))
			twin <- t
		}()
		defer func() { c.done(<-twin) }()
	}
	r, err := confirm()
	for range 20 {
		if !errors.Is(err, errLost) || c.old {
			break
		}
		time.Sleep(100 * time.Millisecond)
		o.sends++
		r, err = confirm()
	}
	o.of(confirmAnswer(r, err))
	c.done(o)
}

// askedAgain is the code of such an answer.
const askedAgain = "asked again"

// confirmAnswer makes an error of a further question: the confirmation does not count
// any more.
func confirmAnswer(r *response, err error) (*response, error) {
	if err == nil && r.Result != nil && (r.Result.Value.Confirm || r.Result.State != "") {
		r.Result.IsError = true
		r.Result.Value.Error.Code, r.Result.Value.Error.Message = askedAgain, "the confirmation was used"
		r.Result.Meta.Contract.Executed = "no"
	}
	return r, err
}

// again repeats what may be repeated while no answer comes.
func again(send func() (*response, error)) (r *response, err error) {
	for range 20 {
		if r, err = send(); !errors.Is(err, errLost) {
			return r, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return r, err
}

// big reads an answer part by part.
func (c *client) big(id string) {
	ctx := context.Background()
	o := outcome{operation: "big", id: id, began: time.Now(), sends: 2}
	defer func() { c.done(o) }()
	r, err := again(func() (*response, error) { return c.tool(ctx, "big", map[string]any{"id": id}) })
	var got []item
	for parts := 1; ; parts++ {
		if err != nil || r.Result == nil || r.Result.IsError {
			o.of(r, err)
			return
		}
		var data struct {
			Items []item `json:"items"`
		}
		if err := json.Unmarshal(r.Result.Value.Data, &data); err != nil {
			o.kind, o.text = broken, err.Error()
			return
		}
		got = append(got, data.Items...)
		token := r.Result.Value.Token
		if token == "" || parts > 100 {
			break
		}
		r, err = again(func() (*response, error) { return c.tool(ctx, "next_part", map[string]any{"resume_token": token}) })
	}
	want := bigOf(id)["items"]
	o.kind, o.executed = right, "yes"
	if len(got) != len(want) {
		o.kind, o.text = broken, fmt.Sprintf("%d items in all", len(got))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			o.kind, o.text = broken, fmt.Sprintf("item %d is %+v", i, got[i])
			return
		}
	}
}

// list reads the list of tools page by page.
func (c *client) list(id string) {
	o := outcome{operation: "list", id: id, began: time.Now()}
	defer func() { c.done(o) }()
	names := map[string]bool{}
	for cursor := ""; ; {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		r, err := again(func() (*response, error) { return c.ask(context.Background(), "tools/list", "", params) })
		if err != nil || r.Result == nil {
			o.of(r, err)
			return
		}
		for _, t := range r.Result.Tools {
			names[t.Name] = true
		}
		if cursor = r.Result.Cursor; cursor == "" {
			break
		}
	}
	o.kind = right
	if len(names) != tools {
		o.kind, o.text = broken, fmt.Sprintf("%d tools", len(names))
	}
}
