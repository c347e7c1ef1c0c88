package sandbox

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

//go:embed js/core.js
var coreScript string

//go:embed js/web.js
var webScript string

//go:embed js/node.js
var nodeScript string

//go:embed js/stream.js
var streamScript string

//go:embed js/lockdown.js
var lockdownScript string

// maxStack bounds the depth of JavaScript calls, in the engine's own measure.
const maxStack = 1000

// realm is one program in an engine of its own: nothing is shared with the
// realms of other programs. It is used by one goroutine.
type realm struct {
	vm     *quickjs.VM
	engine *engine
	module string
	core   map[string]quickjs.Value

	left   time.Duration // that JavaScript may still run in this call
	until  time.Time     // when that is over
	state  state
	result []byte     // of a settled call
	asks   []question // not sent yet
	alarms []alarm
	held   []quickjs.Value // what it was given and what it gave, until the answer is on its way
}

type state uint8

const (
	running state = iota
	done
	failed
)

type question struct{ id, name, args string }

type alarm struct {
	id string
	at time.Time
}

// newRealm loads a program: the surroundings, the libraries, the glue, and then
// the foreign module in a world that can no longer be changed.
//
// The libraries may run for budget, and the module for own.
func newRealm(p *program, memory int64, budget, own time.Duration) (*realm, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, &Error{Kind: Broken, Message: "no engine: " + err.Error()}
	}
	r := &realm{vm: vm, module: p.module, core: map[string]quickjs.Value{}, left: budget}
	vm.SetMemoryLimit(uintptr(memory)) //nolint:gosec // an operator's number
	vm.SetMaxStackSize(maxStack)
	vm.SetCanBlock(false)
	if err := r.load(p, own); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *realm) load(p *program, own time.Duration) error {
	if strings.Contains(p.module, "Intl") {
		if err := intl.Register(r.vm); err != nil {
			return &Error{Kind: Broken, Message: "Intl: " + err.Error()}
		}
	}
	if err := r.offer(); err != nil {
		return &Error{Kind: Broken, Message: err.Error()}
	}
	r.vm.SetModuleLoader(r.source, func(_ *quickjs.VM, _, name string) (string, error) { return name, nil })
	core, err := r.eval("(() => { const own = { go: __go, read: globalThis.__read, write: globalThis.__write }; for (const k in own) delete globalThis['__' + k]; return (" + coreScript + ")(own, " + webScript + ", " + nodeScript + ", " + p.streams() + ", " + lockdownScript + ") })()")
	if err != nil {
		return err
	}
	defer core.Free()
	for _, name := range []string{"library", "prepare", "started", "names", "invoke", "settle", "fire", "waits"} {
		atom, err := r.vm.NewAtom(name)
		if err != nil {
			return &Error{Kind: Broken, Message: err.Error()}
		}
		f, err := core.GetPropertyValue(atom)
		if err != nil {
			return &Error{Kind: Broken, Message: err.Error()}
		}
		r.core[name] = f
	}
	for _, l := range p.libraries {
		if err := r.pass("library", l.Source, l.Name, nil); err != nil {
			return fmt.Errorf("library %s: %w", l.Name, err)
		}
	}
	if err := r.pass("prepare", p.glue, "", &p.data); err != nil {
		return err
	}
	r.engine.hasten()
	r.left = own
	return r.start()
}

// streams are Node's events and streams for a program that may use them, and
// null for one that does not: they are a third of what a realm begins with.
func (p *program) streams() string {
	if len(p.libraries) > 0 || strings.Contains(p.module, "stream") || strings.Contains(p.module, "events") || strings.Contains(p.module, "string_decoder") {
		return streamScript
	}
	return "null"
}

// offer puts what core calls in the global object, from which core takes it.
func (r *realm) offer() error {
	err := r.vm.RegisterHostFunc("__go", r.host)
	if r.engine = newEngine(r.vm); r.engine == nil || err != nil {
		return err
	}
	return errors.Join(r.vm.RegisterFunc("__read", r.read, false), r.vm.RegisterFunc("__write", r.write, false))
}

// read is JSON.parse for a text; undefined: the engine's own must tell.
func (r *realm) read(text quickjs.Value) quickjs.Value {
	if v, ok := r.engine.readText(text); ok {
		return v
	}
	return quickjs.UndefinedValue
}

// write takes a result; false: it is taken as text.
func (r *realm) write(v quickjs.Value) bool {
	out, ok := r.engine.write(r.result[:0], v, r.until)
	if ok {
		r.state, r.result = done, out
		r.held = append(r.held, v.Dup())
	}
	return ok
}

// pass evaluates the text of a function and hands it to one of core's.
func (r *realm) pass(name, source, before string, after *string) error {
	f, err := r.eval("(" + source + "\n)")
	if err != nil {
		return err
	}
	defer f.Free()
	args := []any{f}
	if before != "" {
		args = []any{before, f}
	}
	if after != nil {
		args = append(args, *after)
	}
	_, err = r.call(name, args...)
	return err
}

// start evaluates the foreign module and hands what it exports to the glue.
func (r *realm) start() error {
	defer r.limit()()
	v, err := r.vm.EvalValue("import * as all from 'file'; __tenon(all)", quickjs.EvalModule)
	if err != nil {
		return engineError(err)
	}
	defer v.Free()
	if _, err := r.vm.ExecutePendingJobs(); err != nil {
		return engineError(err)
	}
	ok, err := r.call("started")
	if err != nil {
		return err
	}
	if ok != true {
		return engineError(errors.New(moduleError(v)))
	}
	return nil
}

// moduleError says why a module did not evaluate.
func moduleError(v quickjs.Value) string {
	text := "the module did not evaluate to its end"
	if then, err := v.Then(nil, func(e quickjs.Value) { text = quickjs.ErrorFromValue(e).Error() }); err == nil {
		then.Free()
		_, _ = v.VM().ExecutePendingJobs() // what is wrong is told by text
	}
	return text
}

// source is the text of a module that foreign code may import: itself, and the
// modules of node.js.
func (r *realm) source(_ *quickjs.VM, name string) (string, error) {
	if name == "file" {
		return r.module, nil
	}
	names, err := r.core["names"].Call(quickjs.UndefinedValue, name)
	if err != nil {
		return "", fmt.Errorf("the module %.60q is not here", name)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "const m = __tenon(%q); export default m;", name)
	for n := range strings.SplitSeq(fmt.Sprint(names), ",") {
		if n != "" && n != "default" {
			fmt.Fprintf(&text, "export const %s = m.%s;", n, n)
		}
	}
	return text.String(), nil
}

// host is what core calls.
func (r *realm) host(args []any) (any, error) {
	text := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, errors.New("texts are needed")
		}
		text[i] = s
	}
	switch {
	case len(text) == 0:
		return nil, errors.New("which function?")
	case text[0] == "done" && len(text) == 2:
		r.state, r.result = done, []byte(text[1])
	case text[0] == "fail" && len(text) == 2:
		r.state, r.result = failed, []byte(text[1])
	case text[0] == "ask" && len(text) == 4:
		if len(r.asks) >= maxAsks || len(text[3]) > maxAsk {
			return nil, errors.New("too many requests at once, or one too large")
		}
		r.asks = append(r.asks, question{text[1], text[2], text[3]})
	case text[0] == "timer" && len(text) == 3:
		return nil, r.alarm(text[1], text[2])
	default:
		return compute(text[0], text[1:])
	}
	return nil, nil
}

// maxAsks and maxAlarms bound what one call can have open.
const (
	maxAsks   = 64
	maxAsk    = 16 << 20 // bytes of one
	maxAlarms = 1024
)

func (r *realm) alarm(id, millis string) error {
	ms, err := strconv.ParseFloat(millis, 64)
	if err != nil || !(ms >= 1) { // NaN as well
		ms = 1
	}
	if len(r.alarms) >= maxAlarms {
		return errors.New("too many timers")
	}
	r.alarms = append(r.alarms, alarm{id, time.Now().Add(time.Duration(min(ms, 3.6e6) * float64(time.Millisecond)))})
	return nil
}

// limit gives the engine what is left of the budget, and takes off what it used
// when the returned function is called.
func (r *realm) limit() func() {
	begun := time.Now()
	r.until = begun.Add(max(r.left, time.Millisecond))
	_ = r.vm.SetEvalTimeout(max(r.left, time.Millisecond)) // has no error but for a closed engine
	return func() { r.left -= time.Since(begun) }
}

func (r *realm) eval(text string) (quickjs.Value, error) {
	defer r.limit()()
	v, err := r.vm.EvalValue(text, quickjs.EvalGlobal)
	if err != nil {
		return v, engineError(err)
	}
	return v, nil
}

func (r *realm) call(name string, args ...any) (any, error) {
	defer r.limit()()
	v, err := r.core[name].Call(quickjs.UndefinedValue, args...)
	if err != nil {
		return nil, engineError(err)
	}
	return v, nil
}

// begin makes the realm ready for a call with a budget.
func (r *realm) begin(budget time.Duration) {
	if cap(r.result) > largestKept {
		r.result = nil
	}
	r.left = budget
	r.state, r.result, r.asks, r.alarms = running, r.result[:0], nil, nil
}

// invoke begins a call of the program's function name, with a JSON value and,
// perhaps, a body. Each goes over as a value or else as text.
func (r *realm) invoke(name string, args ...[]byte) error {
	given := []any{name}
	for _, text := range args {
		if v, ok := r.engine.read(text); ok {
			if len(text) < largestKept { // the code may need the room of a larger one
				r.held = append(r.held, v)
			} else {
				defer v.Free()
			}
			given = append(given, nil, v)
		} else {
			given = append(given, strings.ToValidUTF8(string(text), string(utf8.RuneError)), nil)
		}
	}
	_, err := r.call("invoke", given...)
	return err
}

// forget frees what the call was given and what it gave: taking thousands of
// objects apart takes a while, in which the parent has the answer already.
func (r *realm) forget() {
	for _, v := range r.held {
		v.Free()
	}
	r.held = nil
}

// drain runs jobs until there are none, or the call has ended.
func (r *realm) drain() error {
	for r.left > 0 {
		stop := r.limit()
		n, err := r.vm.ExecutePendingJobs()
		stop()
		if err != nil {
			return engineError(err)
		}
		if n == 0 {
			return nil
		}
	}
	return &Error{Kind: Deadline, Message: "the code ran too long"}
}

// due returns the alarm that is due next and how long it is until then.
func (r *realm) due() (index int, wait time.Duration) {
	index = -1
	for i, a := range r.alarms {
		if d := time.Until(a.at); index < 0 || d < wait {
			index, wait = i, d
		}
	}
	return index, max(wait, 0)
}

func (r *realm) close() {
	r.forget()
	for _, v := range r.core {
		v.Free()
	}
	_ = r.vm.Close() // nothing to be done about it
}

// engineError is an error of the engine as one of ours. The texts are those of
// QuickJS.
func engineError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "InternalError: interrupted"):
		return &Error{Kind: Deadline, Message: "the code ran too long"}
	case strings.Contains(text, "InternalError: out of memory"):
		return &Error{Kind: Memory, Message: "the code used too much memory"}
	case strings.Contains(text, "InternalError: stack overflow"), strings.Contains(text, "Maximum call stack"):
		return &Error{Kind: Stack, Message: "the code called itself too deeply"}
	}
	return &Error{Kind: Thrown, Message: text}
}
