// Package jq runs jq filters over JSON bytes.
//
// It does not know where a value comes from or what its schema is. A filter has
// access to its value only: no environment, no further input, no modules.
//
// It is beside the path of a call: the command compiles an operator's filters
// and passes them to tools as projections.
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Filter is a compiled filter. It is safe for concurrent use.
type Filter struct {
	code  *gojq.Code
	paths []string
}

// maxFilter is the size of the longest filter, in bytes.
const maxFilter = 64 << 10

// Compile compiles a filter. Filters are trusted: one can use up memory within
// its time limit.
func Compile(text string) (*Filter, error) {
	if len(text) > maxFilter {
		return nil, fmt.Errorf("a jq filter of %d bytes; at most %d are read", len(text), maxFilter)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		at := len(text)
		if where, ok := errors.AsType[*gojq.ParseError](err); ok {
			at = max(0, where.Offset-len(where.Token))
		}
		line, column := rawjson.Position([]byte(text), at)
		return nil, fmt.Errorf("jq filter, line %d, column %d: %w", line, column, err)
	}
	code, err := gojq.Compile(query, gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, fmt.Errorf("jq filter: %w", err)
	}
	return &Filter{code, pathsOf(query)}, nil
}

// Run returns the single result, of at most limit bytes, of the filter for
// value, which must be strict JSON. It stops when ctx ends.
//
// Numbers that the filter passes on keep their text, and integers are exact
// whatever their size; other arithmetic uses doubles. The members of objects
// are sorted by name.
func (f *Filter) Run(ctx context.Context, value []byte, limit int) (result []byte, err error) {
	in, err := decode(value)
	if err != nil {
		return nil, fmt.Errorf("jq filter: its input is not strict JSON: %w", err)
	}
	defer func() {
		if p := recover(); p != nil { // a bug of the library fails one call only
			result, err = nil, fmt.Errorf("jq filter: %v", p)
		}
	}()
	results := f.code.RunWithContext(ctx, in)
	out, ok := results.Next()
	if !ok {
		return nil, errors.New("jq filter: no result; one value is wanted")
	}
	if err := resultError(out); err != nil {
		return nil, err
	}
	if more, ok := results.Next(); ok {
		if err := resultError(more); err != nil {
			return nil, err
		}
		return nil, errors.New("jq filter: more than one result; brackets around the filter make a list of them")
	}
	if left := subtractSize(out, limit, rawjson.MaxDepth); left < 0 {
		return nil, fmt.Errorf("jq filter: a result of more than %d bytes, or nested deeper than %d", limit, rawjson.MaxDepth)
	}
	if result, err = gojq.Marshal(out); err != nil {
		return nil, fmt.Errorf("jq filter: %w", err)
	}
	if len(result) > limit {
		return nil, fmt.Errorf("jq filter: a result of %d bytes; at most %d are allowed", len(result), limit)
	}
	return result, nil
}

// decode decodes the value for the library, numbers as their text.
func decode(value []byte) (v any, err error) {
	if err := rawjson.Check(value); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// resultError returns the error of a result, if it is one.
func resultError(out any) error {
	err, ok := out.(error)
	if !ok {
		return nil
	}
	return fmt.Errorf("jq filter: %w", err)
}

// subtractSize subtracts from left at least the encoded size of v, and stops below 0.
// A result can be small in memory and huge or endlessly deep when encoded,
// because it can contain the same part many times.
func subtractSize(v any, left, depth int) int {
	if left--; left < 0 || depth < 0 {
		return -1
	}
	switch v := v.(type) {
	case string:
		left -= len(v)
	case []any:
		for _, e := range v {
			if left = subtractSize(e, left, depth-1); left < 0 {
				break
			}
		}
	case map[string]any:
		for k, e := range v {
			if left = subtractSize(e, left-len(k), depth-1); left < 0 {
				break
			}
		}
	}
	return left
}
