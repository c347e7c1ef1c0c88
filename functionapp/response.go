package functionapp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Response is a worker's response to an invocation.
type Response struct {
	Outputs     []byte   // JSON object with values of output bindings; nil: {}
	Logs        []string // lines for the host's log; when parsed, limited to the first ones with their total
	ReturnValue []byte   // JSON; nil: null
}

// Append writes r.
func (r Response) Append(dst []byte) []byte {
	outputs, value := r.Outputs, r.ReturnValue
	if outputs == nil {
		outputs = []byte("{}")
	}
	if value == nil {
		value = []byte("null")
	}
	return Object{
		{Key: "Outputs", Value: outputs},
		{Key: "Logs", Value: appendStrings(nil, r.Logs)},
		{Key: "ReturnValue", Value: value},
	}.Append(dst)
}

// ReadResponse parses a worker's response. Keys are matched ignoring case;
// unknown ones are ignored.
func ReadResponse(body []byte) (Response, error) {
	o, err := parseObject(rawjson.WithoutMark(body), "the worker's answer")
	if err != nil {
		return Response{}, err
	}
	r := Response{Outputs: o.Get("Outputs"), ReturnValue: o.Get("ReturnValue")}
	switch {
	case string(r.Outputs) == "{}":
		r.Outputs = nil
	case r.Outputs != nil && r.Outputs[0] != '{':
		return r, o.bad("Outputs", "must be an object")
	}
	logs := o.Get("Logs")
	if logs == nil {
		return r, nil
	}
	if logs[0] != '[' {
		return r, o.bad("Logs", "must be a list of lines")
	}
	more, last := 0, ""
	for line := range rawjson.Elements(logs) {
		switch {
		case len(r.Logs) < maxLogs-1:
			r.Logs = append(r.Logs, logLine(line))
		case more == 0:
			last = logLine(line)
			fallthrough
		default:
			more++
		}
	}
	switch more {
	case 0:
	case 1:
		r.Logs = append(r.Logs, last)
	default:
		r.Logs = append(r.Logs, fmt.Sprintf("%d more lines were left out", more))
	}
	return r, nil
}

// Limits of the log in a response. A line may be as long as one in a worker's
// output.
const (
	maxLogs    = 1000
	maxLogLine = 8 << 10
	cutSign    = "…"
)

func logLine(line []byte) string {
	text := string(line)
	if line[0] == '"' {
		text = unquote(line)
	}
	if len(text) > maxLogLine {
		return strings.ToValidUTF8(text[:maxLogLine-len(cutSign)], "") + cutSign
	}
	return text
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
