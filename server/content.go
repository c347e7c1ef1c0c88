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
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// contentTime bounds the reading of a resource, the making of a prompt and
// the completion of a value.
const contentTime = time.Minute

// resources reports whether the catalog has anything to read.
func (s *Server) resources() bool {
	c := s.gateway.Catalog()
	return len(c.Resources())+len(c.Templates()) > 0
}

func (s *Server) prompts() bool { return len(s.gateway.Catalog().Prompts()) > 0 }

// completes reports whether anything in the catalog proposes values.
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

// items writes a page of n definitions under key.
func (s *Server) items(q *request, a *answer, key string, n int, one func(i int)) *rpcError {
	start := 0
	id := s.tools().id
	if q.hasCursor {
		var ok bool
		if start, ok = s.cursors.open(q.cursor, id, key); !ok || start >= n {
			return staleCursor()
		}
	}
	a.begin(q, nil)
	a.member(key)
	a.write("[")
	end := min(n, start+maxPageItems)
	for i := start; i < end; i++ {
		if i > start {
			a.write(",")
		}
		a.write("{")
		one(i)
		a.write("}")
	}
	a.write("]")
	if end < n {
		a.member("nextCursor")
		a.text(s.cursors.seal(end, id, key))
	}
	a.caching(q, listTTL)
	a.end()
	return nil
}

func (s *Server) listResources(_ context.Context, q *request, a *answer) *rpcError {
	all := s.gateway.Catalog().Resources()
	return s.items(q, a, "resources", len(all), func(i int) {
		r := &all[i]
		a.members("uri", r.URI, "name", orURI(r.Name, r.URI), "title", r.Title, "description", r.Description, "mimeType", r.MediaType)
		if r.Size > 0 {
			a.member("size")
			a.buf = strconv.AppendInt(a.buf, r.Size, 10)
		}
	})
}

func (s *Server) listTemplates(_ context.Context, q *request, a *answer) *rpcError {
	all := s.gateway.Catalog().Templates()
	return s.items(q, a, "resourceTemplates", len(all), func(i int) {
		t := &all[i]
		a.members("uriTemplate", t.URI, "name", orURI(t.Name, t.URI), "title", t.Title, "description", t.Description, "mimeType", t.MediaType)
	})
}

func orURI(name, uri string) string {
	if name == "" {
		return uri
	}
	return name
}

func (s *Server) listPrompts(_ context.Context, q *request, a *answer) *rpcError {
	all := s.gateway.Catalog().Prompts()
	return s.items(q, a, "prompts", len(all), func(i int) {
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
	})
}

// within takes a place among the calls and runs f in the bounds of one.
func (s *Server) within(ctx context.Context, q *request, a *answer, f func(context.Context) error) error {
	if err := s.enter(ctx, q, a); err != nil {
		return err
	}
	if q.outlives {
		ctx = s.outliving(ctx)
	}
	limited, cancel := context.WithTimeout(s.counting(ctx, q, a), contentTime)
	defer cancel()
	return f(limited)
}

func (s *Server) readResource(ctx context.Context, q *request, a *answer) *rpcError {
	if q.uri == "" {
		return invalidParams("uri is missing")
	}
	if e := q.resume(); e != nil {
		return e
	}
	read := s.reader(q.uri)
	if read == nil {
		return noResource(q)
	}
	var blocks []tenon.Content
	err := s.within(ctx, q, a, func(ctx context.Context) (err error) {
		blocks, err = read(ctx, q.uri, q.call())
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
		a.resource(&blocks[i], q.uri)
	}
	a.write("]")
	if q.era == modern {
		a.write(`,"ttlMs":0,"cacheScope":"private"`)
	}
	a.end()
	return s.affordable(ctx, q, a)
}

// noResource has the code of its era: -32002 went away with 2026-07-28.
func noResource(q *request) *rpcError {
	e := invalidParams("there is no resource " + strconv.Quote(clip(q.uri)))
	if q.era == legacy {
		e.code = codeNoResource
	}
	e.data = append(rawjson.AppendString([]byte(`{"uri":`), clip(q.uri)), '}')
	return e
}

func (s *Server) reader(uri string) tenon.ResourceHandler {
	c := s.gateway.Catalog()
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

// matches reports whether uri has the form of a template. A variable is at
// least one byte long and holds no slash.
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

func (s *Server) getPrompt(ctx context.Context, q *request, a *answer) *rpcError {
	args := map[string]string{}
	if q.arguments != nil && json.Unmarshal(q.arguments, &args) != nil {
		return invalidParams("the arguments of a prompt are strings")
	}
	all := s.gateway.Catalog().Prompts()
	i := slices.IndexFunc(all, func(p tenon.Prompt) bool { return p.Name == q.name })
	if i < 0 || all[i].Get == nil {
		return invalidParams("unknown prompt " + strconv.Quote(clip(q.name)))
	}
	for _, arg := range all[i].Arguments {
		if _, ok := args[arg.Name]; arg.Required && !ok {
			return invalidParams("the prompt needs the argument " + strconv.Quote(arg.Name))
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
	return s.affordable(ctx, q, a)
}

// affordable refuses an answer that finds no room. Reading changes nothing, so
// it can be asked for again.
func (s *Server) affordable(ctx context.Context, q *request, a *answer) *rpcError {
	if s.afford(ctx, q, a) {
		return nil
	}
	return &rpcError{code: codeInternal, message: "too many bytes wait for clients that read slowly; try again later", status: 503}
}

// failed makes the error for a resource or a prompt. What a source says to a
// caller is passed on, what it says to the operator goes to the log.
func (s *Server) failed(q *request, a *answer, err error) *rpcError {
	var known *tenon.Error
	if !errors.As(err, &known) {
		return s.callFailed(q, a, err)
	}
	if known.Err != nil {
		s.log.Warn("a request failed", "method", q.method, "error", err)
	}
	if known.Code == tenon.CodeValidation || known.Code == tenon.CodeNotFound {
		return invalidParams(known.Message)
	}
	return &rpcError{code: codeInternal, message: known.Message}
}
