package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
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

// partLife is how long the parts of an answer can be asked for.
const partLife = 10 * time.Minute

// defaultMaxResult is the limit in the envelope openapi-mcp, which has a place for
// parts: 100 KiB of a value, and as much of its text copy.
const defaultMaxResult = 200 << 10

// remainder is what is kept of an answer that was cut, beside its value: all that a
// part is formed by, so that a catalog that was swapped in between changes
// nothing.
type remainder struct {
	Subject    tenon.Subject
	Call       string // names the first call with its arguments
	Dress      resultFormat
	Form       envelope.Kind
	Limit      int // bytes that are sent of a part
	Status     int
	Media      string
	Header     http.Header
	Sent       tenon.Execution
	Verdict    tenon.Verdict
	Violations []schema.Violation
	Unchecked  []schema.Violation
	Repairs    []schema.Fix
	Cut        *schema.Split
	Own        bool // what is cut is a list of the source's own texts
	Until      time.Time
}

// split gives a success its envelope: whole where all of it is within the limit,
// else its first part, while the value is kept for the others.
func (g *Gateway) split(ctx context.Context, e *Tool, c callWithArgs, r *tenon.Response, j outputCheck, limit int) *tenon.Result { //nolint:revive // each says something else of the one answer
	if limit <= 0 || j.form == envelope.Binary { // a picture is one piece, and no text
		return shapeSuccess(e, r, j)
	}
	a := answerOf(r, j.form)
	value := e.checks.data(&a)
	if len(value) <= limit {
		if res := e.format().shape(r, j, value); sent(res, j) <= limit {
			return res
		}
	}
	var against *schema.Schema // a value that breaks its schema was promised nothing
	if !j.broken() {
		against = j.against
	}
	d := e.format()
	cut := envelope.Divide(against, value, limit, func(part []byte) int { return sent(d.shape(r, j, part), j) })
	if cut == nil {
		return tooLarge(e, r, j, bytesOver{e.answer(), len(value), limit}, "It cannot be cut into parts that fit its schema.")
	}
	k := restOf(e, c, r, j)
	k.Cut, k.Limit = cut, limit
	return g.firstPart(ctx, e, k, value)
}

// restOf is what every part of an answer is formed by.
func restOf(e *Tool, c callWithArgs, r *tenon.Response, j outputCheck) *remainder {
	return &remainder{
		Subject: c.Subject, Call: c.key(), Dress: e.format(), Form: j.form,
		Status: r.Status, Media: cmp.Or(r.UpstreamMediaType, r.MediaType), Header: envelope.Visible(r.Header), Sent: r.Execution,
		Verdict: j.verdict, Violations: j.violations, Unchecked: j.open, Repairs: j.repairs, Until: time.Now().Add(partLife),
	}
}

// firstPart keeps what was cut, and forms its first part.
func (g *Gateway) firstPart(ctx context.Context, e *Tool, k *remainder, value []byte) *tenon.Result {
	id := rand.Text()
	if err := g.keep(ctx, id, k, value); err != nil {
		g.log.Warn("the parts of a large answer cannot be kept", "tool", e.tool.Name, "bytes", len(value), "error", err)
		return tooLarge(e, k.reply(), k.judged(), bytesOver{e.answer(), len(value), k.Limit}, "There is no room now to keep its parts.")
	}
	return k.part(id, 0, value)
}

func (k *remainder) reply() *tenon.Response {
	return &tenon.Response{Status: k.Status, MediaType: k.Media, Header: k.Header, Execution: k.Sent}
}

func (k *remainder) judged() outputCheck {
	return outputCheck{verdict: k.Verdict, violations: k.Violations, open: k.Unchecked, repairs: k.Repairs, form: k.Form}
}

// AnswerPart is a part of an answer's value, with what its _meta says.
type AnswerPart = schema.Part

// JoinParts puts the parts of an answer together again, given what the _meta of
// each says under cuts (or cut, where that is the one place) and continued.
func JoinParts(parts ...AnswerPart) ([]byte, error) { return schema.Join(parts...) }

// sent is how many bytes of a value a result sends: as a value and as text.
// What stands around it is small.
func sent(res *tenon.Result, j outputCheck) int {
	n := len(res.Value) - len(j.said())
	for _, b := range res.Content {
		n += len(b.Text)
	}
	return n - max(0, len(res.Structured)-len(res.Value))
}

// bytesOver says how large an answer is that is over its limit.
type bytesOver struct {
	what        string
	size, limit int
}

// tooLarge is the failure of an answer, or a part of one, that cannot be handed
// out within the limit.
func tooLarge(e *Tool, r *tenon.Response, j outputCheck, b bytesOver, why string) *tenon.Result {
	f := toolError{
		code:    tenon.CodeRequest,
		message: fmt.Sprintf("%s has %d bytes, and %d are allowed for it and its text copy. %s", b.what, b.size, b.limit, why),
		details: fmt.Appendf(nil, `{"bytes":%d,"limit":%d}`, b.size, b.limit),
		reply:   tenon.Response{Status: r.Status, MediaType: r.MediaType, Header: r.Header, Execution: r.Execution}, judged: j,
		suggestions: []string{"Ask for less, where the arguments allow that: fewer items, one page, a filter", "The operator can select parts (--select, --jq) or raise --max-result-bytes"},
	}
	if e.tool.Fields {
		f.suggestions[0] += ", some fields"
	}
	return errorResult(e, f)
}

func (e *Tool) answer() string { return "The answer of " + e.tool.Name }

func (g *Gateway) keep(ctx context.Context, id string, k *remainder, value []byte) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := g.store.Put(ctx, "rest "+id, b, partLife); err != nil { // it goes first: a value without it is lost room
		return err
	}
	return g.store.Put(ctx, "value "+id, value, partLife)
}

// part forms part i, counted from 0.
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
	r, j := k.reply(), k.judged()
	slice := k.Cut.AppendPart(make([]byte, 0, k.Cut.Size(value, i)), value, i)
	if k.Own {
		return k.ownPart(slice, p)
	}
	if size := sent(k.Dress.shape(r, j, slice), j); size > k.Limit {
		return k.Dress.partTooLarge(r, j, bytesOver{size: len(slice), limit: k.Limit}, p)
	}
	return k.Dress.part(r, j, slice, p)
}

// partTooLarge stands for a part that is above the limit by itself: the others
// can be had anyway.
func (d resultFormat) partTooLarge(r *tenon.Response, j outputCheck, b bytesOver, p envelope.Part) *tenon.Result {
	b.what = fmt.Sprintf("Part %d of %d, which cannot be cut,", p.Number, p.Of)
	p.By = cmp.Or(d.Next, d.Tool)
	res := tooLarge(&Tool{tool: tenon.Tool{Name: d.Tool, Envelope: d.Shape}}, r, j, b, p.Next())
	res.Meta = envelope.Join(res.Meta, p.Meta())
	return res
}

// part forms value, which is part p of what stands for the body of r.
func (d resultFormat) part(r *tenon.Response, j outputCheck, value []byte, p envelope.Part) *tenon.Result {
	p.By = cmp.Or(d.Next, d.Tool) // it takes its own tokens, too
	res := d.shape(r, j, value)
	if d.Shape == tenon.OpenAPIMCP {
		res.Structured = p.OpenAPIMCP(res.Structured)
		res.Content = slices.Replace(res.Content, 0, 1, tenon.Content{Text: res.Structured})
	} else {
		res.Content = append(res.Content, tenon.Content{Text: []byte(p.Words())})
	}
	res.Meta = envelope.Join(res.Meta, p.Meta())
	return res
}

// resume answers a call that asks for a part. Nothing else of the path is
// passed: no confirmation, no handler, no upstream.
func (g *Gateway) resume(ctx context.Context, e *Tool, c callWithArgs) *tenon.Result {
	id, number, _ := strings.Cut(c.own.Token, ".")
	kept, _ := g.streams.Load(id)
	if l, ok := kept.(*liveStream); ok {
		return g.resumeStream(ctx, e, c, l, number)
	}
	text, ok, err := g.store.Get(ctx, "rest "+id)
	var k remainder
	if err != nil || !ok || json.Unmarshal(text, &k) != nil || k.Subject != c.Subject || !e.resumes && k.Dress.Tool != c.Tool {
		return unknownToken(e)
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(k.Cut.Parts) {
		return unknownToken(e)
	}
	if !e.resumes && c.othersThan(k.Call) {
		return otherArguments(e)
	}
	value, ok, err := g.store.Get(ctx, "value "+id)
	if err != nil || !ok {
		return unknownToken(e)
	}
	return k.part(id, i-1, value)
}

// callWithArgs is a call with what stood in the gateway's own arguments.
type callWithArgs struct {
	*tenon.Call
	own reservedargs.Values
}

// key names all that an answer depends on.
func (c callWithArgs) key() string {
	return reservedargs.Key(string(c.Subject), c.Tool, c.Args) + reservedargs.Key("", "", c.own.Fields)
}

// othersThan reports whether there are arguments beside the token that the
// first call did not have.
func (c callWithArgs) othersThan(first string) bool {
	return (string(c.Args) != "{}" || c.own.Fields != nil) && c.key() != first
}

func otherArguments(e *Tool) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeValidation, "The arguments beside resume_token differ from those of the first call. This request executed nothing.",
		"Send resume_token alone"))
}

func unknownToken(e *Tool) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeValidation, "This resume_token is not known here: it is older than ten minutes, or of somebody else. "+
		"This request executed nothing; the call that made the token was executed when it was made.",
		"If the call only reads, make it again without resume_token"))
}

// addNextPart adds a tool that hands out parts, for clients that insist on the
// required arguments of the tool that was called first. A tool of that name
// keeps it.
func (c *Catalog) addNextPart() {
	for _, e := range c.tools {
		if e.tool.MaxResult <= 0 {
			continue
		}
		readOnly := true
		c.add(&Tool{tool: tenon.Tool{
			Title: "Next part of an answer", Envelope: e.tool.Envelope,
			Description: "Returns the next part of an answer that was too large for one result.",
			Annotations: tenon.Annotations{ReadOnly: &readOnly, Idempotent: &readOnly},
			Contract:    tenon.Contract{Input: []byte(`{"type":"object","properties":{"resume_token":{"type":"string","description":"as the last part gave it"}},"required":["resume_token"],"additionalProperties":false}`)},
			Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
				return tenon.Response{}, tenon.Errorf(tenon.CodeValidation, "resume_token is missing")
			},
		}, resumes: true, published: new(envelope.Published)}, c.free("next_part"), nil)
		c.next = c.tools[len(c.tools)-1].tool.Name
		for _, other := range c.tools {
			other.next = c.next
		}
		return
	}
}
