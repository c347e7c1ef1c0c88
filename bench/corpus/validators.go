package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	_ "embed"
)

// validators compile schemas, each distinct one once.
type validators struct {
	seen map[[32]byte]string // what is wrong with it
	node *exec.Cmd
	to   io.WriteCloser
	from *bufio.Reader
}

//go:embed ajv.mjs
var ajvProgram string

// newValidators starts Ajv where folder has it.
func newValidators(folder string) *validators {
	v := &validators{seen: map[[32]byte]string{}}
	if folder == "" {
		return v
	}
	v.node = exec.Command("node", "--max-old-space-size=4096", "--input-type=module", "-e", ajvProgram)
	v.node.Dir = folder
	var err error
	if v.to, err = v.node.StdinPipe(); err != nil {
		panic(err)
	}
	out, err := v.node.StdoutPipe()
	if err != nil {
		panic(err)
	}
	v.from = bufio.NewReader(out)
	if err := v.node.Start(); err != nil {
		panic(err)
	}
	return v
}

// check compiles a schema and says what is wrong with it. fresh is false where
// the same bytes were checked before.
func (v *validators) check(doc []byte) (fresh bool, bad string) {
	sum := sha256.Sum256(doc)
	if bad, known := v.seen[sum]; known {
		return false, bad
	}
	if bad = bySanthosh(doc); bad == "" {
		bad = v.byAjv(doc)
	}
	v.seen[sum] = bad
	return true, bad
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
