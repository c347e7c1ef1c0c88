// Command telemetry runs the built binary beside a real OpenTelemetry Collector, a
// real promtool and an upstream, and compares what arrives.
//
//	go run ./.ci/telemetry -collector OTELCOL [-promtool PROMTOOL] TENON
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

type suite struct {
	tenon, collector, promtool, work string

	receiver string // host:port of the collector
	upstream *httptest.Server
	mu       sync.Mutex
	seen     []http.Header // of requests to the upstream
	failed   int
}

func main() {
	s := &suite{}
	flag.StringVar(&s.collector, "collector", "", "the binary of the collector")
	flag.StringVar(&s.promtool, "promtool", "", "the binary of promtool; empty: metrics are not checked by it")
	flag.Parse()
	s.tenon = flag.Arg(0)
	var err error
	if s.work, err = os.MkdirTemp("", "tenon-telemetry-"); err == nil {
		err = s.run()
	}
	_ = os.RemoveAll(s.work)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if s.failed > 0 {
		os.Exit(1)
	}
}

// check prints how something went.
func (s *suite) check(what string, ok bool, detail ...any) {
	if ok {
		fmt.Println("ok  ", what)
		return
	}
	s.failed++
	fmt.Println("FAIL", what, fmt.Sprint(detail...))
}

func (s *suite) run() error {
	s.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Header.Clone())
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/broken":
			_, _ = io.WriteString(w, `{"title":7}`)
		case "/away":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{}`)
		default:
			_, _ = io.WriteString(w, `{"title":"Emma"}`)
		}
	}))
	defer s.upstream.Close()
	if err := s.document(); err != nil {
		return err
	}
	receiver, stop, text, err := s.startCollector()
	if err != nil {
		return err
	}
	s.receiver = receiver
	defer stop()
	audit := filepath.Join(s.work, "audit.jsonl")
	t, err := s.startTenon([]string{"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_SERVICE_NAME=books", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test"},
		"--otlp", "http://"+receiver, "--metrics", "127.0.0.1:0", "--audit", audit, "--telemetry-content", "on")
	if err != nil {
		return err
	}
	if err := s.calls(t); err != nil {
		return errors.Join(err, t.stop())
	}
	s.scrape(t)
	if err := t.stop(); err != nil {
		return err
	}
	stop()
	s.arrived(text())
	s.context(audit)
	if err := s.auditOverOTLP(); err != nil {
		return err
	}
	return s.receiverAway()
}

func (s *suite) document() error {
	operation := func(id string) string {
		return `{"get":{"operationId":"` + id + `","parameters":[{"name":"password","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"a book","content":{"application/json":{"schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}}}}}`
	}
	text := `{"openapi":"3.1.0","info":{"title":"Books","version":"1"},"servers":[{"url":"` + s.upstream.URL + `"}],"paths":{"/book":` + operation("getBook") + `,"/broken":` + operation("getBroken") + `,"/away":` + operation("getAway") + `}}`
	return os.WriteFile(filepath.Join(s.work, "api.json"), []byte(text), 0o600)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a command
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// output is what a process says, to be read while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait waits until the process has said something that matches.
func (o *output) wait(pattern string) ([]string, error) {
	re := regexp.MustCompile(pattern)
	late := time.After(30 * time.Second)
	for {
		if m := re.FindStringSubmatch(o.String()); m != nil {
			return m, nil
		}
		select {
		case <-o.more:
		case <-late:
			return nil, fmt.Errorf("nothing like %s in:\n%s", pattern, o.String())
		}
	}
}

// startCollector starts a collector that prints what it gets.
func (s *suite) startCollector() (receiver string, stop func(), text func() string, err error) {
	if receiver, err = freePort(); err != nil {
		return "", nil, nil, err
	}
	config := filepath.Join(s.work, "collector.yaml")
	if err = os.WriteFile(config, []byte(`receivers: {otlp: {protocols: {http: {endpoint: "`+receiver+`"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [debug]}
    metrics: {receivers: [otlp], exporters: [debug]}
    logs: {receivers: [otlp], exporters: [debug]}
`), 0o600); err != nil {
		return "", nil, nil, err
	}
	p, err := start(nil, s.collector, "--config", "file:"+config)
	if err != nil {
		return "", nil, nil, err
	}
	if _, err = p.out.wait("Everything is ready"); err != nil {
		_ = p.stop()
		return "", nil, nil, err
	}
	return receiver, sync.OnceFunc(func() { _ = p.stop() }), p.out.String, nil
}

type process struct {
	cmd          *exec.Cmd
	out          *output
	url, metrics string
}

func start(env []string, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), out: &output{more: make(chan struct{}, 1)}} //nolint:gosec,noctx // the caller names it
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr, p.cmd.Stdout = p.out, p.out
	return p, p.cmd.Start()
}

// stop ends a process as an operator does.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

func (s *suite) startTenon(env []string, args ...string) (*process, error) {
	all := append([]string{"serve", "--http", "127.0.0.1:0", "--allow-private-host", strings.TrimPrefix(s.upstream.URL, "http://"), "--policy", "warn"}, args...)
	p, err := start(env, s.tenon, append(all, filepath.Join(s.work, "api.json"))...)
	if err != nil {
		return nil, err
	}
	m, err := p.out.wait(`listening on (http\S+)`)
	if err != nil {
		_ = p.stop()
		return nil, err
	}
	p.url = m[1]
	if strings.Contains(strings.Join(args, " "), "--metrics ") {
		if m, err = p.out.wait(`metrics at (http\S+)`); err != nil {
			_ = p.stop()
			return nil, err
		}
		p.metrics = m[1]
	}
	return p, nil
}

// post sends a message of 2026-07-28.
func (p *process) post(method, name, params, meta string) error {
	m := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	if meta != "" {
		m += "," + meta
	}
	if params != "" {
		params += ","
	}
	return p.send(`{"jsonrpc":"2.0","id":"call-7","method":"`+method+`","params":{`+params+`"_meta":{`+m+`}}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
}

func (p *process) send(body string, headers ...string) error {
	_, err := p.exchange(http.MethodPost, body, headers...)
	return err
}

func (p *process) exchange(method, body string, headers ...string) (http.Header, error) {
	r, err := http.NewRequest(method, p.url, strings.NewReader(body)) //nolint:noctx // a command
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.Header, err
}

// calls does what a day brings.
func (s *suite) calls(t *process) error {
	trace := `"traceparent":"` + parent + `","tracestate":"rojo=00f067aa0ba902b7","baggage":"user=alice"`
	for _, c := range [][4]string{
		{"tools/list", "", "", ""},
		{"tools/call", "getBook", `"name":"getBook","arguments":{"password":"hunter2"}`, trace},
		{"tools/call", "getBroken", `"name":"getBroken"`, ""},
		{"tools/call", "getAway", `"name":"getAway"`, ""},
		{"tools/call", "no_such_tool", `"name":"no_such_tool"`, ""},
	} {
		if err := t.post(c[0], c[1], c[2], c[3]); err != nil {
			return err
		}
	}
	h, err := t.exchange(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"suite","version":"1"}}}`)
	if err != nil {
		return err
	}
	session := h.Get("Mcp-Session-Id")
	if session == "" {
		return errors.New("there is no session")
	}
	if err := t.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", session, "traceparent", parent); err != nil {
		return err
	}
	if _, err := t.exchange(http.MethodDelete, "", "Mcp-Session-Id", session); err != nil {
		return err
	}
	return t.send(`{`)
}

// scrape compares what Prometheus would get.
func (s *suite) scrape(t *process) {
	res, err := http.Get(t.metrics) //nolint:noctx // a command
	if err != nil {
		s.check("metrics are served", false, err)
		return
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	s.check("metrics are served", err == nil && res.StatusCode == http.StatusOK, err, res.Status)
	for _, line := range []string{
		`mcp_server_operation_duration_seconds_count{.*gen_ai_tool_name="getBook".*mcp_method_name="tools/call".*} 1`,
		`mcp_server_operation_duration_seconds_count{.*error_type="tool_error".*gen_ai_tool_name="getAway".*} 1`,
		`mcp_server_operation_duration_seconds_count{.*gen_ai_tool_name="_OTHER".*rpc_response_status_code="-32602".*} 1`,
		`mcp_server_session_duration_seconds_count{.*mcp_protocol_version="2025-11-25".*network_transport="tcp".*} 1`,
		`http_client_request_duration_seconds_count{.*http_response_status_code="503".*} 1`,
		`tenon_contract_violations_total{.*tenon_contract_verdict="violated".*} 1`,
		`tenon_http_refused_total{http_response_status_code="400"} 1`,
		`tenon_catalog_tools 3`,
	} {
		s.check("metric "+line, regexp.MustCompile(`(?m)^`+line+`$`).Match(text), "\n"+string(text))
	}
	s.check("no metric names a subject or an unknown tool", !bytes.Contains(text, []byte("no_such_tool")) && !bytes.Contains(text, []byte("alice")))
	if s.promtool == "" {
		fmt.Println("left out: promtool")
		return
	}
	cmd := exec.Command(s.promtool, "check", "metrics") //nolint:gosec,noctx // the caller names it
	cmd.Stdin = bytes.NewReader(text)
	said, err := cmd.CombinedOutput()
	s.check("promtool check metrics", err == nil && len(said) == 0, err, "\n"+string(said))
	s.dashboard()
}

// dashboard has promtool read the queries of the dashboard, as rules.
func (s *suite) dashboard() {
	text, err := os.ReadFile("deploy/grafana.json")
	if err != nil {
		s.check("the dashboard", false, err)
		return
	}
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	err = json.Unmarshal(text, &board)
	rules := "groups: [{name: g, rules: ["
	n := 0
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			n++
			expr, _ := json.Marshal(strings.ReplaceAll(q.Expr, "$__rate_interval", "5m"))
			rules += fmt.Sprintf("{record: \"r%d\", expr: %s},\n", n, expr)
		}
	}
	file := filepath.Join(s.work, "rules.yml")
	if err == nil {
		err = os.WriteFile(file, []byte(rules+"]}]"), 0o600)
	}
	said, failed := exec.Command(s.promtool, "check", "rules", file).CombinedOutput() //nolint:gosec,noctx // the caller names it
	s.check(fmt.Sprintf("promtool reads %d queries of the dashboard", n), err == nil && failed == nil && n > 10, err, "\n"+string(said))
}

// arrived compares what the collector printed.
func (s *suite) arrived(text string) {
	span := func(name string, wanted ...string) {
		for _, block := range splitSpans(text) {
			if !strings.Contains(block, "    Name           : "+name+"\n") {
				continue
			}
			missing := ""
			for _, w := range wanted {
				if !strings.Contains(block, w) {
					missing += "\n  " + w
				}
			}
			if missing == "" {
				s.check("span "+name, true)
				return
			}
			s.check("span "+name, false, missing, "\nin\n", block)
			return
		}
		s.check("span "+name, false, "not there")
	}
	span("tools/call getBook", "Kind           : Server", "Trace ID       : "+traceID, "Parent ID      : 00f067aa0ba902b7", "TraceState     : rojo=00f067aa0ba902b7",
		"mcp.method.name: Str(tools/call)", "mcp.protocol.version: Str(2026-07-28)", "jsonrpc.request.id: Str(call-7)", "gen_ai.operation.name: Str(execute_tool)", "gen_ai.tool.name: Str(getBook)",
		"network.transport: Str(tcp)", "network.protocol.name: Str(http)", "network.protocol.version: Str(1.1)", "client.address: Str(127.0.0.1)",
		"tenon.contract.verdict: Str(fits)", "tenon.contract.policy: Str(warn)", "tenon.executed: Str(yes)", `gen_ai.tool.call.arguments: Str({"password":"(secret)"})`, "gen_ai.tool.call.result: Str({", "Status code    : Unset")
	span("tools/call getAway", "error.type: Str(tool_error)", "Status code    : Error")
	span("tools/call getBroken", "tenon.contract.verdict: Str(violated)")
	span("tools/call", "gen_ai.tool.name: Str(no_such_tool)", "rpc.response.status_code: Str(-32602)", "Status code    : Unset")
	span("initialize", "mcp.method.name: Str(initialize)", "mcp.session.id: Str(", "mcp.protocol.version: Str(2025-11-25)")
	span("GET", "Kind           : Client", "http.request.method: Str(GET)", "server.address: Str(127.0.0.1)", "http.response.status_code: Int(200)")
	for _, want := range []string{
		"service.name: Str(books)", "deployment.environment.name: Str(test)",
		"Name: mcp.server.operation.duration", "Name: mcp.server.session.duration", "Name: http.client.request.duration", "Name: tenon.contract.violations", "Unit: s",
	} {
		s.check("the collector has "+want, strings.Contains(text, want))
	}
	s.check("the log arrives", strings.Contains(text, "LogRecord #"), "no record")
	s.check("no secret arrives", !strings.Contains(text, "hunter2"))
}

// splitSpans cuts the collector's text into one piece a span.
func splitSpans(text string) (all []string) {
	for _, part := range strings.Split(text, "\nSpan #")[1:] {
		if i := strings.Index(part, "\nResourceSpans"); i > 0 {
			part = part[:i]
		}
		all = append(all, part)
	}
	return all
}

// context compares the trace of the client with what the upstream and the audit log
// have.
func (s *suite) context(audit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, h := range s.seen {
		if strings.HasPrefix(h.Get("Traceparent"), "00-"+traceID+"-") {
			found = !strings.Contains(h.Get("Traceparent"), "00f067aa0ba902b7") && h.Get("Tracestate") == "rojo=00f067aa0ba902b7" && h.Get("Baggage") == ""
		}
	}
	s.check("the upstream has the trace, a span of its own and no baggage", found, s.seen)
	lines, err := os.ReadFile(audit)
	s.check("the audit log has the trace", err == nil && bytes.Contains(lines, []byte(`"trace_id":"`+traceID+`"`)), err, string(lines))
}

// auditOverOTLP sends the audit log to the collector.
func (s *suite) auditOverOTLP() error {
	receiver, stop, text, err := s.startCollector()
	if err != nil {
		return err
	}
	defer stop()
	t, err := s.startTenon([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + receiver, "OTEL_TRACES_SAMPLER=always_off"}, "--audit", "otlp", "--audit-required", "--audit-argument", "/password")
	if err != nil {
		return err
	}
	err = t.post("tools/call", "getBook", `"name":"getBook","arguments":{"password":"in clear"}`, `"traceparent":"`+parent+`"`)
	if err = errors.Join(err, t.stop()); err != nil {
		return err
	}
	stop()
	body := regexp.MustCompile(`Body: Str\((\{.*\})\)`).FindStringSubmatch(text())
	var line map[string]any
	s.check("a line of the audit log over OTLP", body != nil && json.Unmarshal([]byte(body[1]), &line) == nil && line["tool"] == "getBook" && line["trace_id"] == traceID, body)
	s.check("it has its event and its trace", strings.Contains(text(), "EventName: tenon.audit") && strings.Contains(text(), "Trace ID: "+traceID), text())
	s.check("no span is sent where the sampler takes none", !strings.Contains(text(), "Span #"))
	return nil
}

// receiverAway has nobody listen: calls go on, it is said once, and what was dropped
// is counted.
func (s *suite) receiverAway() error {
	nobody, err := freePort()
	if err != nil {
		return err
	}
	t, err := s.startTenon([]string{"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_METRIC_EXPORT_INTERVAL=100"}, "--otlp", "http://"+nobody, "--metrics", "127.0.0.1:0", "--drain", "1s")
	if err != nil {
		return err
	}
	const calls = 3000
	began := time.Now()
	for range calls {
		if err := t.post("tools/call", "getBook", `"name":"getBook"`, ""); err != nil {
			return errors.Join(err, t.stop())
		}
	}
	fmt.Printf("     %d calls without a receiver took %v\n", calls, time.Since(began).Round(time.Millisecond))
	res, err := http.Get(t.metrics) //nolint:noctx // a command
	if err != nil {
		return errors.Join(err, t.stop())
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	dropped := regexp.MustCompile(`(?m)^tenon_telemetry_dropped_total{tenon_signal="traces"} [1-9]`).Match(text)
	s.check("what is dropped is counted", err == nil && dropped, "\n"+string(text))
	began = time.Now()
	if err := t.stop(); err != nil {
		return err
	}
	s.check("the process ends within its drain", time.Since(began) < 5*time.Second, time.Since(began))
	for _, signal := range []string{"traces", "metrics"} {
		n := strings.Count(t.out.String(), "signal="+signal)
		s.check("it is said once that "+signal+" are not delivered", n == 1, n, "\n"+t.out.String())
	}
	return nil
}
