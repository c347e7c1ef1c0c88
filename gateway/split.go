package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// partLife is how long the parts of a result are kept.
const partLife = 10 * time.Minute

// defaultMaxResult is the limit in the envelope openapi-mcp, whose page defines
// parts: 100 KiB of a value, and as much of its text copy.
const defaultMaxResult = 200 << 10

// remainder is stored beside the value of a result that was split: everything
// that its parts depend on, so that a new catalog does not change them.
type remainder struct {
	Subject    tenon.Subject
	Call       string // identifies the first call and its arguments
	Format     resultFormat
	Form       envelope.Kind
	Limit      int // bytes of a part
	Status     int
	Media      string
	Header     http.Header
	Sent       tenon.Execution
	Verdict    tenon.Verdict
	Violations []schema.Violation
	Unchecked  []schema.Violation
	Repairs    []schema.Fix
	Cut        *schema.Split
	Own        bool // the value is a list of texts that the source made
	Until      time.Time
}

// split makes the result of a success: all of it if it is within the limit, else
// the first part, while the value is stored for the others.
func (g *Gateway) split(ctx context.Context, e *Tool, c callWithArgs, r *tenon.Response, j outputCheck, limit int) *tenon.Result { //nolint:revive // each says something else of the one answer
	if limit <= 0 || j.form == envelope.Binary { // binary data cannot be split
		return successResult(e, r, j)
	}
	a := answerOf(r, j.form)
	value := e.checks.data(&a)
	if len(value) <= limit {
		if res := e.format().result(r, j, value); sent(res, j) <= limit {
			return res
		}
	}
	var against *schema.Schema // parts of an invalid value need not be valid
	if !j.broken() {
		against = j.against
	}
	d := e.format()
	cut := envelope.Divide(against, value, limit, func(part []byte) int { return sent(d.result(r, j, part), j) })
	if cut == nil {
		return tooLarge(e, r, j, bytesOver{e.answer(), len(value), limit}, "It cannot be split into parts that are valid by its schema.")
	}
	k := remainderOf(e, c, r, j)
	k.Cut, k.Limit = cut, limit
	return g.firstPart(ctx, e, k, value)
}

// remainderOf returns what every part of a result depends on.
func remainderOf(e *Tool, c callWithArgs, r *tenon.Response, j outputCheck) *remainder {
	return &remainder{
		Subject: c.Subject, Call: c.key(), Format: e.format(), Form: j.form,
		Status: r.Status, Media: cmp.Or(r.UpstreamMediaType, r.MediaType), Header: envelope.Visible(r.Header), Sent: r.Execution,
		Verdict: j.verdict, Violations: j.violations, Unchecked: j.open, Repairs: j.repairs, Until: time.Now().Add(partLife),
	}
}

// firstPart stores the value and makes the first part.
func (g *Gateway) firstPart(ctx context.Context, e *Tool, k *remainder, value []byte) *tenon.Result {
	id := rand.Text()
	if err := g.keep(ctx, id, k, value); err != nil {
		g.log.Warn("the parts of a large answer cannot be kept", "tool", e.tool.Name, "bytes", len(value), "error", err)
		over := bytesOver{e.answer(), len(value), k.Limit}
		if !errors.Is(err, tenon.ErrStoreFull) {
			return partsNotKept(e, k, over, err)
		}
		return tooLarge(e, k.resp(), k.judged(), over, "The store is full and cannot keep its parts.")
	}
	return k.part(id, 0, value)
}

// partsNotKept is the failure of a result that has to be split while the store is away.
func partsNotKept(e *Tool, k *remainder, b bytesOver, err error) *tenon.Result {
	f := withoutStore(err, fmt.Sprintf("%s has %d bytes, and %d are allowed for it and its text copy. Its parts cannot be kept now, because the store does not answer.", b.what, b.size, b.limit))
	if f.resp, f.judged = *k.resp(), k.judged(); k.Sent.Retry() != "safe" {
		f.suggestions, f.retryAfter = []string{"Do not call again: look up what the call did"}, 0
	}
	return errorResult(e, f)
}

func (k *remainder) resp() *tenon.Response {
	return &tenon.Response{Status: k.Status, MediaType: k.Media, Header: k.Header, Execution: k.Sent}
}

func (k *remainder) judged() outputCheck {
	return outputCheck{verdict: k.Verdict, violations: k.Violations, open: k.Unchecked, repairs: k.Repairs, form: k.Form}
}

// AnswerPart is a part of a value, with its _meta.
type AnswerPart = schema.Part

// JoinParts joins the parts of a value, given the members pointers (or pointer, for a
// single place) and continued of the _meta of each.
func JoinParts(parts ...AnswerPart) ([]byte, error) { return schema.Join(parts...) }

// sent returns how many bytes a result has for a value: the value and its text
// copy. The envelope is small and not counted.
func sent(res *tenon.Result, j outputCheck) int {
	n := len(res.Value) - len(j.said())
	for _, b := range res.Content {
		n += len(b.Text)
	}
	return n - max(0, len(res.Structured)-len(res.Value))
}

// bytesOver describes a result that exceeds its limit.
type bytesOver struct {
	what        string
	size, limit int
}

// tooLarge is the failure of a result, or a part of one, that exceeds the limit
// and cannot be split.
func tooLarge(e *Tool, r *tenon.Response, j outputCheck, b bytesOver, why string) *tenon.Result {
	f := toolError{
		code:    tenon.CodeRequest,
		message: fmt.Sprintf("%s has %d bytes, and %d are allowed for it and its text copy. %s", b.what, b.size, b.limit, why),
		details: fmt.Appendf(nil, `{"bytes":%d,"limit":%d}`, b.size, b.limit),
		resp:    tenon.Response{Status: r.Status, MediaType: r.MediaType, Header: r.Header, Execution: r.Execution}, judged: j,
		suggestions: []string{"Request less if the arguments allow it: fewer items, one page, a filter", "The operator can select parts (--select, --jq) or raise --max-result-bytes"},
	}
	if e.tool.Fields {
		f.suggestions[0] += ", some fields"
	}
	return errorResult(e, f)
}

func (e *Tool) answer() string { return "The response of " + e.tool.Name }

func (g *Gateway) keep(ctx context.Context, id string, k *remainder, value []byte) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := g.store.Put(ctx, "rest "+id, b, partLife); err != nil { // stored first, since a value without it would only take space
		return err
	}
	return g.store.Put(ctx, "value "+id, value, partLife)
}

// part makes part i, counted from 0.
func (k *remainder) part(id string, i int, value []byte) *tenon.Result {
	here := k.Cut.Part(i)
	p := envelope.Part{
		Number: i + 1, Of: len(k.Cut.Parts), Cuts: here.Cuts, Continued: here.Continued, Several: len(k.Cut.Pointers) > 1,
		Text: k.Cut.Text, Returned: k.Cut.Parts[i].Items, Until: k.Until,
	}
	for _, s := range k.Cut.Parts {
		p.Total += s.Items
	}
	if p.Number < p.Of {
		p.Token = id + "." + strconv.Itoa(p.Number+1)
	}
	r, j := k.resp(), k.judged()
	slice := k.Cut.AppendPart(make([]byte, 0, k.Cut.Size(value, i)), value, i)
	if k.Own {
		return k.ownPart(slice, p)
	}
	if size := sent(k.Format.result(r, j, slice), j); size > k.Limit {
		return k.Format.partTooLarge(r, j, bytesOver{size: len(slice), limit: k.Limit}, p)
	}
	return k.Format.part(r, j, slice, p)
}

// partTooLarge replaces a part that exceeds the limit by itself; the others can
// still be requested.
func (d resultFormat) partTooLarge(r *tenon.Response, j outputCheck, b bytesOver, p envelope.Part) *tenon.Result {
	b.what = fmt.Sprintf("Part %d of %d, which cannot be split,", p.Number, p.Of)
	p.By = cmp.Or(d.Next, d.Tool)
	res := tooLarge(&Tool{tool: tenon.Tool{Name: d.Tool, Envelope: d.Envelope}}, r, j, b, p.Next())
	res.Meta = envelope.Join(res.Meta, p.Meta())
	return res
}

// part makes the result of value, which is part p of the value of r.
func (d resultFormat) part(r *tenon.Response, j outputCheck, value []byte, p envelope.Part) *tenon.Result {
	p.By = cmp.Or(d.Next, d.Tool) // the tool that returns parts accepts its own tokens, too
	res := d.result(r, j, value)
	if d.Envelope == tenon.OpenAPIMCP {
		res.Structured = p.OpenAPIMCP(res.Structured)
		res.Content = slices.Replace(res.Content, 0, 1, tenon.Content{Text: res.Structured})
	} else {
		res.Content = append(res.Content, tenon.Content{Text: []byte(p.Words())})
	}
	res.Meta = envelope.Join(res.Meta, p.Meta())
	return res
}

// resume answers a call that requests a part, from the store: without
// confirmation, handler and upstream.
func (g *Gateway) resume(ctx context.Context, e *Tool, c callWithArgs) (*tenon.Result, error) {
	id, number, _ := strings.Cut(c.own.Token, ".")
	kept, _ := g.streams.Load(id)
	if l, ok := kept.(*liveStream); ok {
		if ok, err := g.mayReturn(ctx, e, l.call.Tool); !ok || err != nil {
			return unknownToken(e), err
		}
		return g.resumeStream(ctx, e, c, l, number), nil
	}
	text, ok, failed := g.readKept(ctx, e, "rest "+id)
	if failed != nil {
		return failed, nil
	}
	var k remainder
	if !ok || json.Unmarshal(text, &k) != nil || k.Subject != c.Subject || !e.resumes && k.Format.Tool != c.Tool {
		return unknownToken(e), nil //nolint:nilerr // for the caller it is unknown
	}
	if ok, err := g.mayReturn(ctx, e, k.Format.Tool); !ok || err != nil {
		return unknownToken(e), err
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(k.Cut.Parts) {
		return unknownToken(e), nil //nolint:nilerr // for the caller it is unknown
	}
	if !e.resumes && c.othersThan(k.Call) {
		return otherArguments(e), nil
	}
	value, ok, failed := g.readKept(ctx, e, "value "+id)
	if failed != nil {
		return failed, nil
	}
	if !ok {
		return unknownToken(e), nil
	}
	return k.part(id, i-1, value), nil
}

// callWithArgs is a call with its reserved arguments.
type callWithArgs struct {
	*tenon.Call
	own reservedargs.Values
}

// key identifies everything that a response depends on.
func (c callWithArgs) key() string {
	return reservedargs.Key(string(c.Subject), c.Tool, c.Args) + reservedargs.Key("", "", c.own.Fields)
}

// othersThan reports whether the arguments beside the token differ from those of
// the first call.
func (c callWithArgs) othersThan(first string) bool {
	return (string(c.Args) != "{}" || c.own.Fields != nil) && c.key() != first
}

func otherArguments(e *Tool) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeValidation, "The arguments besides resume_token differ from those of the first call. This request executed nothing.",
		"Send resume_token alone"))
}

// readKept returns what is kept of a result, or the failure while the store is away.
func (g *Gateway) readKept(ctx context.Context, e *Tool, key string) (value []byte, ok bool, failed *tenon.Result) {
	value, ok, err := g.store.Get(ctx, key)
	if err == nil {
		return value, ok, nil
	}
	g.log.Error("a part cannot be read", "tool", e.tool.Name, "error", err)
	return nil, false, errorResult(e, withoutStore(err, "The part cannot be read now. This request executed nothing, and resume_token stays valid for its ten minutes."))
}

func unknownToken(e *Tool) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeValidation, "Unknown resume_token: it expired (10 minutes) or belongs to another caller. "+
		"This request executed nothing; the first call was executed when it was made.",
		"If the call only reads, make it again without resume_token"))
}

// addNextPart adds the built-in tool that returns further parts, for clients
// that enforce the required arguments of the tool that was called first. An
// existing tool of that name keeps it.
func (c *Catalog) addNextPart() {
	for _, e := range c.tools {
		if e.tool.MaxResult <= 0 {
			continue
		}
		c.add(newNextPart(c, e.tool.Envelope, false), c.free("next_part"), nil)
		c.next = c.tools[len(c.tools)-1].tool.Name
		for _, other := range c.tools {
			other.next = c.next
		}
		return
	}
}

// newNextPart returns the tool for the results of the tools in c.
func newNextPart(c *Catalog, form tenon.Envelope, narrowed bool) *Tool {
	readOnly := true
	return &Tool{tool: tenon.Tool{
		Title: "Next part of a result", Envelope: form,
		Description: "Returns the next part of a result that was too large for one message.",
		Annotations: tenon.Annotations{ReadOnly: &readOnly, Idempotent: &readOnly},
		Contract:    tenon.Contract{Input: []byte(`{"type":"object","properties":{"resume_token":{"type":"string","description":"as the last part gave it"}},"required":["resume_token"],"additionalProperties":false}`)},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{}, tenon.Errorf(tenon.CodeValidation, "resume_token is missing")
		},
	}, resumes: true, within: c, narrowed: narrowed, published: new(envelope.Published)}
}
