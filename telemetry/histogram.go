package telemetry

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Durations are recorded here and not by the SDK's instruments, which go through the
// attributes again with every value: that alone was a third of the time that metrics
// may take of a call. Readers of the SDK get them as from any producer.

// histograms are the series of one instrument, by what their attributes are made of.
// Recording takes no lock and allocates nothing, but for the first time.
type histograms[K comparable] struct {
	metric     Metric
	bounds     []float64 // seconds
	limits     []time.Duration
	attributes func(K) []attribute.KeyValue
	began      time.Time

	by     atomic.Pointer[map[K]*histogram]
	adding sync.Mutex
	sets   map[attribute.Distinct]*histogram
}

// histogram is one series.
type histogram struct {
	set    attribute.Set
	counts []atomic.Uint64 // one more than bounds
	sum    atomic.Int64    // nanoseconds
}

func newHistograms[K comparable](name string, bounds []float64, attributes func(K) []attribute.KeyValue) *histograms[K] {
	h := &histograms[K]{bounds: bounds, attributes: attributes, began: time.Now(), sets: map[attribute.Distinct]*histogram{}}
	for _, m := range Metrics() {
		if m.Name == name {
			h.metric = m
		}
	}
	for _, b := range bounds {
		h.limits = append(h.limits, time.Duration(b*float64(time.Second)))
	}
	h.by.Store(&map[K]*histogram{})
	return h
}

// record adds a duration to the series of k.
func (h *histograms[K]) record(k K, d time.Duration) {
	s := (*h.by.Load())[k]
	if s == nil {
		s = h.add(k)
	}
	i := 0
	for i < len(h.limits) && d > h.limits[i] {
		i++
	}
	s.counts[i].Add(1)
	s.sum.Add(int64(d))
}

// maxKept bounds what series are found by at once; others are found by their
// attributes.
const maxKept = 2 * maxSeries

func (h *histograms[K]) add(k K) *histogram {
	set := attribute.NewSet(h.attributes(k)...)
	h.adding.Lock()
	defer h.adding.Unlock()
	s := h.sets[set.Equivalent()]
	if s == nil && len(h.sets) >= maxSeries {
		set = attribute.NewSet(attribute.Bool("otel.metric.overflow", true)) // as the SDK has it
		s = h.sets[set.Equivalent()]
	}
	if s == nil {
		s = &histogram{set: set, counts: make([]atomic.Uint64, len(h.bounds)+1)}
		h.sets[set.Equivalent()] = s
	}
	if by := *h.by.Load(); len(by) < maxKept {
		next := maps.Clone(by)
		next[k] = s
		h.by.Store(&next)
	}
	return s
}

// read returns what was recorded until now.
func (h *histograms[K]) read(now time.Time) metricdata.Metrics {
	h.adding.Lock()
	defer h.adding.Unlock()
	points := make([]metricdata.HistogramDataPoint[float64], 0, len(h.sets))
	for _, s := range h.sets {
		p := metricdata.HistogramDataPoint[float64]{
			Attributes: s.set, StartTime: h.began, Time: now, Bounds: h.bounds, BucketCounts: make([]uint64, len(s.counts)), Sum: time.Duration(s.sum.Load()).Seconds(),
		}
		for i := range s.counts {
			p.BucketCounts[i] = s.counts[i].Load()
			p.Count += p.BucketCounts[i]
		}
		points = append(points, p)
	}
	return metricdata.Metrics{Name: h.metric.Name, Description: h.metric.Help, Unit: h.metric.Unit, Data: metricdata.Histogram[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality}}
}

// Produce implements the SDK's producer of metrics.
func (s *series) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	out := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scopeName}}
	now := time.Now()
	for _, m := range []metricdata.Metrics{s.requests.read(now), s.sessions.read(now), s.upstreams.read(now)} {
		if data, ok := m.Data.(metricdata.Histogram[float64]); ok && len(data.DataPoints) > 0 {
			out.Metrics = append(out.Metrics, m)
		}
	}
	return []metricdata.ScopeMetrics{out}, nil
}
