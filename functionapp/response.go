package functionapp

import (
	"maps"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Response is what a worker answers to an invocation.
type Response struct {
	Outputs     []byte   // JSON object with the values of output bindings; nil: {}
	Logs        []string // lines for the host's log
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

// ReadResponse reads the body of a worker's answer. The case of its keys does
// not count and unknown ones are ignored.
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
	doc, err := rawjson.Parse(logs)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Array {
		return r, o.bad("Logs", "must be a list of lines")
	}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) == rawjson.String {
			r.Logs = append(r.Logs, doc.Str(n))
			continue
		}
		r.Logs = append(r.Logs, string(doc.Raw(n)))
	}
	return r, nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
