// Package projection shows parts of values: what a projection selects of them, then
// what a filter makes of that, and the schema that those parts fit.
//
// It does not know tools, calls or policies, nor which filters there are. It
// stands between output validation and the cut of large answers.
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
)

// maxMade bounds what a filter makes of one value.
const maxMade = 32 << 20

// sampleTime bounds the filter that is tried on samples.
const sampleTime = 2 * time.Second

// Filter makes one value of another, of at most limit bytes.
type Filter interface {
	Run(ctx context.Context, value []byte, limit int) ([]byte, error)
}

// Options say what is shown. The zero value shows everything.
type Options struct {
	Select []string // paths, as [schema.ParseProjection] reads them
	Filter Filter   // what is made of the selection
	Made   []byte   // schema of what Filter makes; nil: it is inferred
}

// View shows a part of the values that a promise describes. It is safe for
// concurrent use.
type View struct {
	// Promise is what is promised of the parts. Where its schema was inferred
	// it is advice.
	Promise envelope.Contract
	// Guessed tells that the schema was inferred from samples.
	Guessed bool

	parts  *schema.Projection
	filter Filter
	check  *schema.Schema // of the part of a JSON value
	size   atomic.Int64   // of the last part, as a guess at the next
}

// New returns the view of what full promises. An error is about the options.
//
//nolint:contextcheck,nolintlint // a filter is tried on samples for the catalog, not for who asks
func New(full envelope.Contract, o Options) (*View, error) {
	v := &View{filter: o.Filter}
	whole, others := jsonData(full)
	data := whole
	var err error
	if len(o.Select) > 0 {
		if v.parts, err = schema.ParseProjection(o.Select...); err != nil {
			return nil, err
		}
		if data, err = v.parts.AppendSchema(nil, whole); err != nil {
			return nil, err
		}
	}
	if err := known(o.Filter, data); err != nil {
		return nil, err
	}
	switch {
	case o.Filter == nil:
	case o.Made != nil:
		data = o.Made
	default:
		v.Guessed = true
		data = v.infer(context.Background(), full, whole)
	}
	if v.check, err = schema.Compile(data, schema.Options{}); err != nil {
		return nil, fmt.Errorf("the schema of what is shown: %w", err)
	}
	v.Promise = full
	v.Promise.Advice = full.Advice || v.Guessed
	v.Promise.Successes = append(others, envelope.Response{Media: "application/json", Schema: data})
	return v, nil
}

// known answers the first member that a filter reads by a name that must be
// misspelt: data has one that looks alike, or admits no others. A service may
// answer more than it declares, so other names are let pass.
func known(f Filter, data []byte) error {
	reads, ok := f.(interface{ Paths() []string })
	if !ok {
		return nil
	}
	for _, path := range reads.Paths() {
		p, err := schema.ParseProjection(path)
		if err != nil {
			continue // it is too long to be a path
		}
		_, err = p.AppendSchema(nil, data)
		if unknown, ok := errors.AsType[*schema.PathError](err); ok && unknown.Sure {
			unknown.Path = jqPath(path)
			return fmt.Errorf("the filter reads %w; write %s? if it may be missing", unknown, jqPath(path))
		}
	}
	return nil
}

// jqPath writes a JSON Pointer as jq does, where its names are plain.
func jqPath(pointer string) string {
	return strings.NewReplacer("/*", "[]", "/", ".").Replace(pointer)
}

// jsonData is the schema of all JSON that full promises, and what it promises
// beside that.
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

// infer tries the view on what the promise gives as examples and on a sample.
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
		if sample, ok := s.Sample(); ok {
			samples = append(samples, sample)
		}
	}
	for _, sample := range samples {
		if part, err := v.part(ctx, sample); err == nil {
			made = append(made, part)
		}
	}
	guess, err := schema.Infer(made...)
	if err != nil {
		return []byte("{}")
	}
	return guess
}

// Show returns what is shown of value, JSON of one line, and how that breaks
// the promise. An error says that the filter cannot read the value.
func (v *View) Show(ctx context.Context, value []byte) (part []byte, broken []schema.Violation, err error) {
	part, err = v.part(ctx, value)
	if err != nil {
		return nil, nil, err
	}
	return part, v.check.Validate(part), nil
}

// Schema is what the part of a JSON value is checked against.
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
		return v.filter.Run(ctx, part, maxMade)
	}
	return part, nil
}

// ReadPaths reads the argument with which a caller asks for parts: a list of paths.
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
