// Package jq runs jq filters over JSON bytes.
//
// It does not know where a value comes from or what is promised about it. A
// filter sees its value and nothing else: no environment, no further input, no
// modules.
//
// It stands beside the rooms of a call: the command compiles the filters that
// an operator wrote and hands them to tools as transforms.
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

// Compile reads a filter. Filters belong to the operator: one that wants to
// can use up memory within the time that it is given.
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

// Run answers the one value, of at most limit bytes, that the filter makes of
// value, which must be strict JSON. It stops when ctx ends.
//
// Numbers that the filter passes on keep their text, and integers are exact
// whatever their size; other arithmetic is that of doubles. The members of
// objects come sorted by name.
func (f *Filter) Run(ctx context.Context, value []byte, limit int) (result []byte, err error) {
	in, err := decode(value)
	if err != nil {
		return nil, fmt.Errorf("jq filter: its input is not strict JSON: %w", err)
	}
	defer func() {
		if p := recover(); p != nil { // a fault of the library costs one call
			result, err = nil, fmt.Errorf("jq filter: %v", p)
		}
	}()
	results := f.code.RunWithContext(ctx, in)
	out, ok := results.Next()
	if !ok {
		return nil, errors.New("jq filter: no result; one value is wanted")
	}
	if err := fault(out); err != nil {
		return nil, err
	}
	if more, ok := results.Next(); ok {
		if err := fault(more); err != nil {
			return nil, err
		}
		return nil, errors.New("jq filter: more than one result; brackets around the filter make a list of them")
	}
	if left := weigh(out, limit, rawjson.MaxDepth); left < 0 {
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

// decode answers the value as the library wants it, numbers as their text.
func decode(value []byte) (v any, err error) {
	if err := rawjson.Check(value); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// fault answers the error that a result is.
func fault(out any) error {
	err, ok := out.(error)
	if !ok {
		return nil
	}
	return fmt.Errorf("jq filter: %w", err)
}

// weigh takes from left what v needs at least when written, and stops below
// 0. What a filter makes can be small in memory and huge or endlessly deep in
// writing, because it may have the same part many times.
func weigh(v any, left, depth int) int {
	if left--; left < 0 || depth < 0 {
		return -1
	}
	switch v := v.(type) {
	case string:
		left -= len(v)
	case []any:
		for _, e := range v {
			if left = weigh(e, left, depth-1); left < 0 {
				break
			}
		}
	case map[string]any:
		for k, e := range v {
			if left = weigh(e, left-len(k), depth-1); left < 0 {
				break
			}
		}
	}
	return left
}
