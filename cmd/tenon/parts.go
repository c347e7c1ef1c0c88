package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// joiner writes the parts of a value as one value while they come. Each part is
// the whole value with a part of one list, object or text in it.
type joiner struct {
	out     io.Writer
	compact bool

	several bool // the value goes on in several places: it is written when all is there
	parts   []gateway.AnswerPart
	size    int

	kind  rawjson.Kind // of what goes on
	bare  bool         // the value is a text, which is written without quotes
	some  bool         // an item was written
	space []byte       // before the bracket that closes it
	tail  []byte       // of the value, from that bracket; nil: no part was written
	end   []byte       // what was written last of the items
}

// add writes the part of a value of which goes on what stands at the pointer,
// which is that of here in the value's own place.
func (j *joiner) add(value []byte, at string, here mcpclient.Part) error {
	if j.several {
		return j.hold(value, strings.TrimSuffix(at, here.Cut), here)
	}
	text, err := j.format(value)
	if err != nil {
		return err
	}
	doc, err := rawjson.Parse(text)
	if err != nil {
		return err
	}
	n := doc.Pointer(at)
	kind := doc.Kind(n)
	if kind != rawjson.Array && kind != rawjson.Object && kind != rawjson.String || j.tail != nil && kind != j.kind {
		return fmt.Errorf("a part cannot be joined to the one before: there is nothing at %q that goes on", at)
	}
	from := doc.Offset(n) + 1
	to := from + len(doc.Raw(n)) - len("[]")
	head, inner, space := text[:from], text[from:to], []byte(nil)
	switch {
	case kind == rawjson.String && j.bare:
		head, inner, to = nil, doc.Text(n), len(text)
	case kind != rawjson.String:
		inner = bytes.TrimRight(inner, " \n")
		space = text[from+len(inner) : to]
	}
	if j.tail == nil {
		j.kind = kind
		if _, err := j.out.Write(head); err != nil {
			return err
		}
	}
	j.tail = append([]byte{}, text[to:]...)
	if len(inner) == 0 {
		return nil
	}
	if j.some && kind != rawjson.String {
		inner = append([]byte{','}, inner...)
	}
	j.some, j.space, j.end = true, space, inner
	_, err = j.out.Write(inner)
	return err
}

func (j *joiner) format(value []byte) ([]byte, error) {
	if j.compact {
		return rawjson.AppendCompact(nil, value)
	}
	return rawjson.AppendIndent(nil, value, "  ")
}

// hold keeps a part of a value that goes on in several places, which stand below
// another.
func (j *joiner) hold(value []byte, below string, here mcpclient.Part) error {
	if j.size += len(value); j.size > maxJoined {
		return errTooMuch
	}
	part := gateway.AnswerPart{Value: bytes.Clone(value)}
	for _, c := range here.Cuts {
		part.Cuts = append(part.Cuts, below+c)
	}
	for _, c := range here.Continued {
		part.Continued = append(part.Continued, below+c)
	}
	j.parts = append(j.parts, part)
	return nil
}

var errTooMuch = fmt.Errorf("the parts are larger than %d MiB together", maxJoined>>20)

// close ends the value: what came is one, whatever is missing.
func (j *joiner) close() error {
	if len(j.parts) > 0 {
		whole, err := gateway.JoinParts(j.parts...)
		if err == nil {
			whole, err = j.format(whole)
		}
		if err == nil {
			_, err = j.out.Write(whole)
		}
		return err
	}
	if j.tail == nil {
		return nil
	}
	_, err := fmt.Fprintf(j.out, "%s%s", j.space, j.tail)
	return err
}

// valueIn is the pointer of an answer's value in structured content.
func valueIn(doc *rawjson.Doc, flowmcp bool) string {
	root := doc.Root()
	has := func(name string) bool { return doc.Get(root, name) != rawjson.None }
	switch {
	case has("data") && (flowmcp || has("OutputFormat")):
		return "/data"
	case doc.Len(root) == 1 && has("result"):
		return "/result"
	}
	return ""
}

// maxJoined bounds a result that is printed as one.
const maxJoined = 64 << 20

// follow prints all parts of an answer as the one answer that they are, each as
// soon as it is there. Where one is missing, the value is closed anyway,
// and the error says so. The result that comes back is the one whose verdict
// tells most of the answer.
func (p printer) follow(first *tenon.Result, ask func(args []byte) (*tenon.Result, error)) (*tenon.Result, error) {
	if first.IsError || mcpclient.PartOf(first.Meta).Token == "" {
		return first, p.result(first)
	}
	if first.Value == nil {
		return p.followTexts(first, ask)
	}
	value, at := p.valueOf(first, mcpclient.PartOf(first.Meta).Cut)
	j := &joiner{out: p.out, compact: p.compact, bare: at == "" && bytes.HasPrefix(value, []byte{'"'})}
	var whole bytes.Buffer
	if p.asJSON {
		j = &joiner{out: &whole, compact: true}
	}
	j.several = len(mcpclient.PartOf(first.Meta).Cuts) > 0
	telling, last, n := first, first, 0
	err := mcpclient.Follow(first, ask, func(res *tenon.Result, here mcpclient.Part) error {
		n++
		if last = res; graver(res.Meta, telling.Meta) {
			telling = res
		}
		if p.asJSON {
			if whole.Len() > maxJoined {
				return fmt.Errorf("the parts are larger than %d MiB together; without --json they are printed as they come", maxJoined>>20)
			}
			value, at := p.structured(res, here.Cut)
			return j.add(value, at, here)
		}
		if !p.quiet {
			q := *res
			q.Meta = withoutPart(res.Meta)
			p.warn(&q)
		}
		value, at := p.valueOf(res, here.Cut)
		return j.add(value, at, here)
	})
	if closing := j.close(); closing != nil {
		return telling, closing
	}
	if p.asJSON {
		return telling, errors.Join(p.result(p.joined(telling, last, whole.Bytes())), err)
	}
	if !j.bare || !bytes.HasSuffix(j.end, []byte("\n")) {
		fmt.Fprintln(p.out)
	}
	told := *telling
	if err == nil {
		told.Meta = withoutPart(telling.Meta, fmt.Sprintf(`"tenon/partial":{"joined":%d}`, n))
	}
	return &told, err
}

// followTexts prints the texts of an answer that has no value.
func (p printer) followTexts(first *tenon.Result, ask func(args []byte) (*tenon.Result, error)) (*tenon.Result, error) {
	whole, size := *first, 0
	whole.Content, whole.Meta = nil, withoutPart(first.Meta)
	err := mcpclient.Follow(first, ask, func(res *tenon.Result, here mcpclient.Part) error {
		blocks := res.Content[:max(len(res.Content)-1, 0)] // the last one says how to go on
		for i, b := range blocks {
			if size += len(b.Text); size > maxJoined {
				return errTooMuch
			}
			if last := len(whole.Content) - 1; i == 0 && last >= 0 && len(here.Continued) > 0 {
				whole.Content[last].Text = append(slices.Clip(whole.Content[last].Text), b.Text...)
				continue
			}
			whole.Content = append(whole.Content, b)
		}
		return nil
	})
	return &whole, errors.Join(p.result(&whole), err)
}

// valueOf is what is printed of a part of an answer, and where it goes on.
func (p printer) valueOf(res *tenon.Result, cut string) (value []byte, at string) {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return res.Value, cut
	}
	if within := valueIn(doc, p.envelope == tenon.FlowMCP); within != "/data" {
		return res.Structured, within + cut
	}
	return doc.Raw(doc.Pointer("/data")), cut
}

// structured is valueOf for the whole result.
func (p printer) structured(res *tenon.Result, cut string) (value []byte, at string) {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return res.Value, cut
	}
	return res.Structured, valueIn(doc, p.envelope == tenon.FlowMCP) + cut
}

// joined is the result of all parts. Of what the last one says of parts only a
// token is left: then something is missing.
func (p printer) joined(telling, last *tenon.Result, whole []byte) *tenon.Result {
	res := *telling
	res.Meta = withoutPart(telling.Meta)
	if mcpclient.PartOf(last.Meta).Token != "" {
		res.Meta = last.Meta
	}
	res.Content = nil
	text := whole
	if res.Structured != nil {
		res.Structured = whole
	}
	if p.envelope != tenon.OpenAPIMCP && p.envelope != tenon.FlowMCP {
		text = rawjson.AppendIndentTrusted(nil, whole, "  ")
	}
	res.Content = append(res.Content, tenon.Content{Text: text})
	for _, b := range telling.Content {
		if b.Type != tenon.TextContent {
			res.Content = append(res.Content, b)
		}
	}
	return &res
}

// withoutPart is the _meta of a result with other members in the place of what
// it says of parts.
func withoutPart(meta []byte, instead ...string) []byte {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return meta
	}
	out := []byte{'{'}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Key(n) == "tenon/partial" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, doc.Key(n)), ':'), doc.Raw(n)...)
	}
	for _, member := range instead {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, member...)
	}
	return append(out, '}')
}

// graver reports whether the verdict in one _meta is worse than that in another.
func graver(one, other []byte) bool {
	rank := func(meta []byte) int {
		doc, err := rawjson.Parse(meta)
		if err != nil {
			return 0
		}
		verdict := doc.Str(doc.Pointer("/tenon~1contract/verdict"))
		return slices.Index([]string{string(tenon.Fits), string(tenon.Unchecked), string(tenon.Repaired), string(tenon.Undeclared), string(tenon.Violated)}, verdict)
	}
	return rank(one) > rank(other)
}
