package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validators compile schemas, each distinct one once.
type validators struct {
	names  string            // who compiles, with versions
	seen   map[string]bool   // in this run
	known  map[string]string // what is wrong with it, from this run or an earlier one
	ledger io.Writer         // gets a line for each schema that was not known
	lines  *bufio.Reader     // of the ledger, those that others write meanwhile included
	half   string            // a line that is not at its end yet
	node   *exec.Cmd
	to     io.WriteCloser
	from   *bufio.Reader
}

//go:embed ajv.mjs
var ajvProgram string

// newValidators starts Ajv where folder has it. What an earlier run wrote to
// the ledger is not worked out again.
func newValidators(folder string, ledger io.ReadWriter) (*validators, error) {
	v := &validators{names: "santhosh", seen: map[string]bool{}, known: map[string]string{}, ledger: ledger, lines: bufio.NewReader(ledger)}
	if folder == "" {
		return v, nil
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "node_modules", "ajv", "package.json"))
	if err != nil {
		return nil, err
	}
	var ajv struct{ Version string }
	if err := json.Unmarshal(manifest, &ajv); err != nil {
		return nil, err
	}
	v.names = "santhosh, Ajv " + ajv.Version + " as draft-07 and as 2020-12"
	v.node = exec.Command("node", "--max-old-space-size=4096", "--max-semi-space-size=64", "--input-type=module", "-e", ajvProgram)
	v.node.Dir = folder
	if v.to, err = v.node.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := v.node.StdoutPipe()
	if err != nil {
		return nil, err
	}
	v.from = bufio.NewReader(out)
	return v, v.node.Start()
}

// read reads what the ledger has got since it was last read.
func (v *validators) read() {
	for {
		text, err := v.lines.ReadString('\n')
		v.half += text
		if err != nil {
			return
		}
		if sum, bad, ok := strings.Cut(strings.TrimSuffix(v.half, "\n"), " "); ok {
			v.known[sum] = bad
		}
		v.half = ""
	}
}

// check compiles a schema and says what is wrong with it. fresh is false where
// this run had the same bytes before.
func (v *validators) check(doc []byte) (fresh bool, bad string) {
	hash := sha256.New()
	_, _ = io.WriteString(hash, v.names+"\n") // what others said of it says nothing
	_, _ = hash.Write(doc)
	sum := hex.EncodeToString(hash.Sum(nil))
	fresh = !v.seen[sum]
	v.seen[sum] = true
	bad, known := v.known[sum]
	if !known {
		v.read()
		bad, known = v.known[sum]
	}
	if known {
		return fresh, bad
	}
	if bad = bySanthosh(doc); bad == "" {
		bad = v.byAjv(doc)
	}
	v.known[sum] = bad
	if _, err := fmt.Fprintf(v.ledger, "%s %s\n", sum, strings.ReplaceAll(bad, "\n", " ")); err != nil {
		panic(err)
	}
	return fresh, bad
}

func bySanthosh(doc []byte) string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return "santhosh: " + err.Error()
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", value); err != nil {
		return "santhosh: " + err.Error()
	}
	if _, err := c.Compile("tool.json"); err != nil {
		return "santhosh: " + err.Error()
	}
	return ""
}

// byAjv sends one line and reads one: empty, or what is wrong.
func (v *validators) byAjv(doc []byte) string {
	if v.node == nil {
		return ""
	}
	if _, err := v.to.Write(append(doc[:len(doc):len(doc)], '\n')); err != nil {
		panic(fmt.Sprint("Ajv has ended: ", err))
	}
	line, err := v.from.ReadString('\n')
	if err != nil {
		panic(fmt.Sprint("Ajv has ended: ", err))
	}
	return strings.TrimSpace(line)
}

func (v *validators) close() error {
	if v.node == nil {
		return nil
	}
	if err := v.to.Close(); err != nil {
		return err
	}
	return v.node.Wait()
}
