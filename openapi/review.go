package openapi

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/review"
)

// Issue is one finding of a review.
type Issue = review.Issue

// Report is the result of a review.
type Report = review.Report

// Severity is the severity of an issue.
type Severity = review.Severity

// The severities.
const (
	SeverityError   = review.SeverityError   // the document violates the specification
	SeverityWarning = review.SeverityWarning // legal, but probably a mistake or a problem for clients
	SeverityInfo    = review.SeverityInfo    // could be improved
)

// Filtered is a reduced document.
type Filtered = review.Filtered

// Review reports where the document of s violates its specification, and with
// lint also how it could be improved. An error means that it could not be read.
func (s *Source) Review(ctx context.Context, lint bool) (*Report, error) {
	o, err := s.options.defaults()
	if err != nil {
		return nil, err
	}
	read := o.reading()
	read.Overlays = nil
	doc, _, err := document.Open(ctx, s.spec, read, nil)
	if err != nil {
		return nil, err
	}
	return reviewOf(doc, lint), nil
}

// Review reviews a document from its bytes; see [Source.Review] and [Parse].
func Review(name string, raw []byte, lint bool) (*Report, error) {
	doc, err := document.Parse(name, raw)
	if err != nil {
		return nil, err
	}
	return reviewOf(doc, lint), nil
}

func reviewOf(doc *document.Document, lint bool) *Report {
	return review.Document(doc, review.Options{
		Lint:     lint,
		ToolName: func(id, method, path string) string { return propose(id, method, path, maxName) },
		MaxTitle: maxTitle, MaxDescription: maxDescription,
	})
}

// Filter reduces the document of s, with its overlays, to the operations of
// Options.Selection and what they refer to. It drops components, security
// schemes and tags that are no longer used, links to dropped operations and, if
// Options.Selection.Include is set, webhooks. Everything else is kept as
// written, in its order.
func (s *Source) Filter(ctx context.Context) (*Filtered, error) {
	o, err := s.options.defaults()
	if err != nil {
		return nil, err
	}
	a := &api{options: o}
	if a.selection, err = o.Selection.parse(); err != nil {
		return nil, err
	}
	var changed []tenon.Diagnostic
	if a.doc, changed, err = document.Open(ctx, s.spec, o.reading(), nil); err != nil {
		return nil, err
	}
	out := review.Filter(a.doc, len(a.selection.include) == 0, func(one review.Operation) bool {
		op := &operation{api: a, method: one.Method, path: one.Path, item: one.Item, node: one.Node}
		op.overrides = a.overridesOf(op)
		op.resolveSafe()
		return a.selection.selects(op)
	})
	if a.selection.readOnly {
		out.Diagnostics = a.ignoredMarkDiagnostics()
	}
	out.Diagnostics = slices.Concat(out.Diagnostics, changed)
	for _, unused := range a.selection.unused() {
		d := a.doc.Diagnostic(a.doc.Root.Get("paths"), fmt.Sprintf("the selector %q matches no operation", unused.Text), unused.Suggestion)
		d.Kind = tenon.DiagnosticSelector
		out.Diagnostics = append(out.Diagnostics, d)
	}
	return out, nil
}
