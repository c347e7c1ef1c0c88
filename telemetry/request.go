package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// request is the context of a request, with its place in a trace. Nearly all
// requests are not sampled where there are many: those have ids, which are handed on.
type request struct {
	context.Context //nolint:containedctx // it is one

	place trace.SpanContext
	span  *span // nil: it is not sampled
}

type placeKey struct{}

// Value returns the request itself, or values of the context before.
func (r *request) Value(key any) any {
	if _, ok := key.(placeKey); ok {
		return r
	}
	return r.Context.Value(key)
}

// requestOf is the request that ctx is part of; nil: none.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.(*request); ok {
		return r
	}
	r, _ := ctx.Value(placeKey{}).(*request)
	return r
}

// placeOf is the place of ctx in a trace.
func placeOf(ctx context.Context) trace.SpanContext {
	if r := requestOf(ctx); r != nil {
		return r.place
	}
	return trace.SpanContextFromContext(ctx)
}

// sampler decides which traces are recorded, as the SDK's of the same names do.
type sampler struct {
	parentBased bool
	below       uint64 // of 63 bits of the trace id; 1<<63: all
}

// samplerOf returns a sampler by the name that OTEL_TRACES_SAMPLER has for it.
func samplerOf(name string, ratio float64) (sampler, error) {
	if ratio < 0 || ratio > 1 || math.IsNaN(ratio) {
		return sampler{}, fmt.Errorf("the share of traces is between 0 and 1, not %v", ratio)
	}
	root, parentBased := strings.CutPrefix(name, "parentbased_")
	s := sampler{parentBased: parentBased || name == ""}
	switch root {
	case "", "always_on":
		s.below = 1 << 63
	case "always_off":
	case "traceidratio":
		s.below = uint64(ratio * (1 << 63))
	default:
		return s, fmt.Errorf("the sampler %q is none of always_on, always_off, traceidratio, and the same with parentbased_ before it", clip(name))
	}
	return s, nil
}

// takes decides about a trace, which may have begun elsewhere.
func (s sampler) takes(parent trace.SpanContext, id trace.TraceID) bool {
	if s.parentBased && parent.IsValid() {
		return parent.IsSampled()
	}
	return binary.BigEndian.Uint64(id[8:])>>1 < s.below
}

// newTraceID returns an id that differs from all others. It is no secret.
func newTraceID() (t trace.TraceID) {
	for !t.IsValid() {
		binary.NativeEndian.PutUint64(t[:], rand.Uint64())  //nolint:gosec // as above
		binary.NativeEndian.PutUint64(t[8:], rand.Uint64()) //nolint:gosec // as above
	}
	return t
}

// newSpanID is newTraceID for spans.
func newSpanID() (s trace.SpanID) {
	for !s.IsValid() {
		binary.NativeEndian.PutUint64(s[:], rand.Uint64()) //nolint:gosec // as above
	}
	return s
}
