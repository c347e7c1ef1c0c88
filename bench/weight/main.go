// Command weight prints how many tokens the tool lists of OpenAPI documents take,
// with and without output schemas, beside other servers:
//
//	weight TENON PYTHON NODE_FOLDER DOCUMENT...
//
// PYTHON has the package fastmcp, NODE_FOLDER the packages openapi-mcp-generator and
// @ivotoby/openapi-mcp-server. A server that cannot be run is named with the reason.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/tiktoken-go/tokenizer"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: weight TENON PYTHON NODE_FOLDER DOCUMENT...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

func run(tenon, python, folder string, documents []string) error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	fmt.Println("Tokens of tools/list by o200k_base, without white space between tokens of JSON.")
	fmt.Println("\n| document | server | tools | tokens | of them output schemas | without |\n|---|---|---:|---:|---:|---:|")
	for _, doc := range documents {
		list := []string{tenon, "tools", "--json", "--describe", "off"}
		servers := []struct {
			name string
			line []string
		}{
			{"tenon", append(slices.Clip(list), doc)},
			{"tenon --output-schemas off", append(slices.Clip(list), "--output-schemas", "off", doc)},
			{"fastmcp", []string{python, "weight/from_fastmcp.py", doc}},
			{"openapi-mcp-generator", []string{"node", "weight/peers.mjs", folder, "openapi-mcp-generator", doc}},
			{"@ivotoby/openapi-mcp-server", []string{"node", "weight/peers.mjs", folder, "@ivotoby/openapi-mcp-server", doc}},
		}
		for _, s := range servers {
			w, err := weigh(codec, s.line)
			if err != nil {
				fmt.Printf("| %s | %s | none: %v | | | |\n", filepath.Base(doc), s.name, err)
				continue
			}
			fmt.Printf("| %s | %s | %d | %d | %d | %d |\n", filepath.Base(doc), s.name, w.tools, w.tokens, w.tokens-w.without, w.without)
		}
	}
	return nil
}

type weight struct{ tools, tokens, without int }

// weigh runs a command that prints a list of tools, or an object that has one, and
// counts its tokens.
func weigh(codec tokenizer.Codec, line []string) (w weight, err error) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return w, fmt.Errorf("%w: %s", err, reason(problems.Bytes()))
	}
	var object struct{ Tools []map[string]json.RawMessage }
	if json.Unmarshal(out, &object) != nil {
		if err := json.Unmarshal(out, &object.Tools); err != nil {
			return w, err
		}
	}
	if w.tools = len(object.Tools); w.tools == 0 {
		return w, fmt.Errorf("it lists no tools")
	}
	if w.tokens, err = count(codec, object.Tools); err != nil {
		return w, err
	}
	for _, t := range object.Tools {
		delete(t, "outputSchema")
	}
	w.without, err = count(codec, object.Tools)
	return w, err
}

// count counts tool by tool, so that memory is bounded by the largest.
func count(codec tokenizer.Codec, tools []map[string]json.RawMessage) (n int, err error) {
	for _, t := range tools {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(t); err != nil {
			return 0, err
		}
		ids, _, err := codec.Encode(text.String())
		if err != nil {
			return 0, err
		}
		n += len(ids)
	}
	return n, nil
}

// reason is the first line that speaks of an error, else the last.
func reason(text []byte) []byte {
	const most = 200
	var line []byte
	for line = range bytes.Lines(bytes.TrimSpace(text)) {
		if bytes.Contains(line, []byte("Error")) {
			break
		}
	}
	line = bytes.TrimSpace(line)
	return line[:min(len(line), most)]
}
