// Command typedecl makes what compilers judge the types of tools by: the modules of
// descriptions, literals of values that their schemas accept, and literals of values
// that they do not, broken at a place that every language can express.
//
//	typedecl -out DIR [-most N] [-step N] [NAME=]SPEC...
//
// It writes into DIR, for each description NAME.ts, NAME.py, NAME_good and NAME_bad of
// both, and counts.json, which says how many literals there are; each is on a line of
// its own. With -cases FILE it writes the type of each case of the table instead.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/typedecl"
	"github.com/tenon-mcp/tenon/schema"
)

func main() {
	out := flag.String("out", "", "folder to write to")
	most := flag.Int("most", 200, "tools of a description whose values are tried")
	perSchema := flag.Int("values", 2, "values of each schema")
	cases := flag.String("cases", "", "file of the cases of the table")
	flag.Parse()
	if *cases != "" {
		if err := writeCases(*cases); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	failed := false
	for _, lang := range []string{typedecl.LanguageTypeScript, typedecl.LanguagePython} {
		file, text := typedecl.Runtime(lang)
		failed = write(*out, file, text) != nil || failed
	}
	counts := map[string]count{}
	for _, spec := range flag.Args() {
		w := writer{out: *out, most: *most, perSchema: *perSchema}
		name, err := w.one(spec)
		if err != nil { // a document may be no description, or have no operations
			fmt.Printf("left out: %s: %v\n", spec, err)
			continue
		}
		counts[name] = w.count
	}
	text, err := json.MarshalIndent(counts, "", " ")
	if err != nil || write(*out, "counts.json", text) != nil || failed || len(counts) < flag.NArg()*9/10 {
		os.Exit(1)
	}
}

func write(folder, name string, text []byte) error {
	return os.WriteFile(filepath.Join(folder, name), text, 0o600)
}

// count says what was written of a description.
type count struct {
	Tools int `json:"tools"`
	Good  int `json:"good"`
	Bad   int `json:"bad"`
}

// writer writes the files of a description.
type writer struct {
	out             string
	most, perSchema int
	count           count
	literals        []literal
}

// literal is a value with the type that it is given.
type literal struct {
	tool  int
	args  bool
	value []byte
	good  bool
}

func (w *writer) one(spec string) (name string, err error) {
	c := app.NewConfig()
	c.Defaults.MaxInputSchema, c.Defaults.MaxOutputSchema = -1, -1
	c.AddSpec(spec)
	a, err := app.New(context.Background(), c, app.Env{Logger: slog.New(slog.DiscardHandler), Getenv: os.LookupEnv, OnDemand: true, DryRun: true})
	if err != nil {
		return "", err
	}
	defer a.Close()
	set := typedecl.NewSet(false)
	tools := a.Gateway.Catalog().Tools()
	for _, t := range tools {
		if t.BuiltIn() {
			continue
		}
		name = t.Source()
		d, err := t.Declared()
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.Name(), err)
		}
		if chosen(t.Name(), len(tools), w.most) {
			w.values(set.Len(), true, d.Input)
			w.values(set.Len(), false, d.Data)
		}
		set.Add(typedecl.Tool{Name: t.Name(), Description: t.Tool().Description, Input: d.Input, Data: d.Data, Within: d.Within})
	}
	if set.Len() == 0 {
		return "", errors.New("there are no tools")
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, "m_"+name)
	w.count.Tools = set.Len()
	return name, w.files(name, set)
}

// chosen picks about most of all tools, always the same ones.
func chosen(name string, all, most int) bool {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	return int(h.Sum32()%uint32(max(all, 1))) < most //nolint:gosec // a count
}

// values makes values of a schema, and broken ones.
func (w *writer) values(tool int, args bool, doc []byte) {
	if doc == nil {
		return
	}
	s, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		return
	}
	for _, v := range valuesOf(s, w.perSchema, int64(tool)) {
		w.literals = append(w.literals, literal{tool, args, v, true})
	}
	for _, v := range brokenOf(s, w.perSchema, int64(tool)) {
		w.literals = append(w.literals, literal{tool, args, v, false})
	}
}

// files writes the modules and the literals.
func (w *writer) files(name string, set *typedecl.Set) error {
	ts, python := set.TypeScript(name), set.Python(name)
	functions, pythons := set.Functions(typedecl.LanguageTypeScript), set.Functions(typedecl.LanguagePython)
	var goodTS, badTS, goodPy, badPy strings.Builder
	for _, b := range []*strings.Builder{&goodTS, &badTS} {
		b.WriteString("import type * as m from \"./" + name + ".js\";\n")
	}
	for _, b := range []*strings.Builder{&goodPy, &badPy} {
		b.WriteString("# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false\nimport " + name + " as m\n")
	}
	for i, l := range w.literals {
		f, p := functions[l.tool], pythons[l.tool]
		typeTS, typePy := f.Data, p.Data
		if l.args {
			typeTS, typePy = f.Args, p.Args
		}
		if typeTS == "" || typePy == "" {
			continue
		}
		toTS, toPy := &goodTS, &goodPy
		if l.good {
			w.count.Good++
		} else {
			toTS, toPy = &badTS, &badPy
			w.count.Bad++
		}
		fmt.Fprintf(toTS, "export const v%d: m.%s = %s; // %s\n", i, typeTS, literalTS(l.value), strings.Join(strings.Fields(f.Name), " "))
		fmt.Fprintf(toPy, "v%d: m.%s = %s  # %s\n", i, typePy, literalPython(l.value), p.Name)
	}
	for file, text := range map[string][]byte{
		name + ".ts": ts, name + ".py": python,
		name + "_good.ts": []byte(goodTS.String()), name + "_bad.ts": []byte(badTS.String()), name + "_good.py": []byte(goodPy.String()), name + "_bad.py": []byte(badPy.String()),
	} {
		if err := write(w.out, file, text); err != nil {
			return err
		}
	}
	return nil
}

// literalTS is JSON as an expression of TypeScript, where a key __proto__ would set
// the prototype.
func literalTS(value []byte) string {
	text := strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(value))
	return strings.ReplaceAll(text, `"__proto__":`, `["__proto__"]:`)
}

// literalPython is JSON as an expression of Python.
func literalPython(value []byte) string {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return "None"
	}
	var b strings.Builder
	appendPython(&b, doc, doc.Root())
	return b.String()
}

func appendPython(b *strings.Builder, doc *rawjson.Doc, n rawjson.Node) {
	switch doc.Kind(n) {
	case rawjson.Null:
		b.WriteString("None")
	case rawjson.Bool:
		if doc.IsTrue(n) {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case rawjson.Array:
		b.WriteByte('[')
		for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
			appendPython(b, doc, c)
			b.WriteString(", ")
		}
		b.WriteByte(']')
	case rawjson.Object:
		b.WriteByte('{')
		for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
			b.Write(rawjson.AppendString(nil, doc.Key(c)))
			b.WriteString(": ")
			appendPython(b, doc, c)
			b.WriteString(", ")
		}
		b.WriteByte('}')
	case rawjson.String:
		b.Write(rawjson.AppendString(nil, doc.Str(n)))
	case rawjson.Number:
		b.Write(doc.Raw(n))
	case rawjson.Invalid:
	}
}

// writeCases prints, for each case of the table, its module.
func writeCases(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var cases []struct {
		Name   string
		Schema json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		return err
	}
	modules := map[string]map[string]string{}
	for _, c := range cases {
		set := typedecl.NewSet(false)
		set.Add(typedecl.Tool{Name: "t", Data: c.Schema})
		modules[c.Name] = map[string]string{"ts": string(set.TypeScript("case")), "python": string(set.Python("case"))}
	}
	return json.NewEncoder(os.Stdout).Encode(modules)
}
