package gateway

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/projection"
	"github.com/tenon-mcp/tenon/schema"
)

// passContent delivers an answer whose content the source has made itself. The
// value beside it, in Body, is judged as every other. Content is no part of
// what was promised: it stays, as the answer's text, also where the value
// breaks its contract.
//
// The value has what its text blocks leave of the limit.
func (g *Gateway) passContent(ctx context.Context, e *Tool, c callWithArgs, seen []*projection.View, r *tenon.Response) *tenon.Result {
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
		return g.ownTexts(ctx, e, c, seen, r)
	default:
		return tooLarge(e, r, outputCheck{verdict: tenon.Unchecked}, bytesOver{e.answer(), texts, limit}, "It is text that the source has made beside a value, which stays in one piece.")
	}
	j, res := g.validateOutput(ctx, e, seen, r)
	if res == nil {
		res = g.split(ctx, e, c, r, j, max(limit-texts, min(limit, 0)))
	}
	var words []tenon.Content // that say how the next part can be had
	if envelope.IsPart(res.Meta) && e.tool.Envelope != tenon.OpenAPIMCP {
		words = res.Content[len(res.Content)-1:]
	}
	switch {
	case res.IsError:
		res.Content = append(res.Content, r.Content...)
	case seen != nil && len(r.Body) > 0: // the text would show what the view leaves out
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

// ownTexts delivers content whose texts are above the limit, and which has no
// value beside it: in parts, each of which has whole texts, or a piece of one.
func (g *Gateway) ownTexts(ctx context.Context, e *Tool, c callWithArgs, seen []*projection.View, r *tenon.Response) *tenon.Result {
	j, failed := g.validateOutput(ctx, e, seen, r)
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
	k := restOf(e, c, r, j)
	if k.Cut = anything.Split(texts, limit); k.Cut == nil {
		return tooLarge(e, r, j, bytesOver{e.answer(), len(texts), limit}, "It is text that the source has made, and the limit has no room for a piece of it.")
	}
	k.Own, k.Limit = true, limit
	res := g.firstPart(ctx, e, k, texts)
	res.Content = append(contentBesideText(r), res.Content...)
	res.Meta = envelope.Join(r.Meta, res.Meta)
	return res
}

// ownPart forms a part of such content; texts is a list of some of them.
func (k *remainder) ownPart(texts []byte, p envelope.Part) *tenon.Result {
	p.By = cmp.Or(k.Dress.Next, k.Dress.Tool)
	a := answerOf(k.reply(), k.Form)
	res := k.Dress.part(k.reply(), k.judged(), a.Data(), p)
	res.Value, res.Content = nil, nil
	for _, text := range append(envelope.TextsOf(texts), p.OwnWords()) {
		res.Content = append(res.Content, tenon.Content{Text: []byte(text)})
	}
	return res
}

// besideItems adds to the first result of a stream what its source has made
// itself: the content stands before the items, as it does beside a value, but
// for texts where a view selects what is shown.
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

// contentBesideText are the blocks that are no text.
func contentBesideText(r *tenon.Response) []tenon.Content {
	return slices.DeleteFunc(slices.Clone(r.Content), func(b tenon.Content) bool { return b.Type == tenon.TextContent })
}

// ownFailure delivers an answer that says itself that it is an error. Its
// value, if there is one, was promised for successes only.
func ownFailure(e *Tool, r *tenon.Response) *tenon.Result {
	res := &tenon.Result{IsError: true, Code: tenon.CodeServer}
	ours := metaOf(e.tool.Envelope, r, &outputCheck{verdict: tenon.Unchecked}, executedOf(r))
	if envelope.HasContract(r.Meta) { // the source has a gateway of its own, which knows more
		res.Meta = envelope.Join(ours, r.Meta)
	} else {
		res.Meta = envelope.Join(r.Meta, ours)
	}
	// Such a source has said in its text, too, whether it was executed.
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
