// Package telemetry tells OpenTelemetry what a server does: a span and a duration
// for every request, client spans for what it sends to upstreams, the log, and what
// the process holds, over OTLP and for Prometheus.
//
// It does not know how requests are served, what tools do, nor where settings come
// from: server, gateway and egress tell it through small interfaces of their own,
// and it alone imports OpenTelemetry. names.go has every name that leaves the
// process; the published conventions decide them where they have one.
//
// It stands beside the path of a call. A call never waits for it: what is sent
// waits in queues of bounded length, and what does not fit is dropped and counted.
package telemetry
