package telemetry

import (
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Requests of OTLP are written here, field by field, by the numbers of
// https://github.com/open-telemetry/opentelemetry-proto: the exporters of the SDK link
// gRPC also where they speak HTTP, and a tenth of what they encode occurs here.
// Tests read what is written by the published types.

// wire is a message of Protocol Buffers. Fields with a zero value are left out, as
// they are by the published types.
type wire []byte

func (w *wire) text(field protowire.Number, s string) {
	if s != "" {
		*w = protowire.AppendString(protowire.AppendTag(*w, field, protowire.BytesType), s)
	}
}

func (w *wire) bytes(field protowire.Number, b []byte) {
	if len(b) > 0 {
		*w = protowire.AppendBytes(protowire.AppendTag(*w, field, protowire.BytesType), b)
	}
}

func (w *wire) varint(field protowire.Number, v uint64) {
	if v != 0 {
		*w = protowire.AppendVarint(protowire.AppendTag(*w, field, protowire.VarintType), v)
	}
}

func (w *wire) fixed32(field protowire.Number, v uint32) {
	if v != 0 {
		*w = protowire.AppendFixed32(protowire.AppendTag(*w, field, protowire.Fixed32Type), v)
	}
}

func (w *wire) fixed64(field protowire.Number, v uint64) {
	if v != 0 {
		w.present64(field, v)
	}
}

// present64 writes a field also when it is zero: one of several that may stand there.
func (w *wire) present64(field protowire.Number, v uint64) {
	*w = protowire.AppendFixed64(protowire.AppendTag(*w, field, protowire.Fixed64Type), v)
}

func (w *wire) time(field protowire.Number, t time.Time) {
	if !t.IsZero() {
		w.fixed64(field, uint64(max(0, t.UnixNano())))
	}
}

// message writes a message within this one. Its length stands before it and is known
// after it: what was written moves, so that no message has memory of its own.
func (w *wire) message(field protowire.Number, write func(*wire)) {
	*w = protowire.AppendTag(*w, field, protowire.BytesType)
	start := len(*w)
	write(w)
	size := len(*w) - start
	var length [10]byte
	*w = append(*w, length[:protowire.SizeVarint(uint64(size))]...) //nolint:gosec // a length
	copy((*w)[len(*w)-size:], (*w)[start:start+size])
	protowire.AppendVarint((*w)[:start], uint64(size)) //nolint:gosec // a length
}

// attribute writes a KeyValue.
func (w *wire) attribute(field protowire.Number, kv attribute.KeyValue) {
	w.message(field, func(w *wire) {
		w.text(1, string(kv.Key))
		w.message(2, func(w *wire) { w.value(kv.Value) })
	})
}

// value writes the fields of an AnyValue. What has no field of its own here is text.
func (w *wire) value(v attribute.Value) {
	switch v.Type() {
	case attribute.EMPTY:
	case attribute.BOOL:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, 2, protowire.VarintType), protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, 3, protowire.VarintType), uint64(v.AsInt64())) //nolint:gosec // two's complement is the encoding
	case attribute.FLOAT64:
		w.present64(4, math.Float64bits(v.AsFloat64()))
	case attribute.STRING:
		*w = protowire.AppendString(protowire.AppendTag(*w, 1, protowire.BytesType), v.AsString())
	default:
		*w = protowire.AppendString(protowire.AppendTag(*w, 1, protowire.BytesType), v.String())
	}
}

// within writes a request: all of it is of one process and one scope. The numbers of
// these fields are the same for every signal.
func within(described *resource.Resource, write func(*wire)) []byte {
	var w wire
	w.message(1, func(w *wire) {
		w.message(1, func(w *wire) {
			for _, kv := range described.Attributes() {
				w.attribute(1, kv)
			}
		})
		w.message(2, func(w *wire) {
			w.message(1, func(w *wire) { w.text(1, scopeName) })
			write(w)
		})
	})
	return w
}

// Bits of the flags of spans and links: whether it is known that a place is in another
// process, and that it is.
const (
	flagKnown  = 0x100
	flagRemote = 0x200
)

func flagsOf(own trace.TraceFlags, other trace.SpanContext) uint32 {
	flags := uint32(own) | flagKnown
	if other.IsRemote() {
		flags |= flagRemote
	}
	return flags
}

// encodeSpans writes an ExportTraceServiceRequest. The spans have ended.
func encodeSpans(described *resource.Resource, all []*span) []byte {
	return within(described, func(w *wire) {
		for _, s := range all {
			w.message(2, s.encode)
		}
	})
}

func (s *span) encode(w *wire) {
	traceID, spanID := s.place.TraceID(), s.place.SpanID()
	w.bytes(1, traceID[:])
	w.bytes(2, spanID[:])
	w.text(3, s.place.TraceState().String())
	if parent := s.parent.SpanID(); parent.IsValid() {
		w.bytes(4, parent[:])
	}
	w.text(5, s.name)
	w.varint(6, uint64(s.kind)) //nolint:gosec // one of six; their numbers are the same
	w.time(7, s.began)
	w.time(8, s.ended)
	for _, kv := range s.attributes {
		w.attribute(9, kv)
	}
	if s.link.IsValid() {
		w.message(13, func(w *wire) {
			traceID, spanID := s.link.TraceID(), s.link.SpanID()
			w.bytes(1, traceID[:])
			w.bytes(2, spanID[:])
			w.text(3, s.link.TraceState().String())
			w.fixed32(6, flagsOf(s.link.TraceFlags(), s.link))
		})
	}
	w.message(15, func(w *wire) {
		if s.failed {
			w.text(2, s.failure)
			w.varint(3, 2)
		}
	})
	w.fixed32(16, flagsOf(s.place.TraceFlags(), s.parent))
}

// encodeRecords writes an ExportLogsServiceRequest.
func encodeRecords(described *resource.Resource, all []sdklog.Record) []byte {
	return within(described, func(w *wire) {
		for i := range all {
			w.message(2, func(w *wire) { encodeRecord(w, &all[i]) })
		}
	})
}

func encodeRecord(w *wire, r *sdklog.Record) {
	w.time(1, r.Timestamp())
	w.varint(2, uint64(max(0, r.Severity()))) // the numbers are the same
	w.text(3, r.SeverityText())
	w.message(5, func(w *wire) { w.value(r.Body()) })
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		w.attribute(6, kv)
		return true
	})
	w.varint(7, uint64(max(0, r.DroppedAttributes())))
	w.fixed32(8, uint32(r.TraceFlags()))
	if id := r.TraceID(); id.IsValid() {
		w.bytes(9, id[:])
	}
	if id := r.SpanID(); id.IsValid() {
		w.bytes(10, id[:])
	}
	w.time(11, r.ObservedTimestamp())
	w.text(12, r.EventName())
}

// encodeMetrics writes an ExportMetricsServiceRequest: sums of integers and histograms
// of seconds, which are all that there are.
func encodeMetrics(described *resource.Resource, scopes []metricdata.ScopeMetrics) (_ []byte, err error) {
	body := within(described, func(w *wire) {
		for _, scope := range scopes {
			for _, m := range scope.Metrics {
				w.message(2, func(w *wire) { err = errors.Join(err, encodeMetric(w, &m)) })
			}
		}
	})
	return body, err
}

func encodeMetric(w *wire, m *metricdata.Metrics) error {
	w.text(1, m.Name)
	w.text(2, m.Description)
	w.text(3, m.Unit)
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		w.message(7, func(w *wire) { encodeSum(w, data) })
	case metricdata.Histogram[float64]:
		w.message(9, func(w *wire) { encodeHistogram(w, data) })
	default:
		return fmt.Errorf("the metric %s is a %T, which is not encoded", m.Name, data)
	}
	return nil
}

// temporality is the number of what a series says: what came since the last time, or
// since the beginning.
func temporality(t metricdata.Temporality) uint64 {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2
}

func encodeSum(w *wire, data metricdata.Sum[int64]) {
	for _, p := range data.DataPoints {
		w.message(1, func(w *wire) {
			w.time(2, p.StartTime)
			w.time(3, p.Time)
			w.present64(6, uint64(p.Value)) //nolint:gosec // two's complement is the encoding
			for _, kv := range p.Attributes.ToSlice() {
				w.attribute(7, kv)
			}
		})
	}
	w.varint(2, temporality(data.Temporality))
	w.varint(3, protowire.EncodeBool(data.IsMonotonic))
}

func encodeHistogram(w *wire, data metricdata.Histogram[float64]) {
	for _, p := range data.DataPoints {
		w.message(1, func(w *wire) {
			w.time(2, p.StartTime)
			w.time(3, p.Time)
			w.fixed64(4, p.Count)
			w.present64(5, math.Float64bits(p.Sum))
			w.message(6, func(w *wire) {
				for _, n := range p.BucketCounts {
					*w = protowire.AppendFixed64(*w, n)
				}
			})
			w.message(7, func(w *wire) {
				for _, b := range p.Bounds {
					*w = protowire.AppendFixed64(*w, math.Float64bits(b))
				}
			})
			for _, kv := range p.Attributes.ToSlice() {
				w.attribute(9, kv)
			}
		})
	}
	w.varint(2, temporality(data.Temporality))
}
