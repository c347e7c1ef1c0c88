package telemetry

import (
	"maps"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tenon-mcp/tenon/server"
)

// series are the instruments of names.go.
type series struct {
	meter               metric.Meter
	violations, refused metric.Int64Counter
	reloads, cache      metric.Int64Counter
	held                map[string]metric.Int64ObservableUpDownCounter
	lost                map[string]metric.Int64ObservableCounter
	observables         []metric.Observable

	requests  *histograms[requestKey]
	sessions  *histograms[sessionKey]
	upstreams *histograms[upstreamKey]
	tools     bounded // and prompts, with series of their own
	servers   bounded
	breakers  breakers
}

// What the attributes of a duration are made of.
type (
	requestKey struct {
		method, name, revision, proto string
		code                          int
		failed                        bool
	}
	sessionKey struct {
		revision string
		stdio    bool
	}
	upstreamKey struct {
		method, scheme, host, name, failure string
		port, status                        int
	}
)

func (s *series) init(maxTools int) {
	s.tools.most, s.servers.most = maxTools, maxServers
	s.requests = newHistograms(metricOperation, operationBounds(), s.ofRequest)
	s.sessions = newHistograms(metricSession, operationBounds(), ofSession)
	s.upstreams = newHistograms(metricUpstream, upstreamBounds(), s.ofUpstream)
}

// make makes the instruments that are the SDK's.
func (s *series) make(m metric.Meter) (err error) {
	s.meter, s.held, s.lost = m, map[string]metric.Int64ObservableUpDownCounter{}, map[string]metric.Int64ObservableCounter{}
	for _, m := range Metrics() {
		if err == nil && m.Kind != kindHistogram {
			err = s.add(m)
		}
	}
	return err
}

func (s *series) add(m Metric) (err error) {
	help, unit := metric.WithDescription(m.Help), metric.WithUnit(m.Unit)
	switch m.Name {
	case metricViolations:
		s.violations, err = s.meter.Int64Counter(m.Name, help, unit)
	case metricRefused:
		s.refused, err = s.meter.Int64Counter(m.Name, help, unit)
	case metricReloads:
		s.reloads, err = s.meter.Int64Counter(m.Name, help, unit)
	case metricCache:
		s.cache, err = s.meter.Int64Counter(m.Name, help, unit)
	case metricAuditLost, metricDropped:
		s.lost[m.Name], err = s.meter.Int64ObservableCounter(m.Name, help, unit)
		s.observables = append(s.observables, s.lost[m.Name])
	default:
		s.held[m.Name], err = s.meter.Int64ObservableUpDownCounter(m.Name, help, unit)
		s.observables = append(s.observables, s.held[m.Name])
	}
	return err
}

// ofRequest are the attributes of a request.
func (s *series) ofRequest(k requestKey) []attribute.KeyValue {
	if k.name != "" && !s.tools.admits(k.name) {
		k.name = valueOther
	}
	all := append([]attribute.KeyValue{attrMethod.String(k.method)}, transportOf(k.proto)...)
	switch k.method {
	case methodCall:
		all = append(all, attrTool.String(k.name), attrOperation.String(valueExecuteTool))
	case methodPrompt:
		all = append(all, attrPrompt.String(k.name))
	}
	if k.revision != "" {
		all = append(all, attrRevision.String(k.revision))
	}
	if k.code != 0 {
		all = append(all, attrCode.String(codeText(k.code)))
	}
	if failure := failureOf(&server.RequestRecord{Code: k.code, ToolFailed: k.failed}); failure != "" {
		all = append(all, attrError.String(failure))
	}
	return all
}

// ofSession are the attributes of a session.
func ofSession(k sessionKey) []attribute.KeyValue {
	if k.stdio {
		return []attribute.KeyValue{attrRevision.String(k.revision), attrTransport.String("pipe")}
	}
	return []attribute.KeyValue{attrRevision.String(k.revision), attrTransport.String("tcp"), attrProtocol.String("http")}
}

// ofUpstream are the attributes of a request to an upstream.
func (s *series) ofUpstream(k upstreamKey) []attribute.KeyValue {
	all := []attribute.KeyValue{attrHTTPMethod.String(k.method), attrScheme.String(k.scheme)}
	if s.servers.admits(k.host) {
		all = append(all, attrServer.String(k.name), attrPort.Int(k.port))
	} else {
		all = append(all, attrServer.String(valueOther))
	}
	if k.status != 0 {
		all = append(all, attrHTTPStatus.Int(k.status))
	}
	if k.failure != "" {
		all = append(all, attrError.String(k.failure))
	}
	return all
}

// bounded are the first names of all that come.
type bounded struct {
	most int

	mu    sync.Mutex
	names map[string]struct{}
}

// admits reports whether a name is one of them.
func (b *bounded) admits(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.names[name]; ok || name == valueOther {
		return true
	}
	if len(b.names) >= b.most {
		return false
	}
	if b.names == nil {
		b.names = map[string]struct{}{}
	}
	b.names[name] = struct{}{}
	return true
}

// breakers are the circuit breakers of upstreams: 1 is open.
type breakers struct {
	mu   sync.Mutex
	open map[string]int64
}

func (b *breakers) set(origin string, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[string]int64{}
	}
	if _, ok := b.open[origin]; !ok && len(b.open) >= maxServers {
		return
	}
	b.open[origin] = 0
	if open {
		b.open[origin] = 1
	}
}

func (b *breakers) all() map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.open)
}
