//go:build amd64 || arm64

package engine

import (
	"time"

	"modernc.org/quickjs"
)

// Harness is an engine that reads and writes JSON in both ways.
type Harness struct {
	vm *quickjs.VM
	e  *Engine
}

// NewHarness starts an engine, to be closed by Close. Known is false where the
// fast way is not available.
func NewHarness() (e *Harness, known bool) {
	vm, err := quickjs.NewVM()
	if err != nil {
		panic(err)
	}
	vm.SetMaxStackSize(1000)
	e = &Harness{vm, New(vm)}
	return e, e.e != nil
}

// NewHarnessWith starts an engine whose layouts are wrong.
func NewHarnessWith(wrong error) *Harness {
	vm, err := quickjs.NewVM()
	if err != nil {
		panic(err)
	}
	return &Harness{vm, newEngine(vm, wrong)}
}

// LayoutError says why the engine's memory may not be touched.
func LayoutError() error { return layoutError() }

// CheckLayouts compares the libraries' layouts with others.
func CheckLayouts(verified string) error { return checkLayouts(layouts(), verified) }

// CheckVersions compares versions of modules with those that were verified.
func CheckVersions(linked map[string]string) error { return checkVersions(linked) }

// VerifiedVersions returns the verified versions, by the path of their module.
func VerifiedVersions() map[string]string {
	return map[string]string{wrapperPath: wrapperVersion, libraryPath: libraryVersion}
}

// Layouts returns the libraries' layouts, one a line.
func Layouts() (all []string) {
	for _, l := range layouts() {
		all = append(all, l.describe())
	}
	return all
}

// Refused reports whether the engine refused memory.
func (e *Harness) Refused() bool { return e.e.Refused() }

// Limit caps the memory of the engine.
func (e *Harness) Limit(bytes uintptr) { e.vm.SetMemoryLimit(bytes) }

// EnableFastMap enables the fast path of map and reports whether there is one.
func (e *Harness) EnableFastMap() bool {
	e.e.EnableFastMap()
	return e.e != nil && e.e.fastMap != nil
}

// JSON returns the value of an expression, written by JSON.stringify.
func (e *Harness) JSON(expression string) (string, error) {
	v, err := e.vm.EvalValue("("+expression+")", quickjs.EvalGlobal)
	if err != nil {
		return "", err
	}
	defer v.Free()
	return e.text(v), nil
}

// Close closes the engine.
func (e *Harness) Close() error { return e.vm.Close() }

// Read parses a text with the fast reader and with JSON.parse, and writes both
// values with JSON.stringify. Taken is false where the reader leaves the text to
// JSON.parse.
func (e *Harness) Read(text []byte) (host, engine string, taken bool, err error) {
	v, taken := e.e.Parse(text)
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

// Write writes the value of an expression with the fast writer and with
// JSON.stringify. Taken is false where the writer leaves it to JSON.stringify.
func (e *Harness) Write(expression string) (host, engine string, taken bool, err error) {
	v, err := e.vm.EvalValue("("+expression+")", quickjs.EvalGlobal)
	if err != nil {
		return "", "", false, err
	}
	defer v.Free()
	out, taken := e.e.AppendJSON(nil, v, time.Now().Add(time.Minute))
	if !taken {
		return "", "", false, nil
	}
	return string(out), e.text(v), taken, nil
}

func (e *Harness) call(f string, arg any) (quickjs.Value, error) {
	function, err := e.vm.EvalValue(f, quickjs.EvalGlobal)
	if err != nil {
		return function, err
	}
	defer function.Free()
	return function.CallValue(quickjs.UndefinedValue, arg)
}

func (e *Harness) text(arg any) string {
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
