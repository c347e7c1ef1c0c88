package telemetry

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Spans are recorded here and not by the SDK, of whose tracer nothing is left to do:
// what is sampled is decided before, and ends in a queue of our own. Its spans are 64
// allocations, which the collector of memory visits until they are sent, so that one
// call in a hundred was dearer than all the others are together.

// span is one that is being recorded, then one that waits to be sent.
type span struct {
	name          string
	kind          trace.SpanKind
	place, parent trace.SpanContext
	link          trace.SpanContext // of another trace; invalid: none
	began         time.Time

	mu         sync.Mutex
	ended      time.Time // zero: it has not
	attributes []attribute.KeyValue
	failed     bool
	failure    string
}

// startSpan begins to record a span, as a child of parent in the trace id.
func startSpan(name string, kind trace.SpanKind, parent trace.SpanContext, id trace.TraceID, began time.Time) *span {
	return &span{
		name: name, kind: kind, parent: parent, began: began, attributes: make([]attribute.KeyValue, 0, 16),
		place: trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: newSpanID(), TraceFlags: trace.FlagsSampled, TraceState: parent.TraceState()}),
	}
}

// set adds attributes that are not there yet. It reports false for a span that ended.
func (s *span) set(all ...attribute.KeyValue) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended.IsZero() {
		return false
	}
	s.attributes = append(s.attributes, all...)
	return true
}

// fail records that the operation of the span failed: kind is its error.type, message
// the description of its status.
func (s *span) fail(kind, message string) {
	s.set(attrError.String(kind))
	s.mu.Lock()
	s.failed, s.failure = true, message
	s.mu.Unlock()
}

// end hands a span to the queue.
func (t *Telemetry) end(s *span) {
	s.mu.Lock()
	s.ended = time.Now()
	s.mu.Unlock()
	t.spans.add(s)
}
