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

	"github.com/tenon-mcp/tenon/internal/sandbox/engine"
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

// maxStack limits the depth of JavaScript calls, in the engine's unit.
const maxStack = 1000

// realm is one program in an engine of its own: nothing is shared with the
// realms of other programs. It is used by one goroutine.
type realm struct {
	vm     *quickjs.VM
	engine *engine.Engine
	module string
	core   map[string]quickjs.Value

	remaining time.Duration // remaining time limit of this call
	deadline  time.Time     // when it expires
	state     state
	result    []byte     // of a settled call
	hostCalls []hostCall // host calls that are not sent yet
	timers    []timer
	values    []quickjs.Value // arguments and results, freed after the response is sent
}

type state uint8

const (
	running state = iota
	done
	failed
)

type hostCall struct{ id, name, args string }

type timer struct {
	id string
	at time.Time
}

// newRealm loads a program: the environment, the libraries, the glue, and then
// the untrusted module with frozen intrinsics. budget limits the libraries, own
// the module.
func newRealm(p *program, memory int64, budget, own time.Duration) (*realm, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, &Error{Kind: Broken, Message: "no engine: " + err.Error()}
	}
	r := &realm{vm: vm, module: p.module, core: map[string]quickjs.Value{}, remaining: budget}
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
	if err := r.register(); err != nil {
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
		if err := r.passFunction("library", l.Source, l.Name, nil); err != nil {
			return fmt.Errorf("library %s: %w", l.Name, err)
		}
	}
	if err := r.passFunction("prepare", p.glue, "", &p.data); err != nil {
		return err
	}
	r.engine.EnableFastMap()
	r.remaining = own
	return r.start()
}

// streams returns Node's events and streams for a program that may use them,
// else null: they are a third of a realm's size.
func (p *program) streams() string {
	if len(p.libraries) > 0 || strings.Contains(p.module, "stream") || strings.Contains(p.module, "events") || strings.Contains(p.module, "string_decoder") {
		return streamScript
	}
	return "null"
}

// register registers the functions for core.js as globals, which core.js removes.
func (r *realm) register() error {
	err := r.vm.RegisterHostFunc("__go", r.host)
	if r.engine = engine.New(r.vm); r.engine == nil || err != nil {
		return err
	}
	return errors.Join(r.vm.RegisterFunc("__read", r.read, false), r.vm.RegisterFunc("__write", r.write, false))
}

// read implements JSON.parse; undefined leaves the text to the engine.
func (r *realm) read(text quickjs.Value) quickjs.Value {
	if v, ok := r.engine.ParseString(text); ok {
		return v
	}
	return quickjs.UndefinedValue
}

// write stores a result; false: it is passed as text.
func (r *realm) write(v quickjs.Value) bool {
	out, ok := r.engine.AppendJSON(r.result[:0], v, r.deadline)
	if ok {
		r.state, r.result = done, out
		r.values = append(r.values, v.Dup())
	}
	return ok
}

// passFunction evaluates the text of a function and passes it to a function of core.js.
func (r *realm) passFunction(name, source, before string, after *string) error {
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

// start evaluates the untrusted module and passes its exports to the glue.
func (r *realm) start() error {
	defer r.limit()()
	v, err := r.vm.EvalValue("import * as all from 'file'; __tenon(all)", quickjs.EvalModule)
	if err != nil {
		return r.engineError(err)
	}
	defer v.Free()
	if _, err := r.vm.ExecutePendingJobs(); err != nil {
		return r.engineError(err)
	}
	ok, err := r.call("started")
	if err != nil {
		return err
	}
	if ok != true {
		return r.moduleError(v)
	}
	return nil
}

// moduleError returns why a module was not evaluated.
func (r *realm) moduleError(v quickjs.Value) error {
	err := r.unending("the module did not evaluate to its end", Thrown)
	if then, failed := v.Then(nil, func(e quickjs.Value) { err = r.engineError(quickjs.ErrorFromValue(e)) }); failed == nil {
		then.Free()
		_, _ = r.vm.ExecutePendingJobs() // the error is in err
	}
	return err
}

// source returns the text of a module that untrusted code may import: itself,
// and the modules of node.js.
func (r *realm) source(_ *quickjs.VM, name string) (string, error) {
	if name == "file" {
		return r.module, nil
	}
	names, err := r.core["names"].Call(quickjs.UndefinedValue, name)
	if err != nil {
		return "", fmt.Errorf("the module %.60q is not available", name)
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

// host handles calls of core.js.
func (r *realm) host(args []any) (any, error) {
	text := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, errors.New("the arguments must be strings")
		}
		text[i] = s
	}
	switch {
	case len(text) == 0:
		return nil, errors.New("no function named")
	case text[0] == "done" && len(text) == 2:
		r.state, r.result = done, []byte(text[1])
	case text[0] == "fail" && len(text) == 2:
		r.state, r.result = failed, []byte(text[1])
	case text[0] == "ask" && len(text) == 4:
		if len(r.hostCalls) >= maxHostCalls || len(text[3]) > maxHostCallBytes {
			return nil, errors.New("too many requests at once, or one too large")
		}
		r.hostCalls = append(r.hostCalls, hostCall{text[1], text[2], text[3]})
	case text[0] == "timer" && len(text) == 3:
		return nil, r.addTimer(text[1], text[2])
	default:
		return callBuiltin(text[0], text[1:])
	}
	return nil, nil
}

// maxHostCalls and maxTimers limit the open host calls and timers of one call.
const (
	maxHostCalls     = 64
	maxHostCallBytes = 16 << 20 // bytes of one host call
	maxTimers        = 1024
)

func (r *realm) addTimer(id, millis string) error {
	ms, err := strconv.ParseFloat(millis, 64)
	if err != nil || !(ms >= 1) { // NaN as well
		ms = 1
	}
	if len(r.timers) >= maxTimers {
		return errors.New("too many timers")
	}
	r.timers = append(r.timers, timer{id, time.Now().Add(time.Duration(min(ms, 3.6e6) * float64(time.Millisecond)))})
	return nil
}

// limit sets the engine's timeout to the remaining time; the returned function
// subtracts the time used.
func (r *realm) limit() func() {
	begun := time.Now()
	r.deadline = begun.Add(max(r.remaining, time.Millisecond))
	_ = r.vm.SetEvalTimeout(max(r.remaining, time.Millisecond)) // fails only for a closed engine
	return func() { r.remaining -= time.Since(begun) }
}

func (r *realm) eval(text string) (quickjs.Value, error) {
	defer r.limit()()
	v, err := r.vm.EvalValue(text, quickjs.EvalGlobal)
	if err != nil {
		return v, r.engineError(err)
	}
	return v, nil
}

func (r *realm) call(name string, args ...any) (any, error) {
	defer r.limit()()
	v, err := r.core[name].Call(quickjs.UndefinedValue, args...)
	if err != nil {
		return nil, r.engineError(err)
	}
	return v, nil
}

// begin prepares the realm for a call.
func (r *realm) begin(budget time.Duration) {
	if cap(r.result) > maxReused {
		r.result = nil
	}
	r.remaining = budget
	r.engine.ForgetRefusals()
	r.state, r.result, r.hostCalls, r.timers = running, r.result[:0], nil, nil
}

// invoke starts a call of the program's function name with a JSON value and an
// optional body. Each is passed as a value where possible, else as text.
func (r *realm) invoke(name string, args ...[]byte) error {
	given := []any{name}
	for _, text := range args {
		if v, ok := r.engine.Parse(text); ok {
			if len(text) < maxReused { // frees memory for the code
				r.values = append(r.values, v)
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

// freeValues frees arguments and results: freeing thousands of objects takes a
// while, and the parent has the response already.
func (r *realm) freeValues() {
	for _, v := range r.values {
		v.Free()
	}
	r.values = nil
}

// drain runs jobs until none are left or the time limit is reached.
func (r *realm) drain() error {
	for r.remaining > 0 {
		stop := r.limit()
		n, err := r.vm.ExecutePendingJobs()
		stop()
		if err != nil {
			return r.engineError(err)
		}
		if n == 0 {
			return nil
		}
	}
	return &Error{Kind: Deadline, Message: "the code ran too long"}
}

// nextTimer returns the next timer and the time until then.
func (r *realm) nextTimer() (index int, wait time.Duration) {
	index = -1
	for i, a := range r.timers {
		if d := time.Until(a.at); index < 0 || d < wait {
			index, wait = i, d
		}
	}
	return index, max(wait, 0)
}

func (r *realm) close() {
	r.freeValues()
	for _, v := range r.core {
		v.Free()
	}
	_ = r.vm.Close() // nothing can be done about it
}
