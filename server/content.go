package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// contentTime limits reading a resource, getting a prompt and completing a value.
const contentTime = time.Minute

// resources reports whether the catalog has resources.
func (s *Server) resources() bool {
	c := s.gateway.Catalog()
	return len(c.Resources())+len(c.Templates()) > 0
}

func (s *Server) prompts() bool { return len(s.gateway.Catalog().Prompts()) > 0 }

// completes reports whether anything in the catalog has completions.
func (s *Server) completes() bool {
	c := s.gateway.Catalog()
	return slices.ContainsFunc(c.Prompts(), func(p tenon.Prompt) bool { return p.Complete != nil }) ||
		slices.ContainsFunc(c.Templates(), func(t tenon.ResourceTemplate) bool { return t.Complete != nil })
}

// members writes those of a definition that are not empty.
func (a *answer) members(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			a.member(pairs[i])
			a.text(pairs[i+1])
		}
	}
}

// maxPageItems bounds a page of resources, templates or prompts.
const maxPageItems = 500

// definitions are those of a list, which has the name key.
type definitions struct {
	key   string
	n     int
	write func(i int) // the members of one
}

// items writes a page of definitions.
func (s *Server) items(ctx context.Context, q *request, a *answer, d definitions) *jsonrpc.Error {
	start := 0
	l := s.toolsFor(ctx)
	if q.HasCursor {
		var ok bool
		if start, ok = s.cursors.open(q.Cursor, l.id, d.key); !ok || start >= d.n {
			return staleCursor()
		}
	}
	a.begin(q, nil)
	a.member(d.key)
	a.write("[")
	end := min(d.n, start+maxPageItems)
	for i := start; i < end; i++ {
		if i > start {
			a.write(",")
		}
		a.write("{")
		d.write(i)
		a.write("}")
	}
	a.write("]")
	if end < d.n {
		a.member("nextCursor")
		a.text(s.cursors.seal(end, l.id, d.key))
	}
	a.caching(q, listTTL, l.view == "")
	a.end()
	return nil
}

func (s *Server) listResources(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	all := s.gateway.Catalog().For(ctx).Resources()
	return s.items(ctx, q, a, definitions{"resources", len(all), func(i int) {
		r := &all[i]
		a.members("uri", r.URI, "name", orURI(r.Name, r.URI), "title", r.Title, "description", r.Description, "mimeType", r.MediaType)
		if r.Size > 0 {
			a.member("size")
			a.buf = strconv.AppendInt(a.buf, r.Size, 10)
		}
	}})
}

func (s *Server) listTemplates(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	all := s.gateway.Catalog().For(ctx).Templates()
	return s.items(ctx, q, a, definitions{"resourceTemplates", len(all), func(i int) {
		t := &all[i]
		a.members("uriTemplate", t.URI, "name", orURI(t.Name, t.URI), "title", t.Title, "description", t.Description, "mimeType", t.MediaType)
	}})
}

func orURI(name, uri string) string {
	if name == "" {
		return uri
	}
	return name
}

func (s *Server) listPrompts(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	all := s.gateway.Catalog().For(ctx).Prompts()
	return s.items(ctx, q, a, definitions{"prompts", len(all), func(i int) {
		p := &all[i]
		a.members("name", p.Name, "title", p.Title, "description", p.Description)
		if len(p.Arguments) == 0 {
			return
		}
		a.member("arguments")
		a.write("[")
		for j, arg := range p.Arguments {
			if j > 0 {
				a.write(",")
			}
			a.write("{")
			a.members("name", arg.Name, "title", arg.Title, "description", arg.Description)
			a.member("required")
			a.write(strconv.FormatBool(arg.Required))
			a.write("}")
		}
		a.write("]")
	}})
}

// within runs f with the limits of a call.
func (s *Server) within(ctx context.Context, q *request, a *answer, f func(context.Context) error) error {
	if err := s.enter(ctx, q, a); err != nil {
		return err
	}
	if q.outlives {
		ctx = s.detached(ctx)
	}
	limited, cancel := context.WithTimeout(s.counting(ctx, q, a), contentTime)
	defer cancel()
	leave, err := s.gateway.Admit(limited, gateway.Attempt{})
	if err != nil {
		return err
	}
	defer leave()
	return f(limited)
}

func (s *Server) readResource(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	if q.URI == "" {
		return jsonrpc.InvalidParams("uri is missing")
	}
	if e := q.resume(); e != nil {
		return e
	}
	read := s.reader(ctx, q.URI)
	if read == nil {
		return noResource(q)
	}
	var blocks []tenon.Content
	err := s.within(ctx, q, a, func(ctx context.Context) (err error) {
		blocks, err = read(ctx, q.URI, q.call())
		return err
	})
	if tenon.CodeOf(err) == tenon.CodeNotFound || err == nil && len(blocks) == 0 {
		return noResource(q)
	}
	if err != nil {
		return s.failed(q, a, err)
	}
	a.begin(q, nil)
	a.member("contents")
	a.write("[")
	for i := range blocks {
		if i > 0 {
			a.write(",")
		}
		a.resource(&blocks[i], q.URI)
	}
	a.write("]")
	if q.era == modern {
		a.write(`,"ttlMs":0,"cacheScope":"private"`)
	}
	a.end()
	return s.reserveContent(ctx, q, a)
}

// noResource has the code of the revision: -32002 was removed in 2026-07-28.
func noResource(q *request) *jsonrpc.Error {
	e := jsonrpc.InvalidParams("there is no resource " + strconv.Quote(jsonrpc.Clip(q.URI)))
	if q.era == legacy {
		e.Code = jsonrpc.CodeNoResource
	}
	e.Data = append(rawjson.AppendString([]byte(`{"uri":`), jsonrpc.Clip(q.URI)), '}')
	return e
}

func (s *Server) reader(ctx context.Context, uri string) tenon.ResourceHandler {
	c := s.gateway.Catalog().For(ctx)
	for i := range c.Resources() {
		if r := &c.Resources()[i]; r.URI == uri {
			return r.Read
		}
	}
	for i := range c.Templates() {
		if t := &c.Templates()[i]; matches(t.URI, uri) {
			return t.Read
		}
	}
	return nil
}

// matches reports whether uri matches a template. The value of a variable has at
// least one byte and no slash.
func matches(form, uri string) bool {
	for {
		text, rest, more := strings.Cut(form, "{")
		var ok bool
		if uri, ok = strings.CutPrefix(uri, text); !ok || !more {
			return ok && uri == ""
		}
		_, form, _ = strings.Cut(rest, "}")
		next, _, _ := strings.Cut(form, "{")
		end := strings.IndexByte(uri+"/", '/')
		if next != "" && next[0] != '/' {
			end = strings.Index(uri[:end], next)
		}
		if end <= 0 {
			return false
		}
		uri = uri[end:]
	}
}

func (s *Server) getPrompt(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	args := map[string]string{}
	if q.Arguments != nil && json.Unmarshal(q.Arguments, &args) != nil {
		return jsonrpc.InvalidParams("the arguments of a prompt are strings")
	}
	all := s.gateway.Catalog().For(ctx).Prompts()
	i := slices.IndexFunc(all, func(p tenon.Prompt) bool { return p.Name == q.Name })
	if i < 0 || all[i].Get == nil {
		return jsonrpc.InvalidParams("unknown prompt " + strconv.Quote(jsonrpc.Clip(q.Name)))
	}
	for _, arg := range all[i].Arguments {
		if _, ok := args[arg.Name]; arg.Required && !ok {
			return jsonrpc.InvalidParams("the prompt needs the argument " + strconv.Quote(arg.Name))
		}
	}
	if e := q.resume(); e != nil {
		return e
	}
	var messages []tenon.PromptMessage
	err := s.within(ctx, q, a, func(ctx context.Context) (err error) {
		messages, err = all[i].Get(ctx, args, q.call())
		return err
	})
	if err != nil {
		return s.failed(q, a, err)
	}
	a.begin(q, nil)
	a.members("description", all[i].Description)
	a.member("messages")
	a.write("[")
	for i := range messages {
		if i > 0 {
			a.write(",")
		}
		a.write("{")
		a.members("role", messages[i].Role)
		a.member("content")
		a.block(&messages[i].Content)
		a.write("}")
	}
	a.write("]")
	a.end()
	return s.reserveContent(ctx, q, a)
}

// reserveContent refuses a response that exceeds the budget. Reading changes
// nothing, so the client can repeat the request.
func (s *Server) reserveContent(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	if s.reserveResult(ctx, q, a) {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many bytes wait for clients that read slowly; try again later", Status: 503}
}

// failed makes the error of a resource or a prompt. The message of a source goes
// to the caller, the cause to the log.
func (s *Server) failed(q *request, a *answer, err error) *jsonrpc.Error {
	var known *tenon.Error
	if !errors.As(err, &known) || known.RetryAfter > 0 {
		return s.callFailed(q, a, err)
	}
	if known.Err != nil {
		s.log.Warn("a request failed", "method", q.Method, "error", err)
	}
	if known.Code == tenon.CodeValidation || known.Code == tenon.CodeNotFound {
		return jsonrpc.InvalidParams(known.Message)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: known.Message}
}

// maxValues is the protocol's bound of the values in one completion.
const maxValues = 100

// completion has the params of completion/complete.
type completion struct {
	Ref struct {
		Type, Name, URI string
	}
	Argument struct {
		Name, Value string
	}
	Context struct {
		Arguments map[string]string
	}
}

func (s *Server) complete(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	var in completion
	if json.Unmarshal(q.Params, &in) != nil || in.Argument.Name == "" {
		return jsonrpc.InvalidParams("a completion has a ref and an argument with name and value")
	}
	complete, ok := s.completer(ctx, &in)
	if !ok {
		return jsonrpc.InvalidParams("there is no prompt or template " + strconv.Quote(jsonrpc.Clip(in.Ref.Name+in.Ref.URI)))
	}
	var values []string
	if complete != nil {
		err := s.within(ctx, q, a, func(ctx context.Context) (err error) {
			values, err = complete(ctx, in.Argument.Name, in.Argument.Value, in.Context.Arguments)
			return err
		})
		if err != nil {
			return s.failed(q, a, err)
		}
	}
	a.begin(q, nil)
	a.member("completion")
	a.write(`{"values":[`)
	for i, v := range values[:min(len(values), maxValues)] {
		if i > 0 {
			a.write(",")
		}
		a.text(v)
	}
	a.write(`],"total":`)
	a.buf = strconv.AppendInt(a.buf, int64(len(values)), 10)
	a.write(`,"hasMore":` + strconv.FormatBool(len(values) > maxValues) + `}`)
	a.end()
	return nil
}

// completer finds the completion handler of a reference; nil: there is none.
func (s *Server) completer(ctx context.Context, in *completion) (tenon.CompletionHandler, bool) {
	c := s.gateway.Catalog().For(ctx)
	switch in.Ref.Type {
	case "ref/prompt":
		if i := slices.IndexFunc(c.Prompts(), func(p tenon.Prompt) bool { return p.Name == in.Ref.Name }); i >= 0 {
			return c.Prompts()[i].Complete, true
		}
	case "ref/resource":
		if i := slices.IndexFunc(c.Templates(), func(t tenon.ResourceTemplate) bool { return t.URI == in.Ref.URI }); i >= 0 {
			return c.Templates()[i].Complete, true
		}
		return nil, slices.ContainsFunc(c.Resources(), func(r tenon.Resource) bool { return r.URI == in.Ref.URI })
	}
	return nil, false
}
