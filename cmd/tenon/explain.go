package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

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
	if path := doc.Str(doc.Get(n, "path")); path != "" {
		return path
	}
	return "the whole"
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
