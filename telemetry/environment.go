package telemetry

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// secretNames are what members are called whose values are secrets.
var secretNames = regexp.MustCompile(`(?i)authorization|cookie|token|secret|passw|credential|api[-_]?key|private[-_]?key`)

// Environment completes o with the variables that OpenTelemetry defines. What o says
// already counts more.
func (o *Options) Environment(getenv func(string) (string, bool)) error {
	get := func(name string) string { v, _ := getenv(name); return strings.TrimSpace(v) }
	if disabled := get("OTEL_SDK_DISABLED"); strings.EqualFold(disabled, "true") {
		o.Endpoint = ""
		return nil
	}
	if o.Endpoint == "" {
		o.Endpoint = get("OTEL_EXPORTER_OTLP_ENDPOINT")
		if p := get("OTEL_EXPORTER_OTLP_PROTOCOL"); o.Endpoint != "" && p != "" && p != "http/protobuf" {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and only http/protobuf is spoken", p)
		}
	}
	if o.Endpoint != "" {
		if u, err := url.Parse(o.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return fmt.Errorf("the receiver of OTLP is an http or https URL without user and query, such as http://127.0.0.1:4318")
		}
	}
	for _, s := range []Signal{Traces, Measurements, Logs} {
		switch v := get("OTEL_" + strings.ToUpper(string(s)) + "_EXPORTER"); v {
		case "none":
			o.Without = append(o.Without, s)
		case "", "otlp":
		default:
			return fmt.Errorf("OTEL_%s_EXPORTER is %q, and only otlp and none are known", strings.ToUpper(string(s)), v)
		}
	}
	var err error
	if o.Headers == nil {
		if o.Headers, err = ParsePairs(get("OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
		}
	}
	if o.Resource, err = ParsePairs(get("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	o.Name = cmp.Or(get("OTEL_SERVICE_NAME"), o.Resource["service.name"], o.Name)
	delete(o.Resource, "service.name")
	if err := o.samplerOf(get); err != nil {
		return err
	}
	if o.SpanDelay, err = milliseconds(get, "OTEL_BSP_SCHEDULE_DELAY", o.SpanDelay); err != nil {
		return err
	}
	o.MetricInterval, err = milliseconds(get, "OTEL_METRIC_EXPORT_INTERVAL", o.MetricInterval)
	return err
}

func (o *Options) samplerOf(get func(string) string) error {
	if o.Sampler != "" {
		return nil
	}
	o.Sampler, o.Ratio = get("OTEL_TRACES_SAMPLER"), 1
	if arg := get("OTEL_TRACES_SAMPLER_ARG"); arg != "" && strings.HasSuffix(o.Sampler, "traceidratio") {
		var err error
		if o.Ratio, err = strconv.ParseFloat(arg, 64); err != nil {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is a share such as 0.01, not %q", clip(arg))
		}
	}
	return nil
}

func milliseconds(get func(string) string, name string, otherwise time.Duration) (time.Duration, error) {
	text := get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s is a number of milliseconds, not %q", name, clip(text))
	}
	return time.Duration(n) * time.Millisecond, nil
}

// ParsePairs reads NAME=VALUE,NAME=VALUE with percent-encoded values, as
// OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES have them; a line may end
// in place of a comma. Its error does not repeat a value, which may be a secret.
func ParsePairs(text string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil || strings.ContainsAny(name+value, "\r\n\x00") {
			return nil, fmt.Errorf("not NAME=VALUE,NAME=VALUE with percent-encoded values")
		}
		all[name] = value
	}
	return all, nil
}

// url is where a signal goes.
func (o *Options) url(path string) string { return strings.TrimSuffix(o.Endpoint, "/") + "/" + path }
