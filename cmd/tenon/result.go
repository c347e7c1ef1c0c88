package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/server"
)

// printer writes a result for a person or a pipe.
type printer struct {
	out, err io.Writer
	asJSON   bool
	compact  bool // JSON on one line
	file     string
	envelope tenon.Envelope
	quiet    bool // what breaks the contract is said elsewhere
	logged   bool // the log is printed
}

func (p printer) result(res *tenon.Result) error {
	if p.asJSON {
		if _, err := p.out.Write(append(server.AppendResult(nil, res), '\n')); err != nil {
			return err
		}
		return failedIf(res.IsError)
	}
	if res.IsError {
		return p.failed(res)
	}
	if !p.quiet {
		p.warn(res)
	}
	return p.data(res)
}

// failed says what went wrong, and prints what came of a stream before.
func (p printer) failed(res *tenon.Result) error {
	if len(res.Value) > 0 {
		if err := p.value(res.Value); err != nil {
			return err
		}
	}
	if p.envelope == tenon.FlowMCP {
		fmt.Fprintf(p.err, "tenon: %s\n", envelopeErrors(res))
		return errToolFailed
	}
	fmt.Fprintf(p.err, "tenon: %s\n", errorText(res))
	if !p.logged && (strings.Contains(res.Message, " in the log") || strings.Contains(res.Message, "see the server log")) {
		fmt.Fprintln(p.err, "  - --verbose prints the log")
	}
	return errToolFailed
}

// data prints the answer itself: the member data or result of the structured
// content, or the text where there is none.
func (p printer) data(res *tenon.Result) error {
	for _, b := range res.Content {
		if b.Type != tenon.TextContent {
			return p.binary(b)
		}
	}
	if res.Structured == nil {
		for _, b := range res.Content {
			fmt.Fprintf(p.out, "%s\n", b.Text)
		}
		return nil
	}
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return err
	}
	n := doc.Get(doc.Root(), "data")
	if p.envelope != tenon.FlowMCP && (n == rawjson.None || doc.Get(doc.Root(), "OutputFormat") == rawjson.None) {
		n = doc.Root()
	}
	if doc.Kind(n) == rawjson.String {
		_, err := fmt.Fprintln(p.out, strings.TrimSuffix(doc.Str(n), "\n"))
		return err
	}
	return p.value(doc.Raw(n))
}

// value writes JSON.
func (p printer) value(raw []byte) error {
	text, err := rawjson.AppendCompact(nil, raw)
	if !p.compact {
		text, err = rawjson.AppendIndent(nil, raw, "  ")
	}
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(text, '\n'))
	return err
}

func (p printer) binary(b tenon.Content) error {
	if p.file == "" {
		_, err := fmt.Fprintf(p.out, "%s, %d bytes; --output FILE writes it to a file\n", b.MediaType, len(b.Data))
		return err
	}
	if err := atomicfile.Overwrite(p.file, b.Data); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.err, "tenon: wrote %d bytes of %s to %s\n", len(b.Data), b.MediaType, p.file)
	return err
}

// warn reports a violation that was delivered anyway.
func (p printer) warn(res *tenon.Result) {
	doc, err := rawjson.Parse(res.Meta)
	if err != nil {
		return
	}
	explainPart(p.err, "tenon: this is", doc)
	explainPages(p.err, "tenon: these are", doc)
	contract := doc.Get(doc.Root(), "tenon/contract")
	if doc.IsStr(doc.Get(contract, "verdict"), string(tenon.Repaired)) {
		explainFixes(p.err, "tenon: repaired", doc, doc.Get(contract, "repairs"))
		return
	}
	list := doc.Get(contract, "violations")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		fmt.Fprintf(p.err, "tenon: warning: the answer violates its schema: %s: expected %s, got %s\n",
			cmp.Or(doc.Str(doc.Get(n, "path")), "the answer"), doc.Str(doc.Get(n, "expected")), doc.Str(doc.Get(n, "got")))
	}
}

// errorText is the message of a failed call, with what to do about it.
func errorText(res *tenon.Result) string {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return blockText(res)
	}
	n := doc.Get(doc.Root(), "error")
	if n == rawjson.None {
		return blockText(res)
	}
	var b strings.Builder
	b.WriteString(doc.Str(doc.Get(n, "code")) + ": " + doc.Str(doc.Get(n, "message")))
	list := doc.Get(n, "suggestions")
	for s := doc.First(list); s != rawjson.None; s = doc.Next(s) {
		b.WriteString("\n  - " + doc.Str(s))
	}
	return b.String()
}

func blockText(res *tenon.Result) string {
	var b strings.Builder
	for _, block := range res.Content {
		if res.IsError && len(res.Value) > 0 && bytes.Equal(block.Text, res.Value) {
			continue // it is printed as data
		}
		if b.Len() > 0 && len(block.Text) > 0 {
			b.WriteByte('\n')
		}
		b.Write(block.Text)
	}
	return b.String()
}

// envelopeErrors are the messages of a failed call in the envelope flowmcp.
func envelopeErrors(res *tenon.Result) string {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return blockText(res)
	}
	var all []string
	list := doc.Get(doc.Root(), "messages")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		all = append(all, doc.Str(n))
	}
	return strings.Join(all, "\n")
}

// explain tells a person how an answer stands to its contract: what _meta says
// of it, in words.
func explain(w io.Writer, tool tenon.Tool, res *tenon.Result) {
	doc, err := rawjson.Parse(res.Meta)
	if err != nil {
		doc, _ = rawjson.Parse([]byte("{}")) // policy off: nothing is said
	}
	contract := doc.Get(doc.Root(), "tenon/contract")
	said := func(name string) string { return doc.Str(doc.Get(contract, name)) }
	fmt.Fprintf(w, "policy    %s: %s\n", tool.Policy, policyWords(tool.Policy))
	if contract == rawjson.None {
		return
	}
	if status := doc.Get(contract, "status"); status != rawjson.None {
		fmt.Fprintf(w, "answer    %s %s\n", doc.Raw(status), said("mediaType"))
	}
	words, unchecked := verdictWords(tenon.Verdict(said("verdict"))), doc.Get(contract, "unchecked")
	if unchecked != rawjson.None {
		words = "what can be checked of it fits"
	}
	fmt.Fprintf(w, "verdict   %s: %s\n", said("verdict"), words)
	fmt.Fprintf(w, "executed  %s: %s\n", said("executed"), executedWords(said("executed")))
	fmt.Fprintf(w, "retry     %s\n", said("retry"))
	list := doc.Get(contract, "violations")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		fmt.Fprintf(w, "violation %s: expected %s, got %s\n", place(doc, n), doc.Str(doc.Get(n, "expected")), doc.Str(doc.Get(n, "got")))
	}
	for n := doc.First(unchecked); n != rawjson.None; n = doc.Next(n) {
		fmt.Fprintf(w, "unchecked %s: %s\n", place(doc, n), doc.Str(doc.Get(n, "expected")))
	}
	explainFixes(w, "repaired", doc, doc.Get(contract, "repairs"))
	explainFixes(w, "coerced", doc, doc.Pointer("/tenon~1arguments/coerced"))
	explainPart(w, "parts    ", doc)
	explainPages(w, "pages    ", doc)
}

// explainPart says which part of an answer this is.
func explainPart(w io.Writer, what string, doc *rawjson.Doc) {
	part := doc.Get(doc.Root(), "tenon/partial")
	raw := func(name string) []byte { return doc.Raw(doc.Get(part, name)) }
	switch {
	case part == rawjson.None:
	case doc.Get(part, "joined") != rawjson.None:
		fmt.Fprintf(w, "%s %s, put together\n", what, raw("joined"))
	default:
		fmt.Fprintf(w, "%s part %s of %s: %s of %s items of %s\n", what, raw("part"), raw("parts"), raw("returned"), raw("total"),
			cmp.Or(doc.Str(doc.Get(part, "pointer")), "the list"))
	}
}

// explainPages says that a list which was put together of pages goes on.
func explainPages(w io.Writer, what string, doc *rawjson.Doc) {
	pages := doc.Get(doc.Root(), "tenon/pages")
	if string(doc.Raw(doc.Get(pages, "more"))) != "true" {
		return
	}
	fmt.Fprintf(w, "%s %s items of %s pages, and there are more: %s\n", what, doc.Raw(doc.Get(pages, "items")), doc.Raw(doc.Get(pages, "read")), doc.Str(doc.Get(pages, "why")))
}

func explainFixes(w io.Writer, what string, doc *rawjson.Doc, list rawjson.Node) {
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		fmt.Fprintf(w, "%-9s %s: %s became %s (%s)\n", what, place(doc, n), doc.Str(doc.Get(n, "old")), doc.Str(doc.Get(n, "new")), doc.Str(doc.Get(n, "kind")))
	}
}

func place(doc *rawjson.Doc, n rawjson.Node) string {
	return cmp.Or(doc.Str(doc.Get(n, "path")), "the whole")
}

func policyWords(p tenon.Policy) string {
	switch p {
	case tenon.Warn:
		return "what breaks the schema is delivered and reported"
	case tenon.Repair:
		return "what breaks the schema is repaired where that leaves no doubt, else it is an error"
	case tenon.Off:
		return "nothing is published, nothing is checked"
	case tenon.Enforce:
	}
	return "what breaks the schema is an error"
}

func verdictWords(v tenon.Verdict) string {
	switch v {
	case tenon.Fits:
		return "it is what the description declares"
	case tenon.Repaired:
		return "it is what the description declares, after the changes below"
	case tenon.Violated:
		return "it breaks the schema"
	case tenon.Undeclared:
		return "the description does not name such an answer"
	case tenon.Unchecked:
	}
	return "there was nothing to check"
}

func executedWords(executed string) string {
	switch executed {
	case "no":
		return "nothing was sent"
	case "yes":
		return "the service answered"
	}
	return "a request that can change something left, and no answer came back"
}
