package telemetry

import "go.opentelemetry.io/otel/attribute"

// Every name that leaves the process. Those without the prefix tenon are of the
// published conventions, with which testdata/semconv.json compares them; see
// docs/telemetry.md.

// Attributes of the conventions for MCP and generative AI
// (open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md).
const (
	attrMethod        = attribute.Key("mcp.method.name")
	attrRevision      = attribute.Key("mcp.protocol.version")
	attrSession       = attribute.Key("mcp.session.id")
	attrResource      = attribute.Key("mcp.resource.uri")
	attrRequestID     = attribute.Key("jsonrpc.request.id")
	attrCode          = attribute.Key("rpc.response.status_code")
	attrOperation     = attribute.Key("gen_ai.operation.name")
	attrTool          = attribute.Key("gen_ai.tool.name")
	attrPrompt        = attribute.Key("gen_ai.prompt.name")
	attrToolArguments = attribute.Key("gen_ai.tool.call.arguments")
	attrToolResult    = attribute.Key("gen_ai.tool.call.result")
)

// Attributes of the general conventions (open-telemetry/semantic-conventions).
const (
	attrError        = attribute.Key("error.type")
	attrTransport    = attribute.Key("network.transport")
	attrProtocol     = attribute.Key("network.protocol.name")
	attrProtoVersion = attribute.Key("network.protocol.version")
	attrClient       = attribute.Key("client.address")
	attrHTTPMethod   = attribute.Key("http.request.method")
	attrHTTPStatus   = attribute.Key("http.response.status_code")
	attrResends      = attribute.Key("http.request.resend_count")
	attrServer       = attribute.Key("server.address")
	attrPort         = attribute.Key("server.port")
	attrURL          = attribute.Key("url.full")
	attrScheme       = attribute.Key("url.scheme")
)

// Attributes of our own.
const (
	attrVerdict  = attribute.Key("tenon.contract.verdict")
	attrPolicy   = attribute.Key("tenon.contract.policy")
	attrExecuted = attribute.Key("tenon.executed")
	attrConsent  = attribute.Key("tenon.consent")
	attrSource   = attribute.Key("tenon.source")
	attrOutcome  = attribute.Key("tenon.outcome")
	attrSignal   = attribute.Key("tenon.signal")
	attrFlow     = attribute.Key("tenon.direction")
)

// Values of attributes.
const (
	methodCall       = "tools/call"
	methodPrompt     = "prompts/get"
	valueExecuteTool = "execute_tool"
	valueToolError   = "tool_error"
	valueOther       = "_OTHER" // in place of names without a bound, as the general conventions have it
	scopeName        = "github.com/tenon-mcp/tenon"
	eventAudit       = "tenon.audit"
)

// The kinds of instruments.
const (
	kindHistogram = "histogram"
	kindCounter   = "counter"
	kindUpDown    = "updowncounter"
	kindGauge     = "gauge"
)

// Metric describes an instrument.
type Metric struct {
	Name, Kind, Unit, Help string
	Attributes             []attribute.Key
}

// Names of metrics.
const (
	metricOperation  = "mcp.server.operation.duration"
	metricSession    = "mcp.server.session.duration"
	metricUpstream   = "http.client.request.duration"
	metricViolations = "tenon.contract.violations"
	metricRefused    = "tenon.http.refused"
	metricCalls      = "tenon.calls.active"
	metricBytes      = "tenon.bytes.held"
	metricSessions   = "tenon.sessions.active"
	metricTasks      = "tenon.tasks.kept"
	metricStreams    = "tenon.streams.active"
	metricTools      = "tenon.catalog.tools"
	metricReloads    = "tenon.catalog.reloads"
	metricCache      = "tenon.upstream.cache.lookups"
	metricBreaker    = "tenon.upstream.breaker.open"
	metricAuditLost  = "tenon.audit.lines.lost"
	metricWorkers    = "tenon.handler.workers"
	metricDropped    = "tenon.telemetry.dropped"
)

// Metrics are all instruments, in the order of docs/telemetry.md.
func Metrics() []Metric {
	return []Metric{
		{metricOperation, kindHistogram, "s", "Duration of MCP requests as the server sees them, from their arrival until the answer is made.", []attribute.Key{attrMethod, attrTool, attrOperation, attrPrompt, attrError, attrCode, attrRevision, attrTransport, attrProtocol, attrProtoVersion}},
		{metricSession, kindHistogram, "s", "Duration of the sessions of clients before 2026-07-28.", []attribute.Key{attrRevision, attrTransport, attrProtocol}},
		{metricUpstream, kindHistogram, "s", "Duration of requests to upstreams, each attempt, until the body was read.", []attribute.Key{attrHTTPMethod, attrServer, attrPort, attrScheme, attrHTTPStatus, attrError}},
		{metricViolations, kindCounter, "{violation}", "Responses of upstreams that were not what their contract says.", []attribute.Key{attrTool, attrVerdict, attrPolicy}},
		{metricRefused, kindCounter, "{request}", "HTTP requests that never became a request of MCP.", []attribute.Key{attrHTTPStatus}},
		{metricCalls, kindUpDown, "{call}", "Calls of tools under way, until their results are written.", nil},
		{metricBytes, kindUpDown, "By", "Bytes of messages that are read, and of answers that are not written yet.", []attribute.Key{attrFlow}},
		{metricSessions, kindUpDown, "{session}", "Sessions of clients before 2026-07-28.", nil},
		{metricTasks, kindUpDown, "{task}", "Tasks that clients can ask for.", nil},
		{metricStreams, kindUpDown, "{stream}", "Subscriptions and standing streams.", nil},
		{metricTools, kindUpDown, "{tool}", "Tools of the catalog in force.", nil},
		{metricReloads, kindCounter, "{reload}", "Descriptions that were read again.", []attribute.Key{attrOutcome}},
		{metricCache, kindCounter, "{lookup}", "Requests that the response cache could answer.", []attribute.Key{attrOutcome}},
		{metricBreaker, kindUpDown, "{breaker}", "Circuit breakers of upstreams that are open now.", []attribute.Key{attrServer}},
		{metricAuditLost, kindCounter, "{line}", "Lines of the audit log that were lost.", nil},
		{metricWorkers, kindUpDown, "{worker}", "Worker processes that run handlers of schema files.", nil},
		{metricDropped, kindCounter, "{item}", "Spans, log records and exports of metrics that could not be delivered.", []attribute.Key{attrSignal}},
	}
}

// SpanAttributes are the attributes of the spans of requests (server), of tool calls
// that went on after their answer (internal), and of requests to upstreams (client).
func SpanAttributes() map[string][]attribute.Key {
	contract := []attribute.Key{attrVerdict, attrPolicy, attrExecuted, attrConsent, attrSource}
	return map[string][]attribute.Key{
		"server":   append([]attribute.Key{attrMethod, attrRevision, attrSession, attrResource, attrRequestID, attrCode, attrOperation, attrTool, attrPrompt, attrToolArguments, attrToolResult, attrError, attrTransport, attrProtocol, attrProtoVersion, attrClient}, contract...),
		"internal": append([]attribute.Key{attrOperation, attrTool, attrToolArguments, attrToolResult, attrError}, contract...),
		"client":   {attrHTTPMethod, attrServer, attrPort, attrURL, attrHTTPStatus, attrError, attrResends},
	}
}

// Bounds of histograms, in seconds: those of the conventions.
func operationBounds() []float64 {
	return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
}

func upstreamBounds() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
}

// Bounds are the bounds of the histogram of a name, in seconds.
func Bounds(name string) []float64 {
	if name == metricUpstream {
		return upstreamBounds()
	}
	return operationBounds()
}
