package tenontest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/tenontest"
)

// library is a source that does everything right, until a case breaks one thing.
type library struct {
	loads  int
	change func(load int, o *tenon.Features)
	during func(ctx context.Context, s *library) error
	watch  func(ctx context.Context)
	close  func(s *library) error

	stop context.CancelFunc // of what it keeps running
	done sync.WaitGroup
	mu   sync.Mutex
}

func (s *library) Load(ctx context.Context) (tenon.Features, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	if s.during != nil {
		if err := s.during(ctx, s); err != nil {
			return tenon.Features{}, err
		}
	}
	if s.stop == nil {
		var running context.Context
		running, s.stop = context.WithCancel(context.WithoutCancel(ctx))
		s.done.Go(func() { <-running.Done() })
	}
	o := offer()
	if s.change != nil {
		s.change(s.loads, &o)
	}
	return o, nil
}

func (s *library) Watch(ctx context.Context, _ func()) error {
	if s.watch != nil {
		s.watch(ctx)
	}
	<-ctx.Done()
	return nil
}

func (s *library) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.close != nil {
		return s.close(s)
	}
	if s.stop != nil {
		s.stop()
		s.done.Wait()
	}
	return nil
}

const bookSchema = `{"type":"object","properties":{"title":{"type":"string"},"next":{"$ref":"#/$defs/id"}},"required":["title"],"$defs":{"id":{"type":"integer"}}}`

// contract of a tool that takes an id and answers with a book.
func contract() tenon.Contract {
	return tenon.Contract{
		Input: []byte(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`),
		Responses: []tenon.ResponseSchema{
			{Status: "200", MediaType: "application/json", Schema: []byte(bookSchema)},
			{Status: "default", MediaType: "application/problem+json"},
		},
	}
}

func dune() tenon.Response {
	return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`{"title":"Dune","next":7}`), Execution: tenon.Execution{Reads: tenon.Responded}}
}

// offer is what a library offers: a tool that reads, one that changes something,
// one that waits, a resource, a template and a prompt.
func offer() tenon.Features {
	yes := true
	return tenon.Features{
		Tools: []tenon.Tool{
			{
				Name: "get_book", Description: "Returns a book.", Annotations: tenon.Annotations{ReadOnly: &yes}, Contract: contract(), Policy: tenon.Warn,
				Handler: func(context.Context, *tenon.Call) (tenon.Response, error) { return dune(), nil },
			},
			{
				Name: "burn_book", Description: "Burns a book.", Contract: contract(),
				Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
					return tenon.Response{Execution: tenon.Execution{Unsafe: tenon.Responded}}, &tenon.Error{Code: tenon.CodeConflict, Message: "It is on loan."}
				},
			},
			{
				Name: "read_slowly", Description: "Reads until it is told to stop.", Contract: contract(), Handler: waits,
			},
		},
		Resources:         []tenon.Resource{{URI: "library://all", Read: reads}},
		ResourceTemplates: []tenon.ResourceTemplate{{URI: "library://book/{id}", Read: reads}},
		Prompts: []tenon.Prompt{{Name: "advise", Arguments: []tenon.PromptArgument{{Name: "taste", Required: true}}, Get: func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) {
			return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte("Which book?")}}}, nil
		}}},
		Diagnostics: []tenon.Diagnostic{{File: "library.txt", Line: 3, Message: "a book without a title was left out"}},
	}
}

func reads(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
	return []tenon.Content{{Type: tenon.EmbeddedResource, URI: uri, Text: []byte("Dune")}}, nil
}

// begun tells that a call of the tool that waits is under way.
var begun = make(chan struct{})

// waits says that it has begun, if somebody listens, and waits for its context.
func waits(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
	select {
	case begun <- struct{}{}:
		<-ctx.Done()
	case <-ctx.Done():
	}
	return tenon.Response{Execution: tenon.Execution{Unsafe: tenon.NoResponse}}, ctx.Err()
}

// recorder is a test that notes what it is told.
type recorder struct {
	testing.TB

	errors []string
}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func samples() []tenontest.Sample {
	return []tenontest.Sample{
		{Tool: "burn_book", Args: `{"id":1}`, Code: tenon.CodeConflict},
		{Tool: "read_slowly", Args: `{"id":1}`, Begun: begun},
	}
}

func TestGoodSource(t *testing.T) {
	tenontest.Source(t, func() tenon.Source { return &library{} }, tenontest.SourceOptions{Samples: samples()})
}

// leaves starts a goroutine that nobody ends before the test does.
func leaves(t *testing.T) {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	go func() { <-end }()
}

// TestBrokenSources breaks one thing at a time, and the report names it.
func TestBrokenSources(t *testing.T) {
	tool := func(f func(*tenon.Tool)) *library {
		return &library{change: func(_ int, o *tenon.Features) { f(&o.Tools[0]) }}
	}
	contract := func(f func(*tenon.Contract)) *library {
		return tool(func(t *tenon.Tool) {
			p := contract()
			f(&p)
			t.Contract = p
		})
	}
	answers := func(h tenon.Handler) *library { return tool(func(t *tenon.Tool) { t.Handler = h }) }
	fails := func(err error) *library {
		return answers(func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, err })
	}
	responses := func(f func(*tenon.Response)) *library {
		return answers(func(context.Context, *tenon.Call) (tenon.Response, error) {
			r := dune()
			f(&r)
			return r, nil
		})
	}
	offers := func(f func(*tenon.Features)) *library {
		return &library{change: func(_ int, o *tenon.Features) { f(o) }}
	}
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	shared, given := make([]byte, 64), 0
	var sharing sync.Mutex
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", 100_000)))
	}))
	t.Cleanup(upstream.Close)
	client := upstream.Client()
	t.Cleanup(client.CloseIdleConnections)

	const short = 300 * time.Millisecond // where something never ends
	for _, tt := range []struct {
		name, want string
		source     *library
		timeout    time.Duration
		samples    []tenontest.Sample // nil: samples
	}{
		{name: "Load panics", want: "Load panics: no library", source: &library{during: func(context.Context, *library) error { panic("no library") }}},
		{name: "Load fails", want: "Load: no library", source: &library{during: func(context.Context, *library) error { return fmt.Errorf("no library") }}},
		{name: "only the second Load fails", want: "a second Load: no library", source: &library{during: func(_ context.Context, s *library) error {
			if s.loads > 1 {
				return fmt.Errorf("no library")
			}
			return nil
		}}},
		{name: "Load does not end with its context", want: "Load with a context that has ended has not returned after", timeout: short, source: &library{during: func(ctx context.Context, s *library) error {
			if ctx.Err() != nil {
				s.mu.Unlock()
				<-forever
				s.mu.Lock()
			}
			return nil
		}}},
		{name: "an ended Load spoils the next", want: "Load after one whose context had ended: spoilt", source: &library{during: func(ctx context.Context, s *library) error {
			switch {
			case ctx.Err() != nil:
				s.loads = -1
			case s.loads == 0:
				return fmt.Errorf("spoilt")
			}
			return nil
		}}},
		{name: "nothing is offered", want: "Load finds no tool, no resource and no prompt", source: offers(func(o *tenon.Features) { *o = tenon.Features{} }), samples: []tenontest.Sample{}},
		{name: "the order changes", want: `a second Load finds something else: tool "get_book", then tool "burn_book"`, source: &library{change: func(load int, o *tenon.Features) {
			if load%2 == 0 {
				o.Tools[0], o.Tools[1] = o.Tools[1], o.Tools[0]
			}
		}}},
		{name: "a text changes", want: `a second Load finds something else: tool "get_book" with …`, source: &library{change: func(load int, o *tenon.Features) {
			o.Tools[0].Description += strings.Repeat("!", load)
		}}},
		{name: "a tool disappears", want: "a second Load finds something else: prompt", source: &library{change: func(load int, o *tenon.Features) {
			if load > 1 {
				o.Prompts = nil
			}
		}}},
		{name: "two names", want: `two tools are named "burn_book"`, source: tool(func(t *tenon.Tool) { t.Name = "burn_book" })},
		{name: "no name", want: "a tool has no name", source: tool(func(t *tenon.Tool) { t.Name = "" })},
		{name: "an illegal name", want: `tool "get.book": clients would see it as "get_book"`, source: tool(func(t *tenon.Tool) { t.Name = "get.book" })},
		{name: "no description", want: `tool "get_book": has no description`, source: tool(func(t *tenon.Tool) { t.Description = " " })},
		{name: "no UTF-8", want: `tool "get_book": the text "\xff" is no UTF-8`, source: tool(func(t *tenon.Tool) { t.Title = "\xff" })},
		{name: "no handler", want: `tool "get_book": has no handler`, source: answers(nil)},
		{name: "hints against each other", want: "is marked as read-only and as destructive", source: tool(func(t *tenon.Tool) { t.Annotations.Destructive = t.Annotations.ReadOnly })},
		{name: "an unknown policy", want: `tool "get_book": its policy is unknown`, source: tool(func(t *tenon.Tool) { t.Policy = "strict" })},
		{name: "meta", want: `tool "get_book": its Meta is no JSON object`, source: tool(func(t *tenon.Tool) { t.Meta = []byte(`[1]`) })},
		{name: "a diagnostic without words", want: "a diagnostic does not say what is wrong", source: offers(func(o *tenon.Features) { o.Diagnostics[0].Message = "" })},

		{name: "a schema that is none", want: `tool "get_book": answer "200" application/json: its schema does not compile`, source: contract(func(p *tenon.Contract) {
			p.Responses[0].Schema = []byte(`{"type":"strin"}`)
		})},
		{name: "a reference to another file", want: `does not stand alone: it refers to "book.json"`, source: contract(func(p *tenon.Contract) {
			p.Responses[1] = tenon.ResponseSchema{Status: "default", MediaType: "application/json", Schema: []byte(`{"allOf":[{"properties":{"$ref":true}},{"$ref":"book.json"}]}`)}
		})},
		{name: "a reference to definitions of old", want: `it refers to "#/definitions/id"`, source: contract(func(p *tenon.Contract) {
			p.Input = []byte(`{"type":"object","properties":{"id":{"$ref":"#/definitions/id"}},"definitions":{"id":{"type":"integer"}}}`)
		})},
		{name: "another dialect", want: `tool "get_book": the input schema has the dialect http://json-schema.org/draft-07/schema#`, source: contract(func(p *tenon.Contract) {
			p.Input = []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`)
		})},
		{name: "arguments that are no object", want: `tool "get_book": the input schema does not say "type": "object"`, source: contract(func(p *tenon.Contract) { p.Input = []byte(`{"minProperties":0}`) })},
		{name: "an odd status", want: `the status is not one such as`, source: contract(func(p *tenon.Contract) { p.Responses[1].Status = "4xx-5xx" })},
		{name: "a media type with parameters", want: "the media type is not lower case without parameters", source: contract(func(p *tenon.Contract) { p.Responses[1].MediaType = "text/plain; charset=utf-8" })},
		{name: "published is narrower", want: `tool "get_book": the published input schema refuses {"id":`, source: tool(func(t *tenon.Tool) {
			t.Contract = two{published: func(c *tenon.Contract) {
				c.Input = []byte(`{"type":"object","properties":{"id":{"type":"integer","minimum":1000000}}}`)
			}}
		})},
		{name: "an answer is not published", want: `answer "default" application/problem+json: is not published`, source: tool(func(t *tenon.Tool) {
			t.Contract = two{published: func(c *tenon.Contract) { c.Responses = c.Responses[:1] }}
		})},
		{name: "a contract that changes", want: `tool "get_book": Contract returns something else the second time`, source: tool(func(t *tenon.Tool) {
			t.Contract = &changing{}
		})},
		{name: "a contract that panics", want: `tool "get_book": Contract panics: gone`, source: tool(func(t *tenon.Tool) {
			t.Contract = two{published: func(*tenon.Contract) {}, checked: func(*tenon.Contract) { panic("gone") }}
		})},

		{name: "an answer breaks its schema", want: `the answer violates its schema (violated): at /title: expected string`, source: responses(func(r *tenon.Response) { r.Body = []byte(`{"title":1}`) })},
		{name: "an answer is declared nowhere", want: "the answer violates its schema (undeclared)", source: responses(func(r *tenon.Response) { r.MediaType = "text/csv" })},
		{name: "an answer is no JSON", want: "the answer violates its schema (violated)", source: responses(func(r *tenon.Response) { r.Body = []byte(`{"title":`) })},
		{name: "a handler panics", want: `tool "get_book": its handler panics for {"id":`, source: answers(func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			if ctx.Err() == nil {
				panic("gone")
			}
			return tenon.Response{}, ctx.Err()
		})},
		{name: "an unknown code", want: `tool "get_book": fails with the code "oops"`, source: fails(&tenon.Error{Code: "oops", Message: "Gone."})},
		{name: "an error without a message", want: "fails with an error that has no Message", source: fails(&tenon.Error{Code: tenon.CodeNetwork})},
		{name: "an error that says nothing", want: "fails with an error that says nothing", source: fails(fmt.Errorf(" "))},
		{name: "Sent is not set", want: "answers with the status 200, and Response.Execution says that nothing was sent", source: responses(func(r *tenon.Response) { r.Execution = tenon.Execution{} })},
		{name: "read-only and unsafe", want: "is marked as read-only, and Response.Execution.Unsafe says", source: responses(func(r *tenon.Response) { r.Execution.Unsafe = tenon.Responded })},
		{name: "a status that is none", want: "answers with the status 99", source: responses(func(r *tenon.Response) { r.Status = 99 })},
		{name: "a link to nowhere", want: "block 0 of its content: is a link without a URI", source: responses(func(r *tenon.Response) { r.Content = []tenon.Content{{Type: tenon.ResourceLink}} })},
		{name: "arguments are changed", want: "its handler changes the arguments that it was given", source: answers(func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			c.Args[0] = ' '
			return dune(), nil
		})},
		{name: "a buffer is used again", want: "the bytes of the answer were changed after it was given", source: answers(func(context.Context, *tenon.Call) (tenon.Response, error) {
			sharing.Lock()
			defer sharing.Unlock()
			if given++; given > 2 { // more would be a race, which the detector finds
				return dune(), nil
			}
			r := dune()
			r.Body = append(shared[:0], fmt.Sprintf(`{"title":"Dune","next":%d}`, given)...)
			return r, nil
		})},

		{name: "a call under way is not cancelled", want: `tool "read_slowly": a call that was cancelled under way has not returned after`, timeout: short, source: offers(func(o *tenon.Features) {
			o.Tools[2].Handler = func(context.Context, *tenon.Call) (tenon.Response, error) {
				begun <- struct{}{}
				<-forever
				return tenon.Response{}, nil
			}
		})},
		{name: "a cancelled call forgets what it did", want: `tool "read_slowly": a call that was cancelled under way says that nothing was sent`, source: offers(func(o *tenon.Features) {
			o.Tools[2].Handler = func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
				_, err := waits(ctx, c)
				return tenon.Response{}, err
			}
		})},
		{name: "a call does not look at its context", want: `tool "get_book": a call whose context had ended before has not returned after`, timeout: short, source: answers(func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			if ctx.Err() != nil {
				<-forever
			}
			return dune(), nil
		})},
		{name: "a sample succeeds", want: `succeeds; the sample says that it fails with conflict`, source: offers(func(o *tenon.Features) {
			o.Tools[1].Handler = o.Tools[0].Handler
		})},
		{name: "a sample of no tool", want: `a sample calls the tool "lend_book"; there is burn_book, get_book, read_slowly`, source: &library{}, samples: []tenontest.Sample{{Tool: "lend_book"}}},

		{name: "Load leaves a goroutine", want: "each Load leaves a goroutine running: github.com/tenon-mcp/tenon/tenontest_test.leaves.func2", timeout: short, source: &library{during: func(context.Context, *library) error {
			leaves(t)
			return nil
		}}},
		{name: "Close leaves a goroutine", want: "after Close a goroutine is left running: github.com/tenon-mcp/tenon/tenontest_test.", timeout: short, source: &library{close: func(s *library) error {
			t.Cleanup(s.stop)
			return nil
		}}},
		{name: "Close fails", want: "Close: jammed", source: &library{close: func(s *library) error {
			s.stop()
			return fmt.Errorf("jammed")
		}}},
		{name: "Close hangs", want: "Close has not returned after", timeout: short, source: &library{close: func(s *library) error {
			s.stop()
			s.mu.Unlock()
			defer s.mu.Lock()
			<-forever
			return nil
		}}},
		{name: "a body is not closed", want: "a connection whose answer has a body that nobody closed", timeout: short, source: answers(func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), "GET", upstream.URL, nil)
			if err != nil {
				return tenon.Response{}, err
			}
			res, err := client.Do(r)
			if err == nil {
				_, err = res.Body.Read(make([]byte, 10))
				t.Cleanup(func() { _ = res.Body.Close() })
			}
			return dune(), err
		})},
		{name: "Watch does not end", want: "Watch with a context that has ended has not returned after", timeout: short, source: &library{watch: func(context.Context) { <-forever }}},

		{name: "a relative URI", want: `resource "all": its URI is not absolute`, source: offers(func(o *tenon.Features) { o.Resources[0].URI = "all" })},
		{name: "Read panics", want: `resource "library://all": Read panics: gone`, source: offers(func(o *tenon.Features) {
			o.Resources[0].Read = func(ctx context.Context, uri string, c *tenon.Call) ([]tenon.Content, error) {
				if ctx.Err() == nil {
					panic("gone")
				}
				return reads(ctx, uri, c)
			}
		})},
		{name: "a resource that is a text", want: `resource "library://all": Read answers with a block that is no resource`, source: offers(func(o *tenon.Features) {
			o.Resources[0].Read = func(context.Context, string, *tenon.Call) ([]tenon.Content, error) { return []tenon.Content{{}}, nil }
		})},
		{name: "a template without a variable", want: `template "library://book": has no variable`, source: offers(func(o *tenon.Features) { o.ResourceTemplates[0].URI = "library://book" })},
		{name: "a role", want: `prompt "advise": has a message of the role "system"`, source: offers(func(o *tenon.Features) {
			o.Prompts[0].Get = func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) {
				return []tenon.PromptMessage{{Role: "system"}}, nil
			}
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			o := tenontest.SourceOptions{Samples: tt.samples, Timeout: tt.timeout}
			if o.Samples == nil {
				o.Samples = samples()
			}
			tenontest.Source(r, func() tenon.Source {
				s := &library{change: tt.source.change, during: tt.source.during, watch: tt.source.watch, close: tt.source.close}
				return s
			}, o)
			if len(r.errors) == 0 {
				t.Fatalf("nothing was found wrong; want %q", tt.want)
			}
			for _, e := range r.errors {
				if strings.Contains(e, tt.want) {
					return
				}
			}
			t.Errorf("want %q:\n%s", tt.want, strings.Join(r.errors, "\n"))
		})
	}
}

// two is a contract whose two sides differ.
type two struct{ checked, published func(*tenon.Contract) }

func (p two) Contract() (tenon.Contract, error) {
	c := contract()
	if p.checked != nil {
		p.checked(&c)
	}
	return c, nil
}

func (p two) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c := contract()
	p.published(&c)
	return c, nil
}

// changing is a contract that grows with each question.
type changing struct {
	mu sync.Mutex
	n  int
}

func (p *changing) Contract() (tenon.Contract, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	c := contract()
	c.Input = fmt.Appendf(nil, `{"type":"object","minProperties":0,"title":"%d"}`, p.n)
	return c, nil
}

func (p *changing) PublishedContract() (tenon.Contract, []tenon.Diagnostic) { return contract(), nil }
