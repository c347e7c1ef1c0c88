package tenon

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/shape"
)

// ownContent delivers an answer whose content the source has made itself. The
// value beside it, in Body, is judged as every other. Content is no part of
// what was promised: it stays, as the answer's text, also where the value
// breaks its contract.
func (g *Gateway) ownContent(e *Entry, checks *checks, r *Reply) *Result {
	if r.Failed {
		return ownFailure(e, r)
	}
	res := g.answered(e, checks, r)
	switch {
	case res.IsError:
		res.Content = append(res.Content, r.Blocks...)
	case r.Blocks != nil:
		res.Content = r.Blocks
		if len(r.Body) == 0 {
			res.Value = nil
		}
	}
	res.Meta = joinObjects(r.Meta, res.Meta)
	return res
}

// ownFailure delivers an answer that says itself that it is an error. Its
// value, if there is one, was promised for successes only.
func ownFailure(e *Entry, r *Reply) *Result {
	res := &Result{IsError: true, Code: CodeServer, Meta: joinObjects(r.Meta, appendMeta(&e.tool, r, judgement{verdict: Unchecked}))}
	if said := executedSentence(r.Sent); said != "" {
		res.Content = append(res.Content, Block{Text: []byte(strings.TrimSpace(said))})
	}
	res.Content = append(res.Content, r.Blocks...)
	for _, b := range res.Content {
		if b.Kind == TextBlock {
			res.About = strings.TrimSpace(res.About + " " + shape.Excerpt(b.Text, 500))
		}
	}
	return res
}

// joinObjects returns one JSON object with the members of two; either may be
// nil.
func joinObjects(a, b []byte) []byte {
	switch {
	case len(a) <= len("{}"):
		return b
	case len(b) <= len("{}"):
		return a
	}
	joined := append(make([]byte, 0, len(a)+len(b)), a[:len(a)-1]...)
	return append(append(joined, ','), b[1:]...)
}
