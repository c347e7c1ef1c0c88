package library

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// InferOutput infers the output block of a tool from sample responses: JSON, as
// in member data of the envelope. What the format cannot express is left out.
func InferOutput(samples ...[]byte) ([]byte, error) {
	switch pictures, png := countPictures(samples); {
	case png > 0 && png == len(samples):
		return []byte(`{"mimeType":"image/png","schema":{"type":"string","format":"base64","description":""}}`), nil
	case pictures > 0:
		return nil, errors.New("some responses are images, but not all are PNG, the only image type of the format")
	}
	inferred, err := sample.Infer(samples...)
	if err != nil {
		return nil, err
	}
	doc, err := rawjson.Parse(inferred)
	if err != nil {
		return nil, err
	}
	kind, _ := outputType(doc, doc.Root())
	mime := "application/json"
	switch kind {
	case "object", "array":
	case "string":
		mime = "text/plain"
	default:
		return nil, errors.New("the responses are not all objects, all arrays or all strings")
	}
	dst := append([]byte(`{"mimeType":"`+mime+`","schema":`), inferNode(nil, doc, doc.Root(), 1)...)
	return append(dst, '}'), nil
}

// countPictures counts the samples that are images, and the PNG images among
// them. Binary data is base64 in the envelope.
func countPictures(samples [][]byte) (pictures, png int) {
	for _, s := range samples {
		text, ok := jsonString(s)
		b, err := base64.StdEncoding.DecodeString(text)
		switch {
		case !ok || err != nil:
		case bytes.HasPrefix(b, []byte("\x89PNG")):
			png++
			pictures++
		case strings.HasPrefix(http.DetectContentType(b), "image/"):
			pictures++
		}
	}
	return pictures, png
}

// outputType returns the single type of a node and whether it is nullable; ""
// where the format cannot express it.
func outputType(doc *rawjson.Doc, at rawjson.Node) (kind string, nullable bool) {
	var kinds []string
	types := doc.Get(at, "type")
	if doc.Kind(types) == rawjson.String {
		kinds = []string{doc.Str(types)}
	}
	for n := doc.First(types); doc.Kind(types) == rawjson.Array && n != rawjson.None; n = doc.Next(n) {
		kinds = append(kinds, doc.Str(n))
	}
	for _, k := range kinds {
		if k == "integer" {
			k = "number"
		}
		switch {
		case k == "null":
			nullable = true
		case kind == "":
			kind = k
		case kind != k:
			return "", nullable
		}
	}
	return kind, nullable
}

func inferNode(dst []byte, doc *rawjson.Doc, at rawjson.Node, depth int) []byte {
	kind, nullable := outputType(doc, at)
	dst = append(dst, `{"type":"`+kind+`","description":""`...)
	if nullable {
		dst = append(dst, `,"nullable":true`...)
	}
	said := func(n rawjson.Node) bool {
		k, _ := outputType(doc, n)
		return k != ""
	}
	if kind == "object" && depth < format.MaxOutputDepth {
		dst = append(dst, `,"properties":{`...)
		separator := ""
		properties := doc.Get(at, "properties")
		for n := doc.First(properties); n != rawjson.None; n = doc.Next(n) {
			if !said(n) {
				continue
			}
			dst = append(rawjson.AppendString(append(dst, separator...), doc.Key(n)), ':')
			dst = inferNode(dst, doc, n, depth+1)
			separator = ","
		}
		dst = append(dst, '}')
	}
	if items := doc.Get(at, "items"); kind == "array" && items != rawjson.None && said(items) {
		dst = append(dst, `,"items":`...)
		dst = inferNode(dst, doc, items, depth)
	}
	return append(dst, '}')
}

// Answer is the data with which a tool answered a call; nil: it failed.
type Answer struct {
	Tool string
	Data []byte
}

// InferFrom infers the output blocks of all tools that answered, in order of
// appearance. Failed calls are skipped.
func InferFrom(answers []Answer) []Inferred {
	var names []string
	samples := map[string][][]byte{}
	for _, a := range answers {
		if !slices.Contains(names, a.Tool) {
			names = append(names, a.Tool)
		}
		if a.Data != nil {
			samples[a.Tool] = append(samples[a.Tool], a.Data)
		}
	}
	var all []Inferred
	for _, name := range names {
		i := Inferred{Name: name, Samples: len(samples[name])}
		if i.Samples > 0 {
			i.Output, i.Err = InferOutput(samples[name]...)
		}
		all = append(all, i)
	}
	return all
}

// Inferred is the output block of one tool.
type Inferred struct {
	Name    string
	Samples int
	Output  []byte // nil without samples
	Err     error
}

// jsonString returns the text of a JSON string.
func jsonString(raw []byte) (text string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return text, ok
}
