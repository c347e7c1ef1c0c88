package tenon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/reserve"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/schema"
)

// partLife is how long the parts of an answer can be asked for.
const partLife = 10 * time.Minute

// defaultMaxResult is the limit of a value in the shape openapi-mcp, which has
// a place for parts.
const defaultMaxResult = 100 << 10

// rest is what is kept of an answer that was cut, beside its value: all that a
// part is formed by, so that a catalog that was swapped in between changes
// nothing.
type rest struct {
	Subject    Subject
	Call       string // names the first call with its arguments
	Dress      dress
	Status     int
	Media      string
	Header     http.Header
	Sent       Sent
	Verdict    Verdict
	Violations []schema.Violation
	Unchecked  []schema.Violation
	Repairs    []schema.Fix
	Cut        *schema.Cut
	Until      time.Time
}

// fit gives a success its shape: whole where it is within the tool's limit,
// else its first part, while the value is kept for the others.
func (g *Gateway) fit(ctx context.Context, e *Entry, c asked, r *Reply, j judgement) *Result {
	limit := e.tool.MaxResult
	if limit <= 0 || len(r.Body) <= limit {
		return shapeSuccess(e, r, j)
	}
	if j.form != shape.JSON {
		res := shapeSuccess(e, r, j)
		if len(res.Value) > limit { // a text; of a picture only a description stands there
			res = tooLarge(res, limit)
		}
		return res
	}
	a := r.answer(j.form)
	value := e.checks.data(&a)
	if len(value) <= limit {
		return e.dress().shape(r, j, value)
	}
	var against *schema.Schema // a value that breaks its schema was promised nothing
	if !j.broken() {
		against = j.against
	}
	cut := against.Cut(value, limit)
	if cut == nil {
		return tooLarge(e.dress().shape(r, j, value), limit)
	}
	k := &rest{
		Subject: c.Subject, Call: c.key(), Dress: e.dress(),
		Status: r.Status, Media: cmp.Or(r.Came, r.Media), Header: shape.Visible(r.Header), Sent: r.Sent,
		Verdict: j.verdict, Violations: j.violations, Unchecked: j.open, Repairs: j.repairs, Cut: cut, Until: time.Now().Add(partLife),
	}
	id := rand.Text()
	if err := g.keep(ctx, id, k, value); err != nil {
		g.log.Warn("a large answer cannot be kept and is delivered whole", "tool", e.tool.Name, "bytes", len(value), "error", err)
		return tooLarge(e.dress().shape(r, j, value), limit)
	}
	return k.part(id, 0, value)
}

// JoinParts puts the parts of an answer together again, given what its _meta
// says under cuts, or the one place under cut: objects have the members of all
// parts, the lists at those places all items.
func JoinParts(cuts []string, parts ...[]byte) ([]byte, error) { return schema.Join(cuts, parts...) }

func tooLarge(res *Result, limit int) *Result {
	res.Meta = shape.Join(res.Meta, shape.Over(len(res.Value), limit))
	return res
}

func (g *Gateway) keep(ctx context.Context, id string, k *rest, value []byte) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := g.state.Put(ctx, "value "+id, value, partLife); err != nil {
		return err
	}
	return g.state.Put(ctx, "rest "+id, b, partLife)
}

// part forms part i, counted from 0.
func (k *rest) part(id string, i int, value []byte) *Result {
	p := shape.Part{Number: i + 1, Of: len(k.Cut.Parts), Cuts: k.Cut.Pointers, Returned: k.Cut.Parts[i].Items, Until: k.Until}
	for _, s := range k.Cut.Parts {
		p.Total += s.Items
	}
	if p.Number < p.Of {
		p.Token = id + "." + strconv.Itoa(p.Number+1)
	}
	r := &Reply{Status: k.Status, Media: k.Media, Header: k.Header, Sent: k.Sent}
	j := judgement{verdict: k.Verdict, violations: k.Violations, open: k.Unchecked, repairs: k.Repairs, form: shape.JSON}
	slice := k.Cut.AppendPart(make([]byte, 0, k.Cut.Size(value, i)), value, i)
	return k.Dress.part(r, j, slice, p)
}

// part forms value, which is part p of what stands for the body of r.
func (d dress) part(r *Reply, j judgement, value []byte, p shape.Part) *Result {
	p.By = cmp.Or(d.Next, d.Tool) // it takes its own tokens, too
	res := d.shape(r, j, value)
	if d.Shape == OpenAPIMCP {
		res.Structured = p.OpenAPIMCP(res.Structured)
		res.Content = []Block{{Text: res.Structured}}
	} else {
		res.Content = append(res.Content, Block{Text: []byte(p.Words())})
	}
	res.Meta = shape.Join(res.Meta, p.Meta())
	return res
}

// resume answers a call that asks for a part. Nothing else of the path is
// passed: no confirmation, no handler, no upstream.
func (g *Gateway) resume(ctx context.Context, e *Entry, c asked) *Result {
	id, number, _ := strings.Cut(c.own.Token, ".")
	kept, _ := g.streams.Load(id)
	if l, ok := kept.(*live); ok {
		return g.resumeStream(ctx, e, c, l, number)
	}
	text, ok, err := g.state.Get(ctx, "rest "+id)
	var k rest
	if err != nil || !ok || json.Unmarshal(text, &k) != nil || k.Subject != c.Subject || !e.tool.resumes && k.Dress.Tool != c.Tool {
		return unknownToken(e)
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(k.Cut.Parts) {
		return unknownToken(e)
	}
	if !e.tool.resumes && c.othersThan(k.Call) {
		return otherArguments(e)
	}
	value, ok, err := g.state.Get(ctx, "value "+id)
	if err != nil || !ok {
		return unknownToken(e)
	}
	return k.part(id, i-1, value)
}

// asked is a call with what stood in the gateway's own arguments.
type asked struct {
	*Call
	own reserve.Own
}

// key names all that an answer depends on.
func (c asked) key() string {
	return reserve.Key(string(c.Subject), c.Tool, c.Args) + reserve.Key("", "", c.own.Fields)
}

// othersThan reports whether there are arguments beside the token that the
// first call did not have.
func (c asked) othersThan(first string) bool {
	return (string(c.Args) != "{}" || c.own.Fields != nil) && c.key() != first
}

func otherArguments(e *Entry) *Result {
	return shapeFailure(&e.tool, refusal(CodeValidation, "The arguments beside resume_token differ from those of the first call. This request executed nothing.",
		"Send resume_token alone"))
}

func unknownToken(e *Entry) *Result {
	return shapeFailure(&e.tool, refusal(CodeValidation, "This resume_token is not known here: it is older than ten minutes, or of somebody else. "+
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
		c.add("", &Tool{
			Title: "Next part of an answer", Shape: e.tool.Shape, resumes: true,
			Description: "Returns the next part of an answer that was too large for one result.",
			Hints:       Hints{ReadOnly: &readOnly, Idempotent: &readOnly},
			Promise:     Contract{Input: []byte(`{"type":"object","properties":{"resume_token":{"type":"string","description":"as the last part gave it"}},"required":["resume_token"],"additionalProperties":false}`)},
			Handler: func(context.Context, *Call) (Reply, error) {
				return Reply{}, errorf(CodeValidation, "resume_token is missing")
			},
		}, c.free("next_part"), nil, new(shape.Published))
		c.next = c.tools[len(c.tools)-1].tool.Name
		for _, other := range c.tools {
			other.next = c.next
		}
		return
	}
}
