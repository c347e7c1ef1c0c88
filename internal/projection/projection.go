// Package projection returns parts of values: what a projection selects of
// them, what a filter makes of that, and the schema of the result.
//
// It does not know tools, calls or policies, nor which filters exist. On the
// path of a call it is between output validation and the split of large
// results.
package projection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/projection"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// maxFiltered bounds the result of a filter.
const maxFiltered = 32 << 20

// sampleTime bounds the filter on samples.
const sampleTime = 2 * time.Second

// Filter transforms a value into another one of at most limit bytes.
type Filter interface {
	Run(ctx context.Context, value []byte, limit int) ([]byte, error)
}

// Options select what is shown. The zero value shows everything.
type Options struct {
	Select       []string // paths, as [projection.ParseProjection] reads them
	Filter       Filter   // transforms the selection
	FilterSchema []byte   // schema of Filter's results; nil: it is inferred
}

// View shows a part of the values of a contract. It is safe for concurrent use.
type View struct {
	// Contract is the contract of the parts. Where its schema was inferred it is
	// advice.
	Contract envelope.Contract
	// Inferred reports that the schema was inferred from samples.
	Inferred bool

	parts  *projection.Projection
	filter Filter
	check  *schema.Schema // of the part of a JSON value
	size   atomic.Int64   // of the last part, as an estimate of the next
}

// New returns the view of the contract full. An error is about the options.
//
//nolint:contextcheck,nolintlint // a filter is tried on samples for the catalog, not for a caller
func New(full envelope.Contract, o Options) (*View, error) {
	v := &View{filter: o.Filter}
	whole, others := jsonData(full)
	data := whole
	var err error
	if len(o.Select) > 0 {
		if v.parts, err = projection.ParseProjection(o.Select...); err != nil {
			return nil, err
		}
		if data, err = v.parts.AppendSchema(nil, whole); err != nil {
			return nil, err
		}
	}
	if err := checkPaths(o.Filter, data); err != nil {
		return nil, err
	}
	switch {
	case o.Filter == nil:
	case o.FilterSchema != nil:
		data = o.FilterSchema
	default:
		v.Inferred = true
		data = v.infer(context.Background(), full, whole)
	}
	if v.check, err = schema.Compile(data, schema.Options{}); err != nil {
		return nil, fmt.Errorf("the schema of what is shown: %w", err)
	}
	v.Contract = full
	v.Contract.Advice = full.Advice || v.Inferred
	v.Contract.Successes = append(others, envelope.Response{Media: "application/json", Schema: data})
	return v, nil
}

// checkPaths returns an error for the first member that a filter reads by a name
// that must be misspelled: data has a similar one, or admits no others. A
// service may return more than it declares, so other names are allowed.
func checkPaths(f Filter, data []byte) error {
	reads, ok := f.(interface{ Paths() []string })
	if !ok {
		return nil
	}
	for _, path := range reads.Paths() {
		p, err := projection.ParseProjection(path)
		if err != nil {
			continue // it is too long to be a path
		}
		_, err = p.AppendSchema(nil, data)
		if unknown, ok := errors.AsType[*projection.PathError](err); ok && unknown.Sure {
			unknown.Path = jqPath(path)
			return fmt.Errorf("the filter reads %w; write %s? if it may be missing", unknown, jqPath(path))
		}
	}
	return nil
}

// jqPath formats a JSON Pointer in jq's syntax, if its names are plain.
func jqPath(pointer string) string {
	return strings.NewReplacer("/*", "[]", "/", ".").Replace(pointer)
}

// jsonData returns the schema of all JSON responses of full, and its other
// responses.
func jsonData(full envelope.Contract) (data []byte, others []envelope.Response) {
	p := envelope.Contract{}
	for _, s := range full.Successes {
		if s.Form() == envelope.JSON {
			p.Successes = append(p.Successes, s)
		} else {
			others = append(others, s)
		}
	}
	return envelope.DataSchema(p), others
}

// infer tries the view on the contract's examples and on a sample.
func (v *View) infer(ctx context.Context, full envelope.Contract, whole []byte) []byte {
	ctx, stop := context.WithTimeout(ctx, sampleTime)
	defer stop()
	var samples, made [][]byte
	if s, err := schema.Compile(whole, schema.Options{}); err == nil {
		for _, success := range full.Successes {
			if success.Example != nil && len(s.Validate(success.Example)) == 0 {
				samples = append(samples, success.Example)
			}
		}
		if value, ok := sample.Of(s); ok {
			samples = append(samples, value)
		}
	}
	for _, value := range samples {
		if part, err := v.part(ctx, value); err == nil {
			made = append(made, part)
		}
	}
	guess, err := sample.Infer(made...)
	if err != nil {
		return []byte("{}")
	}
	return guess
}

// Show returns the view of value, JSON of one line, and its violations of the
// contract. The error is the filter's.
func (v *View) Show(ctx context.Context, value []byte) (part []byte, broken []schema.Violation, err error) {
	part, err = v.part(ctx, value)
	if err != nil {
		return nil, nil, err
	}
	return part, v.check.Validate(part), nil
}

// Schema returns the schema that the part of a JSON value is validated against.
func (v *View) Schema() *schema.Schema { return v.check }

func (v *View) part(ctx context.Context, value []byte) (part []byte, err error) {
	part = value
	if v.parts != nil {
		guess := int(v.size.Load())
		if part, err = v.parts.AppendValue(make([]byte, 0, min(len(value), guess+guess/8+64)), value); err != nil {
			return nil, err
		}
		v.size.Store(int64(len(part)))
	}
	if v.filter != nil {
		return v.filter.Run(ctx, part, maxFiltered)
	}
	return part, nil
}

// ReadPaths parses the argument with which a caller selects parts: a list of
// paths.
func ReadPaths(raw []byte) ([]string, error) {
	doc, err := rawjson.Parse(raw)
	if err != nil || doc.Len(doc.Root()) == 0 || doc.Kind(doc.Root()) != rawjson.Array {
		return nil, errors.New(`a list of paths is expected, for example ["items[].id"]`)
	}
	var paths []string
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.String {
			return nil, fmt.Errorf(`a list of paths is expected, and %s is none`, bytes.TrimSpace(doc.Raw(n)))
		}
		paths = append(paths, doc.Str(n))
	}
	return paths, nil
}
