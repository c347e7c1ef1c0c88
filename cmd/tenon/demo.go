package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/bookshop"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/openapi"
)

// enforcedTool is the operation that breaks its schema, once more, under
// enforce: the policy belongs to the tool.
const enforcedTool = "getStock_enforced"

// lastCalls is for calls under way when the demo ends.
const lastCalls = 2 * time.Second

// listLimit is how many bytes of the list of books the demo answers at once, so
// that a client can see parts: listBooks with limit 50.
const listLimit = 8192

func demoCommand(e env) *cobra.Command {
	var once bool
	var addr string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show tenon at work: a sample API, its tools, a few calls",
		Long: `Start a small bookshop API in this process, turn its OpenAPI document into MCP
tools, connect to them as a client and make a few calls: responses that match
their schema, one that does not, a mistake in the arguments, an error of the
API.

Afterwards the demo keeps serving, so that you can connect your own client.`,
		Args: exactly(0, "demo takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !app.OnLoopback(addr) {
				return usagef("--http %s: the demo is for this machine alone; it has no keys", addr)
			}
			return runDemo(cmd.Context(), e, addr, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "exit after the calls; with 1 if any of them was not as expected")
	cmd.Flags().StringVar(&addr, "http", "127.0.0.1:0", "serve MCP on this address; port 0 picks a free one")
	return cmd
}

// shop is a running demo: the API, and its tools behind an MCP server.
type shop struct {
	api      string // base URL of the API
	listener net.Listener
	app      *app.App
	tools    int
	ledger   string // of evidence, while the demo runs
	counter  *evidence.Recorder
}

// url is where the tools are served.
func (s *shop) url() string { return "http://" + s.listener.Addr().String() + "/mcp" }

func runDemo(ctx context.Context, e env, addr string, once bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "tenon-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := openShop(ctx, e, addr, app.EvidenceFile(dir))
	if err != nil {
		return err
	}
	defer s.counter.Close()
	served := make(chan error, 1)
	go func() { served <- s.app.Serve(ctx, s.listener) }()

	show := &stage{out: e.out, paint: paintFor(e.out, e.getenv)}
	show.opening(s)
	if err = show.calls(ctx, s); err == nil {
		err = show.drift(s)
	}
	if err == nil && !once {
		show.connect(s)
		select {
		case err = <-served:
			return err
		case <-ctx.Done():
		}
		fmt.Fprintln(e.out, "\nThe bookshop is closed.")
	}
	stop()
	return errors.Join(err, <-served)
}

// openShop starts the API on loopback and makes its document into a server.
func openShop(ctx context.Context, e env, addr, ledger string) (*shop, error) {
	l, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &shop{api: "http://" + l.Addr().String(), ledger: ledger}
	web := &http.Server{Handler: bookshop.New(bookshop.Options{}), ReadHeaderTimeout: app.HeaderTimeout}
	go func() { _ = web.Serve(l) }() // ends with Close below
	context.AfterFunc(ctx, func() { _ = web.Close() })

	client, err := egress.NewClient(egress.Options{AllowHosts: []string{l.Addr().String()}})
	if err != nil {
		return nil, err
	}
	offer, err := openapi.New(s.api+"/openapi.yaml", openapi.Options{Client: client}).Load(ctx)
	if err != nil {
		return nil, err
	}
	for i, t := range offer.Tools {
		if t.Name == "listBooks" {
			offer.Tools[i].MaxResult = listLimit
		}
		if t.Name == "getStock" {
			t.Name, t.Policy = enforcedTool, tenon.Enforce
			t.Description += "\n\nThe same as getStock, under policy enforce: an answer that breaks its schema is an error."
			offer.Tools = append(offer.Tools, t)
		}
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "bookshop", Features: offer}}, gateway.BuildOptions{})
	s.tools = app.Described(catalog)
	use := e.app()
	use.Logger = e.logger(slog.LevelError) // the demo prints its violations itself
	var counts gateway.Observer
	if s.counter, counts, err = app.CountEvidence(ledger, use); err != nil { //nolint:contextcheck // it counts as long as the demo runs
		return nil, err
	}
	if s.app, err = app.Wrap(gateway.New(catalog, gateway.Options{Observers: []gateway.Observer{counts}}), &app.Config{Drain: lastCalls}, use); err != nil {
		return nil, err
	}
	s.listener, err = app.Listen(ctx, addr)
	return s, err
}

// stage prints the demo.
type stage struct {
	out io.Writer
	paint
}

func (s *stage) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

func (s *stage) opening(shop *shop) {
	s.printf(`%s

  the API       %s          a small bookshop, started inside this process
  its document  %s/openapi.yaml
  the tools     %s      %d tools; each publishes the schema of its answers

`, s.bold("tenon demo: a bookshop's API becomes tools for an agent"), shop.api, shop.api, shop.url(), shop.tools)
}

// scene is one call of the demo and what must come of it.
type scene struct {
	title  string
	tool   string
	args   string
	remark string
	check  func(toolResult) error
}

// newBook is what the demo puts on the shelf.
const newBook = `"body":{"isbn":"978-1009990015","title":"Emma","authors":[{"name":"Jane Austen"}],"year":1815,"genre":"romance","tags":["england"],` +
	`"priceCents":875,"stock":3,"barcode":978100999001500127,"format":{"kind":"paperback","pages":474}}`

func scenes() []scene {
	return []scene{
		{
			"An answer that fits its schema", "listBooks", `{"limit":2}`,
			"Every value was checked against the schema that listBooks published, before anyone saw it.",
			expect(false, "fits", "data"),
		},
		{
			"Lists and objects as arguments", "searchBooks", `{"tags":["sea","voyage"],"price":{"max":1500}}`,
			"The list and the object went into the query string in the styles that the document asks for.",
			expect(false, "fits", "data"),
		},
		{
			"An image", "getCover", `{"bookId":"b1002"}`,
			"The picture travels once, as an image block of its own; the data describes it.",
			expectImage,
		},
		{
			"A service that breaks its own schema, policy warn", "getStock", `{"bookId":"` + bookshop.BrokenStock + `"}`,
			"Delivered and reported: the agent and the operator are told what is wrong.",
			expectViolation(false),
		},
		{
			"The same answer, policy enforce", enforcedTool, `{"bookId":"` + bookshop.BrokenStock + `"}`,
			"Here no data leaves: the error names each field, what was expected and what came.",
			expectViolation(true),
		},
		{
			"A mistake in the arguments", "listBooks", `{"limit":"many"}`,
			"Nothing was sent to the API. The agent reads what to change.",
			expectCode("validation_error"),
		},
		{
			"An error of the API", "getBook", `{"bookId":"b9999"}`,
			"A tool error that the agent can read, with a code, the API's own words and what to do next.",
			expectCode("not_found"),
		},
		{
			"A call that would change something", "createBook", "{" + newBook + "}",
			"Nothing was sent: somebody has to agree first. A client that can ask a person is asked that way instead.",
			expectRequest("create_resource"),
		},
		{
			"The same call with consent", "createBook", "{" + newBook + `,"confirmed":true}`,
			"executed: yes and retry: unsafe tell the agent that doing it again would do it twice.",
			expectExecuted("yes", "unsafe"),
		},
	}
}

// calls plays the scenes and fails if any of them was not what it says it is.
func (s *stage) calls(ctx context.Context, shop *shop) error {
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{shop.listener.Addr().String()}})
	if err != nil {
		return err
	}
	mcp := mcpclient.OverHTTP(shop.url(), client, nil, mcpclient.Options{Name: "tenon-demo", Version: "1", Revision: mcpclient.Modern})
	defer mcp.Close()
	failed := 0
	for i, sc := range scenes() {
		s.printf("%s\n\n   %s %s\n", s.bold(fmt.Sprintf("%d  %s", i+1, sc.title)), s.cyan("→ "+sc.tool), strings.ReplaceAll(fold([]byte(sc.args)), "\n", "\n     "))
		began := time.Now()
		answer, err := mcp.Call(ctx, &tenon.Call{Tool: sc.tool, Args: []byte(sc.args)})
		if err != nil {
			return fmt.Errorf("%s: %w", sc.tool, err)
		}
		took := time.Since(began)
		res := toolResult{Result: answer}
		if err := json.Unmarshal(answer.Meta, &res.meta); err != nil {
			return fmt.Errorf("%s: _meta: %w", sc.tool, err)
		}
		s.result(res, took)
		if err := sc.check(res); err != nil {
			failed++
			s.printf("   %s\n\n", s.red(fmt.Sprintf("✗ this is not what it should be: %v", err)))
			continue
		}
		s.printf("   %s\n\n", sc.remark)
	}
	if failed > 0 {
		return fmt.Errorf("%s not what it should be", count(failed, "call was"))
	}
	return nil
}

// drift shows what was counted meanwhile: where the service is not what its
// description says.
func (s *stage) drift(shop *shop) error {
	if err := shop.counter.Flush(); err != nil {
		return err
	}
	l, err := evidence.ReadFile(shop.ledger)
	if err != nil {
		return err
	}
	found := evidence.Compare(l.Sum(), describedOf(shop.app))
	s.printf("%s\n\n", s.bold(fmt.Sprintf("%d  What was counted meanwhile", len(scenes())+1)))
	for i := range found.Drifts {
		s.printf("   %s\n", s.yellow("! "+driftMessage(&found.Drifts[i])))
	}
	if len(found.Drifts) == 0 {
		return errors.New("the ledger knows of no drift, and one answer broke its schema")
	}
	s.printf("   %d responses. The ledger has counters and places in schemas, no values; 'tenon drift SPEC' shows it for your own API.\n\n", found.Calls)
	return nil
}

// result prints the data or the error, and the contract's verdict.
func (s *stage) result(res toolResult, took time.Duration) {
	body := res.member("data")
	switch {
	case res.IsError:
		body = res.member("error")
	case body == nil:
		body = res.Structured
	}
	for line := range strings.Lines(abridge(fold(body), 12)) {
		s.printf("   %s %s\n", s.faint("←"), strings.TrimRight(line, "\n"))
	}
	for _, c := range res.Content {
		if c.Type == tenon.ImageContent {
			s.printf("   %s [image block, %s]\n", s.faint("←"), c.MediaType)
		}
	}
	c := res.meta.Contract
	mark, color := "✓", s.green
	if c.Verdict == "violated" {
		mark, color = "!", s.yellow
	}
	s.printf("   %s  %s\n", color(fmt.Sprintf("%s verdict: %s, executed: %s, retry: %s", mark, c.Verdict, c.Executed, c.Retry)), s.faint("("+took.Round(10*time.Microsecond).String()+")"))
	for _, v := range c.Violations {
		s.printf("     %s: expected %s, got %s\n", cmp.Or(v.Path, "the answer"), v.Expected, v.Got)
	}
}

// abridge cuts a text after so many lines.
func abridge(text string, lines int) string {
	all := strings.Split(text, "\n")
	if len(all) <= lines {
		return text
	}
	return strings.Join(all[:lines-1], "\n") + fmt.Sprintf("\n… %d more lines", len(all)-lines+1)
}

// connect prints what to paste into an MCP client.
func (s *stage) connect(shop *shop) {
	url := shop.url()
	s.printf(`The tools stay open. Connect a client of your own:

   a client with a configuration file
     {"mcpServers":{"bookshop":{"type":"http","url":"%s"}}}

   a client with a command line
     npx @modelcontextprotocol/inspector --cli --transport http --server-url %s --method tools/list

   your own API
     tenon serve openapi.yaml

listening on %s
Press Ctrl-C to end.
`, url, url, url)
}

// toolResult is the result of a call with what the demo looks at of its _meta.
type toolResult struct {
	*tenon.Result

	meta struct {
		Contract struct {
			Verdict    string `json:"verdict"`
			Executed   string `json:"executed"`
			Retry      string `json:"retry"`
			Violations []struct {
				Path     string `json:"path"`
				Expected string `json:"expected"`
				Got      string `json:"got"`
			} `json:"violations"`
		} `json:"tenon/contract"`
	}
}

// member returns one member of the structured content, nil where there is none.
func (r toolResult) member(name string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(r.Structured, &all) != nil {
		return nil
	}
	return all[name]
}

// The checks of the demo's calls: each returns what is not as it should be.

func expect(isError bool, verdict, member string) func(toolResult) error {
	return func(r toolResult) error {
		switch {
		case r.IsError != isError:
			return fmt.Errorf("isError is %v", r.IsError)
		case r.meta.Contract.Verdict != verdict:
			return fmt.Errorf("the verdict is %q, not %q", r.meta.Contract.Verdict, verdict)
		case r.member(member) == nil:
			return fmt.Errorf("structuredContent has no %s", member)
		}
		return nil
	}
}

func expectImage(r toolResult) error {
	if err := expect(false, "fits", "data")(r); err != nil {
		return err
	}
	for _, c := range r.Content {
		if c.Type == tenon.ImageContent && c.MediaType == "image/png" {
			return nil
		}
	}
	return fmt.Errorf("there is no image block")
}

func expectViolation(isError bool) func(toolResult) error {
	return func(r toolResult) error {
		member := "data"
		if isError {
			member = "error"
		}
		if err := expect(isError, "violated", member)(r); err != nil {
			return err
		}
		for _, v := range r.meta.Contract.Violations {
			if v.Path == "/count" {
				return nil
			}
		}
		return fmt.Errorf("no violation names /count")
	}
}

func expectCode(code string) func(toolResult) error {
	return func(r toolResult) error {
		var e struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal(r.member("error"), &e); err != nil {
			return fmt.Errorf("there is no error structure: %w", err)
		}
		switch {
		case !r.IsError:
			return fmt.Errorf("isError is false")
		case e.Code != code:
			return fmt.Errorf("the code is %q, not %q", e.Code, code)
		case r.meta.Contract.Retry != "safe":
			return fmt.Errorf("retry is %q", r.meta.Contract.Retry)
		}
		return nil
	}
}

func expectExecuted(executed, retry string) func(toolResult) error {
	return func(r toolResult) error {
		if err := expect(false, "fits", "data")(r); err != nil {
			return err
		}
		if c := r.meta.Contract; c.Executed != executed || c.Retry != retry {
			return fmt.Errorf("executed is %q and retry %q", c.Executed, c.Retry)
		}
		return nil
	}
}

// expectRequest wants a request for consent, and nothing done.
func expectRequest(action string) func(toolResult) error {
	return func(r toolResult) error {
		switch {
		case r.IsError:
			return fmt.Errorf("isError is true")
		case string(r.member("type")) != `"confirmation_request"`:
			return fmt.Errorf("the type is %s", r.member("type"))
		case string(r.member("action")) != `"`+action+`"`:
			return fmt.Errorf("the action is %s", r.member("action"))
		case r.meta.Contract.Executed != "no":
			return fmt.Errorf("executed is %q", r.meta.Contract.Executed)
		}
		return nil
	}
}
