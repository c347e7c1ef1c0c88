//go:build amd64 || arm64

package sandbox

import (
	"time"

	"modernc.org/quickjs"
)

// Engine is an engine whose JSON is read and written in both ways.
type Engine struct {
	vm *quickjs.VM
	e  *engine
}

// NewEngine starts one, which Close ends. Known is false where there is one way
// alone.
func NewEngine() (e *Engine, known bool) {
	vm, err := quickjs.NewVM()
	if err != nil {
		panic(err)
	}
	vm.SetMaxStackSize(maxStack)
	e = &Engine{vm, newEngine(vm)}
	return e, e.e != nil
}

// Limit caps the memory of the engine.
func (e *Engine) Limit(bytes uintptr) { e.vm.SetMemoryLimit(bytes) }

// Hasten puts the host's ways before functions of the engine, and returns how
// many.
func (e *Engine) Hasten() int {
	e.e.hasten()
	return len(e.e.natives)
}

// JSON is the value of an expression, as JSON.stringify has it.
func (e *Engine) JSON(expression string) (string, error) {
	v, err := e.vm.EvalValue("("+expression+")", quickjs.EvalGlobal)
	if err != nil {
		return "", err
	}
	defer v.Free()
	return e.text(v), nil
}

// Close ends the engine.
func (e *Engine) Close() error { return e.vm.Close() }

// Read makes values of a text, with the host's reader and with JSON.parse, and
// writes both with JSON.stringify. Taken is false where the reader leaves the
// text to JSON.parse.
func (e *Engine) Read(text []byte) (host, engine string, taken bool, err error) {
	v, taken := e.e.read(text)
	if taken {
		defer v.Free()
		host = e.text(v)
	}
	parsed, err := e.call("JSON.parse", string(text))
	if err != nil {
		return host, "", taken, err
	}
	defer parsed.Free()
	return host, e.text(parsed), taken, nil
}

// Write writes the value of an expression with the host's writer and with
// JSON.stringify, unless the writer leaves it to that.
func (e *Engine) Write(expression string) (host, engine string, taken bool, err error) {
	v, err := e.vm.EvalValue("("+expression+")", quickjs.EvalGlobal)
	if err != nil {
		return "", "", false, err
	}
	defer v.Free()
	out, taken := e.e.write(nil, v, time.Now().Add(time.Minute))
	if !taken {
		return "", "", false, nil
	}
	return string(out), e.text(v), taken, nil
}

func (e *Engine) call(f string, arg any) (quickjs.Value, error) {
	function, err := e.vm.EvalValue(f, quickjs.EvalGlobal)
	if err != nil {
		return function, err
	}
	defer function.Free()
	return function.CallValue(quickjs.UndefinedValue, arg)
}

func (e *Engine) text(arg any) string {
	v, err := e.call("JSON.stringify", arg)
	if err != nil {
		return err.Error()
	}
	defer v.Free()
	text, err := v.Any()
	if err != nil {
		return err.Error()
	}
	s, _ := text.(string)
	return s
}
