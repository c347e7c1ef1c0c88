package library_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

func TestOutputsAreInferred(t *testing.T) {
	for name, tt := range map[string]struct {
		samples []string
		want    string
	}{
		"types, null and what differs": {
			[]string{`{"a":1,"b":null,"c":"x","d":[],"e":1}`, `{"a":1.5,"b":"y","d":[{"f":true}],"e":"1","g":null}`},
			`{"mimeType":"application/json","schema":{"type":"object","description":"","properties":{"a":{"type":"number","description":""},"b":{"type":"string","description":"","nullable":true},` +
				`"c":{"type":"string","description":""},"d":{"type":"array","description":"","items":{"type":"object","description":"","properties":{"f":{"type":"boolean","description":""}}}}}}}`,
		},
		"not deeper than the format": {
			[]string{`{"a":{"b":{"c":{"d":1}}}}`},
			`{"mimeType":"application/json","schema":{"type":"object","description":"","properties":{"a":{"type":"object","description":"","properties":{"b":{"type":"object","description":"","properties":{"c":{"type":"object","description":""}}}}}}}}`,
		},
		"texts":                    {[]string{`"a"`, `"b"`}, `{"mimeType":"text/plain","schema":{"type":"string","description":""}}`},
		"mixed":                    {[]string{`"a"`, `{}`}, ``},
		"pictures":                 {[]string{`"iVBORw0KGgoAAf8="`, `"iVBORw0K"`}, `{"mimeType":"image/png","schema":{"type":"string","format":"base64","description":""}}`},
		"pictures of another kind": {[]string{`"/9j/4AAQSkZJRg=="`}, ``},
		"pictures and texts":       {[]string{`"iVBORw0KGgoAAf8="`, `"no picture"`}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var samples [][]byte
			for _, s := range tt.samples {
				samples = append(samples, []byte(s))
			}
			got, err := library.InferOutput(samples...)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || (err == nil) != (tt.want != "") {
				t.Error(diff, err)
			}
		})
	}
}
