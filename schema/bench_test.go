package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/schema"
	schemaprojection "github.com/tenon-mcp/tenon/schema/projection"
)

const repositoryDoc = `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"full_name":{"type":"string"},
"private":{"type":"boolean"},"owner":{"$ref":"#/$defs/owner"},"html_url":{"type":"string","format":"uri"},"description":{"type":["string","null"]},
"fork":{"type":"boolean"},"created_at":{"type":"string"},"size":{"type":"integer","minimum":0},"score":{"type":"number"},
"topics":{"type":"array","items":{"type":"string"}},"license":{"anyOf":[{"$ref":"#/$defs/license"},{"type":"null"}]},
"visibility":{"type":"string","enum":["public","private","internal"]}},"required":["id","name","full_name","private","owner"],
"$defs":{"owner":{"type":"object","properties":{"login":{"type":"string"},"id":{"type":"integer"},"site_admin":{"type":"boolean"}},"required":["login","id"]},
"license":{"type":"object","properties":{"key":{"type":"string"},"name":{"type":"string"}},"required":["key"]}}}`

const repository = `{"id":1296269,"name":"Hello-World","full_name":"octocat/Hello-World","private":false,"owner":{"login":"octocat","id":1,"site_admin":false},` +
	`"html_url":"https://example.org/octocat/Hello-World","description":"This your first repo! \u00fcber gut","fork":false,"created_at":"2011-01-26T19:01:12Z",` +
	`"size":108,"score":0.75,"topics":["octocat","atom","electron","api"],"license":{"key":"mit","name":"MIT License"},"visibility":"public","unknown":null}`

func benchValidate(b *testing.B, doc, value string) {
	b.Helper()
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil || !s.Bytes() {
		b.Fatal(err)
	}
	v := []byte(value)
	if found := s.Validate(v); found != nil {
		b.Fatal(found)
	}
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		s.Validate(v)
	}
}

func BenchmarkValidate200B(b *testing.B) {
	benchValidate(b, `{"type":"object","properties":{"city":{"type":"string"},"temperature":{"type":"number"},"humidity":{"type":"integer"},`+
		`"conditions":{"type":"array","items":{"type":"string"}},"wind":{"type":"object","properties":{"speed":{"type":"number"},"direction":{"type":"string"}},`+
		`"required":["speed"]}},"required":["city","temperature"],"additionalProperties":false}`,
		`{"city":"Springfield","temperature":22.5,"humidity":61,"conditions":["partly cloudy","light rain in the evening"],"wind":{"speed":12.5,"direction":"north-north-west"}}`+strings.Repeat(" ", 30))
}

func BenchmarkValidate1KB(b *testing.B) {
	benchValidate(b, `{"type":"array","items":`+strings.ReplaceAll(repositoryDoc, "#/$defs/", "#/items/$defs/")+`}`, `[`+repository+`,`+repository+`]`)
}

func BenchmarkValidate50KB(b *testing.B) {
	benchValidate(b, `{"type":"array","items":`+strings.ReplaceAll(repositoryDoc, "#/$defs/", "#/items/$defs/")+`}`,
		`[`+strings.Repeat(repository+",", 89)+repository+`]`)
}

func BenchmarkViolated50KB(b *testing.B) {
	s, err := schema.Compile([]byte(`{"type":"array","items":`+strings.ReplaceAll(repositoryDoc, "#/$defs/", "#/items/$defs/")+`}`), schema.Options{})
	if err != nil {
		b.Fatal(err)
	}
	v := []byte(`[` + strings.Repeat(repository+",", 89) + `{}]`)
	for b.Loop() {
		if len(s.Validate(v)) != 5 {
			b.Fatal("it should lack five members")
		}
	}
}

// docOf makes a schema of about a size: objects with members of each kind.
func docOf(size int) []byte {
	doc := `{"type":"object","properties":{"root":{"$ref":"#/$defs/d0"}},"$defs":{`
	for i := 0; len(doc) < size; i++ {
		if i > 0 {
			doc += ","
		}
		doc += fmt.Sprintf(`"d%d":{"type":"object","description":"The definition with number %d, of which there are many.","properties":{"id":{"type":"integer"},`+
			`"name":{"type":"string","description":"What people call it."},"state":{"type":"string","enum":["open","closed","merged"]},`+
			`"tags":{"type":"array","items":{"type":"string"}},"owner":{"anyOf":[{"$ref":"#/$defs/d0"},{"type":"null"}]},"size":{"type":"integer","minimum":0}},"required":["id","name"]}`, i, i)
	}
	return []byte(doc + `}}`)
}

func BenchmarkCompile16KB(b *testing.B) {
	doc := docOf(16 << 10)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(doc, schema.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// records are 50 KB, as many answers of lists are.
func records() []byte {
	var v []byte
	for i := range 500 {
		v = fmt.Appendf(v, `,{"id":%d,"name":"a record with a name, number %d","score":%d.25,"active":true,"tags":["sea","voyage"]}`, i, i, i)
	}
	return append(append([]byte(`{"items":[`), v[1:]...), `]}`...)
}

const recordsDoc = `{"type":"object","required":["items"],"additionalProperties":false,"properties":{"items":{"type":"array","items":{"type":"object",` +
	`"required":["id","name","score","active","tags"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"name":{"type":"string","maxLength":100},` +
	`"score":{"type":"number"},"active":{"type":"boolean"},"tags":{"type":"array","items":{"enum":["sea","voyage"]}}}}}}}`

func BenchmarkValidateRecords(b *testing.B) { benchValidate(b, recordsDoc, string(records())) }

func BenchmarkProject50KB(b *testing.B) {
	for _, c := range []struct {
		name  string
		paths []string
	}{{"two of five", []string{"items[].id", "items[].name"}}, {"ends", []string{"items[].id", "items[].tags"}}, {"none", []string{"other"}}} {
		b.Run(c.name, func(b *testing.B) {
			p, err := schemaprojection.ParseProjection(c.paths...)
			if err != nil {
				b.Fatal(err)
			}
			v := records()
			dst := make([]byte, 0, len(v))
			b.SetBytes(int64(len(v)))
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = p.AppendValue(dst[:0], v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
