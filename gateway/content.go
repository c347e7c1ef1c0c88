package gateway

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// passContent delivers a response whose content blocks the source made itself.
// The value beside them, in Body, is validated like any other. The contract does
// not cover content blocks: they are delivered also where the value violates its
// schema.
//
// The size limit of the value is reduced by the size of the text blocks.
func (g *Gateway) passContent(ctx context.Context, w *callInProgress) *tenon.Result {
	e, c, seen, r := w.entry, w.call, w.seen, &w.resp
	if r.Failed {
		return ownFailure(e, r)
	}
	limit, texts := e.tool.MaxResult, 0
	for _, b := range r.Content {
		texts += len(b.Text)
	}
	switch {
	case limit <= 0 || texts < limit:
	case len(r.Body) == 0:
		return g.ownTexts(ctx, w)
	default:
		return tooLarge(e, r, outputCheck{verdict: tenon.Unchecked}, bytesOver{e.answer(), texts, limit}, "It is text that the source made beside a value and that cannot be split.")
	}
	j, res := g.validateOutput(ctx, w.record, e, seen, r)
	if res == nil {
		res = g.split(ctx, e, c, r, j, max(limit-texts, min(limit, 0)))
	}
	var words []tenon.Content // how to get the next part
	if envelope.IsPart(res.Meta) && e.tool.Envelope != tenon.OpenAPIMCP {
		words = res.Content[len(res.Content)-1:]
	}
	switch {
	case res.IsError:
		res.Content = append(res.Content, r.Content...)
	case seen != nil && len(r.Body) > 0: // the text would show what the projection leaves out
		res.Content = append(res.Content, contentBesideText(r)...)
	case r.Content != nil:
		res.Content = r.Content
		if told := j.said(); told != nil {
			res.Content = append(slices.Clip(r.Content), tenon.Content{Text: told})
		}
		if len(r.Body) == 0 {
			res.Value = nil
		}
	}
	if words != nil && !res.IsError {
		res.Content = append(slices.Clip(res.Content), words...)
	}
	res.Meta = envelope.Join(r.Meta, res.Meta)
	return res
}

// ownTexts splits content without a value beside it whose texts exceed the
// limit: each part has several whole texts or a piece of one.
func (g *Gateway) ownTexts(ctx context.Context, w *callInProgress) *tenon.Result {
	e, c, r := w.entry, w.call, &w.resp
	j, failed := g.validateOutput(ctx, w.record, e, w.seen, r)
	if failed != nil {
		failed.Meta = envelope.Join(r.Meta, failed.Meta)
		return failed
	}
	var list []string
	for _, b := range r.Content {
		if b.Type == tenon.TextContent {
			list = append(list, string(b.Text))
		}
	}
	texts := envelope.ListOf(list)
	limit := e.tool.MaxResult
	var anything *schema.Schema
	k := remainderOf(e, c, r, j)
	if k.Cut = anything.Split(texts, limit); k.Cut == nil {
		return tooLarge(e, r, j, bytesOver{e.answer(), len(texts), limit}, "It is text that the source made, and the limit is too small for any piece of it.")
	}
	k.Own, k.Limit = true, limit
	res := g.firstPart(ctx, e, k, texts)
	res.Content = append(contentBesideText(r), res.Content...)
	res.Meta = envelope.Join(r.Meta, res.Meta)
	return res
}

// ownPart makes the result of such a part; texts are its texts.
func (k *remainder) ownPart(texts []byte, p envelope.Part) *tenon.Result {
	p.By = cmp.Or(k.Format.Next, k.Format.Tool)
	a := answerOf(k.resp(), k.Form)
	res := k.Format.part(k.resp(), k.judged(), a.Data(), p)
	res.Value, res.Content = nil, nil
	for _, text := range append(envelope.TextsOf(texts), p.OwnWords()) {
		res.Content = append(res.Content, tenon.Content{Text: []byte(text)})
	}
	return res
}

// besideItems adds the content blocks that the source made itself to the first
// result of a stream, before the items; texts are left out where a projection
// selects what is shown.
func besideItems(res *tenon.Result, selected bool, r *tenon.Response) *tenon.Result {
	if res == nil {
		return nil
	}
	blocks := r.Content
	if selected {
		blocks = contentBesideText(r)
	}
	res.Content = append(slices.Clip(blocks), res.Content...)
	res.Meta = envelope.Join(r.Meta, res.Meta)
	return res
}

// contentBesideText returns the blocks that are not text.
func contentBesideText(r *tenon.Response) []tenon.Content {
	return slices.DeleteFunc(slices.Clone(r.Content), func(b tenon.Content) bool { return b.Type == tenon.TextContent })
}

// ownFailure delivers a response that marks itself as an error. Its value, if
// any, is not structured content: output schemas describe successes only.
func ownFailure(e *Tool, r *tenon.Response) *tenon.Result {
	res := &tenon.Result{IsError: true, Code: tenon.CodeServer}
	setOutcome(res, e.tool.Envelope, r, &outputCheck{verdict: tenon.Unchecked}, executedOf(r))
	if envelope.HasContract(r.Meta) { // the source has its own gateway, whose _meta is more precise
		res.Meta = envelope.Join(res.Meta, r.Meta)
	} else {
		res.Meta = envelope.Join(r.Meta, res.Meta)
	}
	// The text of such a source also says whether the call was executed.
	if said := strings.TrimSpace(executedSentence(r.Execution)); said != "" && (len(r.Content) == 0 || !bytes.Contains(r.Content[0].Text, []byte(said))) {
		res.Content = append(res.Content, tenon.Content{Text: []byte(said)})
	}
	res.Content = append(res.Content, r.Content...)
	for _, b := range res.Content {
		if b.Type == tenon.TextContent {
			res.Message = strings.TrimSpace(res.Message + " " + envelope.Excerpt(b.Text, 500))
		}
	}
	return res
}
