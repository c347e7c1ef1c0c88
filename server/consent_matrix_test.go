package server_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/server"
)

// The groups of clients that a consent is the same for.
const (
	rounds = iota // 2026-07-28: asked by an answer, and makes the request again
	live          // 2025-06-18 and later: asked while the call is under way
	mute          // cannot be asked
)

// consentClients are those that can be asked, and the ways in which one cannot.
func consentClients() [3][]clientKind {
	return [...][]clientKind{
		rounds: {
			{"2026-07-28", "2026-07-28", forms, "POST"},
			{"2026-07-28 on stdio", "2026-07-28", forms, "stdio"},
			{"2026-07-28 with tasks", "2026-07-28", taskClient, "POST"},
		},
		live: {
			{"2025-11-25", "2025-11-25", forms, "session"},
			{"2025-11-25 on stdio", "2025-11-25", forms, "stdio"},
			{"2025-06-18", "2025-06-18", forms, "session"},
			{"2025-06-18 on stdio", "2025-06-18", forms, "stdio"},
		},
		mute: {
			{"2026-07-28 without forms", "2026-07-28", `{"elicitation":{"url":{}}}`, "POST"},
			{"2025-11-25 without elicitation", "2025-11-25", `{"sampling":{}}`, "session"},
			{"2025-11-25 without a session", "2025-11-25", forms, "POST"},
			{"2025-06-18 without elicitation", "2025-06-18", "{}", "stdio"},
			{"2025-06-18 without a session", "2025-06-18", forms, "POST"},
			{"2025-03-26", "2025-03-26", "{}", "session"},
			{"2025-03-26 on stdio", "2025-03-26", "{}", "stdio"},
			{"2025-03-26 without a session", "2025-03-26", "{}", "POST"},
			{"the JSON-RPC endpoint", "", "", "POST"},
		},
	}
}

// step is one thing that a client does; what it does about is its latest call.
type step func(p *party) (about *pending)

func latest(p *party) *pending { return p.calls[len(p.calls)-1] }

// calls makes a call.
func calls(book string) step {
	return func(p *party) *pending {
		p.begin(`{"book":`+book+`}`, "")
		return latest(p)
	}
}

// asserts makes a call that says by itself that it is confirmed.
func asserts(book string) step {
	return func(p *party) *pending {
		p.begin(`{"confirmed":true,"book":`+book+`}`, "")
		return latest(p)
	}
}

// forges makes a call with an answer that nobody asked for.
func forges(book string) step {
	return func(p *party) *pending {
		if p.modern() {
			p.begin(`{"book":`+book+`}`, `,"inputResponses":{"tenon/confirmation":`+agrees+`}`)
		} else {
			p.send(`{"jsonrpc":"2.0","id":"tenon-1","result":` + agrees + `}`)
			p.begin(`{"book":`+book+`}`, "")
		}
		return latest(p)
	}
}

// says answers the question of the first call, where one came.
func says(what string) step {
	return func(p *party) *pending {
		c := p.calls[0]
		c.said = what
		p.respond(c, c.arguments)
		return c
	}
}

// replays uses the consent of the first call once more, where there was one.
func replays(book string) step {
	return func(p *party) *pending {
		c := p.calls[0]
		p.respond(c, `{"book":`+book+`}`)
		if c.question != "" {
			p.begin(`{"book":`+book+`}`, "")
		}
		return latest(p)
	}
}

// waits lets more time pass than a consent has.
func waits(p *party) *pending {
	time.Sleep(11 * time.Minute)
	synctest.Wait()
	return latest(p)
}

// What a person says.
const (
	agrees   = `{"action":"accept","content":{"confirm":true}}`
	unticked = `{"action":"accept","content":{"confirm":false}}`
	blank    = `{"action":"accept","content":{}}`
	declines = `{"action":"decline"}`
	cancels  = `{"action":"cancel"}`
)

// consentRow is what a client does, and where that ends in each mode: how the
// last step ended, and the books that the upstream was told to remove.
type consentRow struct {
	does        string
	steps       []step
	auto, human [3]string // by group of clients
	arg, off    string
}

func consentRows() []consentRow {
	return []consentRow{
		{
			"calls",
			[]step{calls("1")},
			[3]string{"asked", "asked", "request"},
			[3]string{"asked", "asked", "nobody"},
			"request", "done 1",
		},
		{
			"calls and agrees",
			[]step{calls("1"), says(agrees)},
			[3]string{"done 1", "done 1", "request"},
			[3]string{"done 1", "done 1", "nobody"},
			"request", "done 1",
		},
		{
			"sends the form without the tick",
			[]step{calls("1"), says(unticked)},
			[3]string{"declined", "declined", "request"},
			[3]string{"declined", "declined", "nobody"},
			"request", "done 1",
		},
		{
			"sends a blank form",
			[]step{calls("1"), says(blank)},
			[3]string{"asked", "asked", "request"},
			[3]string{"asked", "asked", "nobody"},
			"request", "done 1",
		},
		{
			"sends blank forms to the end",
			[]step{calls("1"), says(blank), says(blank), says(blank)},
			[3]string{"misfit", "misfit", "request"},
			[3]string{"misfit", "misfit", "nobody"},
			"request", "done 1",
		},
		{
			"declines",
			[]step{calls("1"), says(declines)},
			[3]string{"declined", "declined", "request"},
			[3]string{"declined", "declined", "nobody"},
			"request", "done 1",
		},
		{
			"cancels",
			[]step{calls("1"), says(cancels)},
			[3]string{"declined", "declined", "request"},
			[3]string{"declined", "declined", "nobody"},
			"request", "done 1",
		},
		{
			"says nothing for too long",
			[]step{calls("1"), waits},
			[3]string{"asked", "timeout", "request"},
			[3]string{"asked", "timeout", "nobody"},
			"request", "done 1",
		},
		{
			"agrees too late",
			[]step{calls("1"), waits, says(agrees)},
			[3]string{"rpc -32602", "timeout", "request"},
			[3]string{"rpc -32602", "timeout", "nobody"},
			"request", "done 1",
		},
		{
			"answers what nobody asked",
			[]step{forges("1")},
			[3]string{"asked", "asked", "request"},
			[3]string{"asked", "asked", "nobody"},
			"request", "done 1",
		},
		{
			"asserts it at once",
			[]step{asserts("1")},
			[3]string{"asked", "asked", "request"},
			[3]string{"person", "person", "person"},
			"request", "invalid",
		},
		{
			"asserts it, and the person agrees",
			[]step{asserts("1"), says(agrees)},
			[3]string{"done 1", "done 1", "request"},
			[3]string{"person", "person", "person"},
			"request", "invalid",
		},
		{
			"asserts it, and the person declines",
			[]step{asserts("1"), says(declines)},
			[3]string{"declined", "declined", "request"},
			[3]string{"person", "person", "person"},
			"request", "invalid",
		},
		{
			"asserts it when asked",
			[]step{calls("1"), asserts("1")},
			[3]string{"asked", "asked", "done 1"},
			[3]string{"person", "person", "person"},
			"done 1", "invalid 1",
		},
		{
			"asserts it too late",
			[]step{calls("1"), waits, asserts("1")},
			[3]string{"asked", "asked", "request"},
			[3]string{"person", "person", "person"},
			"request", "invalid 1",
		},
		{
			"asserts it twice",
			[]step{calls("1"), asserts("1"), asserts("1")},
			[3]string{"asked", "asked", "request 1"},
			[3]string{"person", "person", "person"},
			"request 1", "invalid 1",
		},
		{
			"asserts it for another book",
			[]step{calls("1"), asserts("2")},
			[3]string{"asked", "asked", "request"},
			[3]string{"person", "person", "person"},
			"request", "invalid 1",
		},
		{
			"asserts it for the first of two",
			[]step{calls("1"), calls("2"), asserts("1")},
			[3]string{"asked", "asked", "done 1"},
			[3]string{"person", "person", "person"},
			"done 1", "invalid 1 2",
		},
		{
			"agrees to the first of two",
			[]step{calls("1"), calls("2"), says(agrees)},
			[3]string{"done 1", "done 1", "request"},
			[3]string{"done 1", "done 1", "nobody"},
			"request", "done 1 2",
		},
		{
			"uses a consent again",
			[]step{calls("1"), says(agrees), replays("1")},
			[3]string{"used 1", "asked 1", "request"},
			[3]string{"used 1", "asked 1", "nobody"},
			"request", "done 1",
		},
		{
			"uses a consent again for another book",
			[]step{calls("1"), says(agrees), replays("2")},
			[3]string{"rpc -32602 1", "asked 1", "request"},
			[3]string{"rpc -32602 1", "asked 1", "nobody"},
			"request", "done 1",
		},
		{
			"agrees after declining",
			[]step{calls("1"), says(declines), says(agrees)},
			[3]string{"done 1", "declined", "request"},
			[3]string{"done 1", "declined", "nobody"},
			"request", "done 1",
		},
	}
}

func (r consentRow) want(mode tenon.ConfirmMode, group int) string {
	switch mode {
	case tenon.ConfirmAuto:
		return r.auto[group]
	case tenon.ConfirmHuman:
		return r.human[group]
	case tenon.ConfirmArg:
		return r.arg
	case tenon.ConfirmOff:
	}
	return r.off
}

// TestConsentMatrix has every mode with every envelope, every kind of client and
// everything that it may do. Each step is held against the upstream's counter:
// only the step that ends a call with its answer moves it, by one.
func TestConsentMatrix(t *testing.T) {
	for _, mode := range []tenon.ConfirmMode{tenon.ConfirmAuto, tenon.ConfirmArg, tenon.ConfirmHuman, tenon.ConfirmOff} {
		for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			published := publishedOf(t, mode, env)
			for group, kinds := range consentClients() {
				for _, kind := range kinds {
					t.Run(strings.Join([]string{string(mode), string(env), kind.name}, ", "), func(t *testing.T) {
						for _, row := range consentRows() {
							t.Run(row.does, func(t *testing.T) {
								synctest.Test(t, func(t *testing.T) {
									store, closeDown := openBookstore()
									defer closeDown()
									c := removing(t, openapi.Options{Client: store.client, BaseURL: "http://books.example", Confirm: mode, Envelope: env})
									p := kind.meet(t, server.New(gateway.New(c, gateway.Options{}), server.Options{}))
									defer p.leave()
									p.env, p.published = env, published
									if got, want := row.run(p, store), row.want(mode, group); got != want {
										t.Errorf("got %q, want %q", got, want)
									}
								})
							})
						}
					})
				}
			}
		}
	}
}

// run does the steps and says where they end.
func (r consentRow) run(p *party, store *bookstore) string {
	ended := ""
	for i, step := range r.steps {
		before := store.count()
		ended = p.ended(step(p))
		if sent := store.count() - before; sent > 1 || sent == 1 && ended != "done" {
			p.t.Errorf("step %d ended with %q, and %d requests were sent", i+1, ended, sent)
		}
	}
	time.Sleep(time.Hour) // whoever is still asked never answers
	synctest.Wait()
	for _, removed := range store.all() {
		ended += " " + strings.TrimPrefix(removed, "DELETE /books/")
	}
	return ended
}

func publishedOf(t *testing.T, mode tenon.ConfirmMode, env tenon.Envelope) *schema.Schema {
	t.Helper()
	_, output := removing(t, openapi.Options{Confirm: mode, Envelope: env}).Find("remove_book").Schemas()
	s, err := schema.Compile(output, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
