// Command describe counts the tokens of descriptions of tools in search mode, by
// o200k_base, over whole documents:
//
//	describe [-strict] DOCUMENT...
//
// It fails where a description has more than 3,000 tokens, or where a name that one
// leaves out cannot be asked for. Of every tool the description is asked for, then each
// name that it leaves out, to the end.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tiktoken-go/tokenizer"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/search"
)

const (
	most     = 3000 // tokens of a description
	mostAsks = 2000 // of one tool
)

func main() {
	strict := flag.Bool("strict", false, "arguments are those of strict modes: all required, without references")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: describe [-strict] DOCUMENT...")
		os.Exit(2)
	}
	fmt.Println("| document | tools | mean | largest | names left out | largest of these | failures |\n|---|---:|---:|---:|---:|---:|---:|")
	failed := false
	for _, doc := range flag.Args() {
		n, err := examine(doc, *strict)
		if err != nil {
			fmt.Fprintln(os.Stderr, "describe:", doc+":", err)
			os.Exit(1)
		}
		failed = failed || n > 0
	}
	if failed {
		os.Exit(1)
	}
}

func examine(doc string, strict bool) (failures int, err error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return 0, err
	}
	offer, err := openapi.New(doc, openapi.Options{BaseURL: "https://api.example.com"}).Load(context.Background())
	if err != nil {
		return 0, err
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "api", Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOn})
	if strict {
		catalog = catalog.Adapted(&gateway.Profile{Name: "strict", MaxInput: 32 << 10, Input: gateway.SchemaRules{Inline: true, NoOneOf: true, Closed: true, AllRequired: true}})
	}
	x := &examination{codec: codec, gateway: gateway.New(search.Wrap(catalog), gateway.Options{})}
	var names []string
	for _, t := range catalog.Tools() {
		if !t.BuiltIn() {
			names = append(names, t.Name())
		}
	}
	for _, name := range names {
		x.tool(name)
	}
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %d |\n", filepath.Base(doc), len(names), x.whole.sum/max(x.whole.count, 1), x.whole.largest,
		x.parts.count, x.parts.largest, len(x.failures))
	for _, f := range x.failures[:min(len(x.failures), 20)] {
		fmt.Fprintln(os.Stderr, f)
	}
	return len(x.failures), nil
}

// examination asks for descriptions and counts.
type examination struct {
	codec        tokenizer.Codec
	gateway      *gateway.Gateway
	whole, parts tally // of tools, of names that they leave out
	failures     []string
}

// tally are numbers of tokens.
type tally struct{ count, sum, largest int }

func (t *tally) add(n int) {
	t.count++
	t.sum += n
	t.largest = max(t.largest, n)
}

func (x *examination) fail(format string, args ...any) {
	x.failures = append(x.failures, fmt.Sprintf(format, args...))
}

// tool asks for a tool, what its description leaves out, and what that leaves out.
func (x *examination) tool(name string) {
	text := x.describe(name, nil, &x.whole)
	seen := map[string]bool{}
	queue := x.left(name, text)
	for i := 0; i < len(queue) && i < mostAsks; i++ {
		one := queue[i]
		if seen[one] {
			continue
		}
		seen[one] = true
		text := x.describe(name, []string{one}, &x.parts)
		if !strings.HasPrefix(text, "type ") {
			x.fail("%s, %s: it is not declared: %.200s", name, one, text)
		}
		queue = append(queue, x.left(name+", "+one, text)...)
	}
}

// describe asks for a description.
func (x *examination) describe(name string, types []string, counted *tally) string {
	args, err := json.Marshal(map[string]any{"tool": name, "types": append([]string{}, types...)})
	if err != nil {
		x.fail("%s: %v", name, err)
		return ""
	}
	res, err := x.gateway.Call(context.Background(), &tenon.Call{Tool: "describe_tool", Args: args})
	var text string
	switch {
	case err != nil:
		x.fail("%s %s: %v", name, types, err)
		return ""
	case res.IsError || json.Unmarshal(res.Value, &text) != nil:
		x.fail("%s %s: %s %s", name, types, res.Message, res.Value)
		return ""
	}
	n, err := x.codec.Count(text)
	if err != nil {
		x.fail("%s %s: %v", name, types, err)
	}
	if counted.add(n); n > most {
		x.fail("%s %s has %d tokens", name, types, n)
	}
	return text
}

// What a description says that it leaves out.
var (
	types   = regexp.MustCompile(`(?m)^// Not shown, ask for them by name: (.*)$`)
	one     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S+`)
	members = regexp.MustCompile(`(?m)// and (\d+) more, ask for (.*)\.NAME:(.*)$`)
)

// left are the names that a description leaves out.
func (x *examination) left(what, text string) (names []string) {
	if found := types.FindStringSubmatch(text); found != nil {
		names = strings.Split(found[1], ", ")
	}
	for _, found := range members.FindAllStringSubmatch(text, -1) {
		listed := one.FindAllString(found[3], -1)
		if fmt.Sprint(len(listed)) != found[1] {
			x.fail("%s: of %s members of %s that are left out %d are named", what, found[1], found[2], len(listed))
		}
		for _, m := range listed {
			if plain, err := strconv.Unquote(m); err == nil {
				m = plain
			}
			names = append(names, found[2]+"."+m)
		}
	}
	return names
}
