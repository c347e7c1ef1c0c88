package tenontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// sampleCall is a call that is made.
type sampleCall struct {
	Sample

	tool *tenon.Tool
	args []byte
	made bool // by the check, not the author: it may fail
}

// samples are the calls that may be made of an offer's tools.
func (c *sourceCheck) samples(o tenon.Features) []sampleCall {
	var calls []sampleCall
	byName := map[string]*tenon.Tool{}
	for i := range o.Tools {
		byName[o.Tools[i].Name] = &o.Tools[i]
	}
	named := map[string]bool{}
	for _, s := range c.o.Samples {
		named[s.Tool] = true
		t := byName[s.Tool]
		if t == nil {
			c.problem("a sample calls the tool %q; there is %s", s.Tool, strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
			continue
		}
		call := sampleCall{Sample: s, tool: t, args: []byte(s.Args)}
		if s.Args == "" {
			call.args = argumentsOf(t)
		}
		if call.args == nil {
			c.problem("tool %q: no arguments could be made of its input schema; give them in the sample", s.Tool)
			continue
		}
		calls = append(calls, call)
	}
	if c.o.SamplesOnly {
		return calls
	}
	for i := range o.Tools {
		t := &o.Tools[i]
		if named[t.Name] || !isTrue(t.Annotations.ReadOnly) || t.Handler == nil {
			continue
		}
		if args := argumentsOf(t); args != nil {
			named[t.Name] = true // another of its name is not reached
			calls = append(calls, sampleCall{Sample: Sample{Tool: t.Name}, tool: t, args: args, made: true})
		}
	}
	return calls
}

// argumentsOf makes arguments of a tool's schema; nil: there are none.
func argumentsOf(t *tenon.Tool) []byte {
	contract := tenon.Contract{}
	if t.Contract != nil {
		contract, _ = t.Contract.Contract() // an error has been reported
	}
	if contract.Input == nil {
		return []byte("{}")
	}
	s, err := schema.Compile(contract.Input, schema.Options{AssertFormat: contract.Formats})
	if err != nil {
		return nil // reported, too
	}
	args, _ := sample.Of(s)
	return args
}

// used makes the calls: one after the other, cancelled, and many at once beside
// a Load.
func (c *sourceCheck) used(ctx context.Context, s tenon.Source, o tenon.Features) {
	calls := c.samples(o)
	called := map[string]bool{}
	for _, k := range calls {
		called[k.Tool] = true
	}
	if n := len(o.Tools) - len(called); n > 0 {
		c.note("%d of %d tools were not called: they are not marked as read-only, or no arguments could be made; name them in Samples", n, len(o.Tools))
	}
	for _, f := range build(o, nil).Diagnostics()[len(o.Diagnostics):] {
		c.problem("the catalog: %s", f)
	}
	g := gateway.New(build(o, c.watchedHandler), gateway.Options{Timeout: c.timeout * 2})
	for i := range calls {
		c.call(ctx, g, &calls[i])
	}
	c.readings(ctx, o)
	for i := range calls {
		c.cancelled(ctx, &calls[i])
	}
	c.atOnce(ctx, s, g, calls)
}

// kept is what a handler answered to one call.
type kept struct {
	resp tenon.Response
	err  error
	came bool
}

type keptKey struct{}

// watchedHandler makes a tool tell the check what its handler answers. Nobody
// has to agree: the author of the test did.
func (c *sourceCheck) watchedHandler(t *tenon.Tool) {
	t.Confirmation, t.Confirm = tenon.ConfirmRule{Mode: tenon.ConfirmOff}, nil
	if t.Handler == nil {
		return
	}
	tool := *t
	t.Handler = func(ctx context.Context, call *tenon.Call) (resp tenon.Response, err error) {
		what := fmt.Sprintf("tool %q", tool.Name)
		before := bytes.Clone(call.Args)
		defer func() {
			if p := recover(); p != nil {
				c.problem("%s: its handler panics for %s: %v", what, before, p)
				err = errors.New("the handler panicked")
			}
		}()
		resp, err = tool.Handler(ctx, call)
		c.needs(bytes.Equal(before, call.Args), what, "its handler changes the arguments that it was given")
		c.response(&tool, &resp, err)
		if k, ok := ctx.Value(keptKey{}).(*kept); ok {
			*k = kept{resp, err, true}
		}
		return resp, err
	}
}

// errNotReturned stands for an answer that did not come in time, which has been
// reported.
var errNotReturned = errors.New("it has not returned")

// handle calls a handler without a gateway. The answer counts only where it
// came in time.
func (c *sourceCheck) handle(ctx context.Context, k *sampleCall, what string) (resp tenon.Response, err error) {
	if k.tool.Handler == nil {
		return resp, nil
	}
	var r tenon.Response
	var failed error
	returned := c.within(fmt.Sprintf("tool %q: %s", k.Tool, what), func() {
		r, failed = k.tool.Handler(ctx, &tenon.Call{Tool: k.Tool, Args: bytes.Clone(k.args), Requester: c.o.Asker})
		if r.Items != nil {
			r.Items(func([]byte, error) bool { return false }) // gives back what it holds
		}
	})
	if !returned {
		return resp, errNotReturned
	}
	return r, failed
}

// call makes one call to its end and checks the answer.
func (c *sourceCheck) call(ctx context.Context, g *gateway.Gateway, k *sampleCall) {
	if k.Begun != nil {
		return
	}
	what := fmt.Sprintf("tool %q called with %.200s", k.Tool, k.args)
	var seen kept
	var res *tenon.Result
	var err error
	e := g.Catalog().Find(tenon.ToolName(k.Tool))
	if e == nil {
		return // left out of the catalog, which has been reported
	}
	call := &tenon.Call{Tool: e.Name(), Args: bytes.Clone(k.args), Requester: c.o.Asker}
	if !c.within(what, func() { res, err = g.Call(context.WithValue(ctx, keptKey{}, &seen), call) }) {
		return
	}
	if err != nil {
		if !k.made || !asks(err) {
			c.problem("%s: %v", what, err)
		}
		return
	}
	if seen.came {
		c.keep(what, seen.resp.Body)
	}
	if !c.result(what, e, res) {
		return
	}
	switch {
	case k.made, k.Code == res.Code && res.IsError:
	case k.Code == "" && res.IsError:
		c.problem("%s fails with %s: %.300s", what, res.Code, res.Message)
	case k.Code != "" && !res.IsError:
		c.problem("%s succeeds; the sample says that it fails with %s", what, k.Code)
	case k.Code != res.Code:
		c.problem("%s fails with %s; the sample says %s: %.300s", what, res.Code, k.Code, res.Message)
	}
}

// asks reports whether a call ended because nobody could be asked.
func asks(err error) bool {
	return errors.As(err, new(*tenon.InputRequiredError)) || errors.As(err, new(*tenon.UnsupportedInputError))
}

// result checks what a client gets. ok is false where it violates its schema.
func (c *sourceCheck) result(what string, e *gateway.Tool, res *tenon.Result) (ok bool) {
	var meta struct {
		Contract struct {
			Verdict    tenon.Verdict
			Violations []schema.Violation
		} `json:"tenon/contract"`
	}
	if res.Meta != nil {
		if err := json.Unmarshal(res.Meta, &meta); err != nil {
			c.problem("%s: the _meta of the answer is no JSON object: %v", what, err)
		}
	}
	broken := meta.Contract.Verdict == tenon.Violated || meta.Contract.Verdict == tenon.Undeclared
	if broken && (!res.IsError || res.Code == tenon.CodeContract) {
		why := res.Message
		if len(meta.Contract.Violations) > 0 {
			why = said(meta.Contract.Violations[0])
		}
		c.problem("%s: the answer violates its schema (%s): %.300s", what, meta.Contract.Verdict, why)
		return false
	}
	_, output := e.Schemas()
	if output == nil || res.Structured == nil {
		return true
	}
	if s, err := schema.Compile(output, schema.Options{}); err == nil {
		if v := s.Validate(res.Structured); len(v) > 0 {
			c.problem("%s: structuredContent breaks the schema in tools/list: %s", what, said(v[0]))
		}
	}
	return true
}

// cancelled makes a call whose context has ended, or ends one where its sample
// says that it is under way.
func (c *sourceCheck) cancelled(ctx context.Context, k *sampleCall) {
	if k.Begun == nil {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, _ = c.handle(ended, k, "a call whose context had ended before")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var resp tenon.Response
	var err error
	ended := make(chan struct{})
	what := "a call that was cancelled under way"
	c.within(fmt.Sprintf("tool %q: %s", k.Tool, what), func() {
		go func() {
			defer close(ended)
			resp, err = c.handle(ctx, k, what)
		}()
		select {
		case <-k.Begun:
			cancel()
			<-ended
			c.cut(k, &resp, err)
		case <-ended:
			c.problem("tool %q: the call ended before Begun said that it was under way (its error: %v)", k.Tool, err)
		}
	})
}

// cut checks what a call says that was cancelled under way.
func (c *sourceCheck) cut(k *sampleCall, r *tenon.Response, err error) {
	if err != nil && !errors.Is(err, errNotReturned) && r.Execution == (tenon.Execution{}) {
		c.problem("tool %q: a call that was cancelled under way says that nothing was sent: Response.Execution has to be set beside an error, too", k.Tool)
	}
}

// crowdCalls is how many calls are made at once, about.
const crowdCalls = 64

// atOnce makes calls side by side while the source is loaded again.
func (c *sourceCheck) atOnce(ctx context.Context, s tenon.Source, g *gateway.Gateway, calls []sampleCall) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(k sampleCall) bool { return k.Begun != nil })
	each := min(8, crowdCalls/max(len(calls), 1)+1)
	c.within("many calls and a Load at once", func() {
		var wg sync.WaitGroup
		wg.Go(func() {
			o, ok := c.load(ctx, s, "Load beside calls")
			if ok {
				g.Swap(build(o, c.watchedHandler))
			}
			c.settle(s, ok)
		})
		for range each {
			for i := range calls[:min(len(calls), crowdCalls)] {
				wg.Go(func() { c.call(ctx, g, &calls[i]) })
			}
		}
		wg.Wait()
	})
}

// givenBody is the body of an answer, and what it was.
type givenBody struct {
	what         string
	body, before []byte
}

func (c *sourceCheck) keep(what string, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.given) < 200 && len(body) < 1<<20 {
		c.given = append(c.given, givenBody{what, body, bytes.Clone(body)})
	}
}

// unchanged checks that no answer was written to after it was given.
func (c *sourceCheck) unchanged() {
	for _, g := range c.given {
		if !bytes.Equal(g.body, g.before) {
			c.problem("%s: the bytes of the answer were changed after it was given", g.what)
		}
	}
}

// response checks what a handler returned.
func (c *sourceCheck) response(t *tenon.Tool, r *tenon.Response, err error) {
	what := fmt.Sprintf("tool %q", t.Name)
	c.needs(!isTrue(t.Annotations.ReadOnly) || r.Execution.Unsafe == tenon.NotSent, what, "is marked as read-only, and Response.Execution.Unsafe says that something may have been changed")
	if err != nil {
		c.failure(what, err)
		return
	}
	c.needs(r.Status == 0 || r.Status >= 200 && r.Status < 600, what, fmt.Sprintf("answers with the status %d", r.Status))
	c.needs(r.Status == 0 || r.Execution != tenon.Execution{}, what, fmt.Sprintf("answers with the status %d, and Response.Execution says that nothing was sent", r.Status))
	c.needs(r.Items == nil || r.Body == nil, what, "answers with Body and Parts")
	c.needs(r.Meta == nil || isObject(r.Meta), what, "the Meta of its answer is no JSON object")
	c.needs(len(r.Body) == 0 || r.Status == 0 || r.MediaType != "" || len(r.Header.Values("Content-Type")) == 0, what, "answers with a Content-Type and without Media")
	c.blocks(what, r.Content)
}

// isKnown reports whether a code is one of those that clients know. Those of errors
// at start are not: they stop before there is a client.
func isKnown(code tenon.Code) bool {
	return slices.ContainsFunc(tenon.Codes(), func(known tenon.CodeInfo) bool { return known.Code == code })
}

// failure checks an error that a model or a person will read.
func (c *sourceCheck) failure(what string, err error) {
	known, ok := errors.AsType[*tenon.Error](err)
	if !ok {
		c.needs(asks(err) || strings.TrimSpace(err.Error()) != "", what, "fails with an error that says nothing")
		c.texts(what+": its error", err.Error())
		return
	}
	c.needs(isKnown(known.Code), what, fmt.Sprintf("fails with the code %q, which no client knows", known.Code))
	c.needs(strings.TrimSpace(known.Message) != "", what, "fails with an error that has no Message")
	for _, s := range append([]string{known.Message}, known.Suggestions...) {
		c.texts(what+": its error", s)
	}
}

// blocks checks content.
func (c *sourceCheck) blocks(what string, blocks []tenon.Content) {
	for i, b := range blocks {
		at := fmt.Sprintf("%s: block %d of its content", what, i)
		switch b.Type {
		case tenon.TextContent:
			c.needs(utf8.Valid(b.Text), at, "is a text that is no UTF-8")
		case tenon.ImageContent, tenon.AudioContent:
			c.needs(b.MediaType != "" && len(b.Data) > 0, at, "is a picture or a sound without Media or Data")
		case tenon.EmbeddedResource:
			c.needs(utf8.Valid(b.Text), at, "is a resource whose text is no UTF-8")
		case tenon.ResourceLink:
			c.needs(b.URI != "", at, "is a link without a URI")
		default:
			c.problem("%s is of an unknown kind", at)
		}
		c.needs(b.Meta == nil || isObject(b.Meta), at, "has a Meta that is no JSON object")
		c.needs(b.Annotations == nil || isObject(b.Annotations), at, "has Annotations that are no JSON object")
	}
}
