package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

const (
	maxFile      = 4 << 20 // bytes of a file of the app
	maxFunctions = 10000
)

// App is a function app as its folder describes it.
type App struct {
	Dir       string
	Host      functionapp.Host
	Functions []Function // in the order of their names
	Faults    []tenon.Diagnostic

	settings map[string]string // of local.settings.json
}

// Function is one function of an app. At most one of Tool, Resource and Prompt
// is set; none: it is not served, and Why says the reason.
type Function struct {
	Name     string // of the function, which is its folder's
	File     string // its function.json
	Line     int    // where its trigger stands
	Type     functionapp.Type
	Tool     *functionapp.Tool
	Resource *functionapp.Resource
	Prompt   *functionapp.Prompt
	Why      string
	Wrong    bool // Why is a fault, which stands in App.Faults

	binding  string // the name of the trigger
	inputs   []input
	template *functionapp.Template // of a resource with variables
}

// input is a binding beside the trigger that gets one argument of the call.
type input struct{ binding, argument string }

// Read reads an app's folder and runs nothing. environ, "NAME=value", is what
// %NAME% in host.json may mean beside the app's own settings. What is wrong
// with a function costs that function and stands in App.Faults; the error says
// why there is no app at all.
func Read(dir string, environ []string) (*App, error) {
	a := &App{Dir: dir}
	if err := a.readSettings(); err != nil {
		a.fault(filepath.Join(dir, functionapp.SettingsFile), nil, err)
	}
	file := filepath.Join(dir, functionapp.HostFile)
	text, err := readFile(file)
	if err != nil {
		return nil, badApp(fmt.Sprintf("%s is no function app: its %s cannot be read", dir, functionapp.HostFile), err)
	}
	var notes []functionapp.Diagnostic
	if a.Host, notes, err = functionapp.ParseHost(text, a.lookup(environ)); err != nil {
		return nil, badApp(place(file, text, err).String(), nil)
	}
	a.notes(file, 0, "", notes)
	if p := a.Host.Profile; p != "" && !strings.EqualFold(p, "default") {
		return nil, badApp(fmt.Sprintf("%s: configurationProfile %q: such an app is an MCP server itself and describes no functions", file, p), nil)
	}
	return a, a.readFunctions()
}

func badApp(message string, err error) error {
	return &tenon.Error{Code: tenon.CodeBadSource, Message: message, Err: err}
}

func (a *App) readFunctions() error {
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		return badApp("the folder "+a.Dir+" cannot be read", err)
	}
	for _, e := range entries {
		file := filepath.Join(a.Dir, e.Name(), functionapp.FunctionFile)
		if _, err := os.Stat(file); err != nil {
			continue // not the folder of a function
		}
		if len(a.Functions) == maxFunctions {
			a.Faults = append(a.Faults, tenon.Diagnostic{File: a.Dir, Message: fmt.Sprintf("more than %d functions; the others were left out", maxFunctions)})
			break
		}
		f := Function{Name: e.Name(), File: file}
		a.readFunction(&f)
		a.Functions = append(a.Functions, f)
	}
	return nil
}

// readFunction reads one function. What is wrong with it stays its own matter.
func (a *App) readFunction(f *Function) {
	text, err := readFile(f.File)
	if err != nil {
		f.Why, f.Wrong = "cannot be read", true
		a.fault(f.File, nil, err)
		return
	}
	refuse := func(err error) {
		f.Why, f.Wrong = "is wrong", true
		a.fault(f.File, text, fmt.Errorf("function %s is not served: %w", f.Name, err))
	}
	if !functionapp.IsFunctionName(f.Name) {
		refuse(errors.New("the name must be a letter and up to 127 letters, digits, - and _, and not host"))
		return
	}
	parsed, err := functionapp.ParseFunction(text)
	if err != nil {
		refuse(err)
		return
	}
	trigger, err := parsed.Trigger()
	if err != nil {
		refuse(err)
		return
	}
	f.Type = functionapp.TypeOf(trigger)
	f.Line = lineOf(text, offsetOf(trigger))
	if a.disabled(f.Name, parsed) {
		f.Why = "is disabled"
		return
	}
	notes, err := f.readTrigger(trigger)
	if err != nil {
		refuse(err)
		return
	}
	a.notes(f.File, f.Line, f.Name, notes)
	if f.Why == "" {
		a.readOthers(f, trigger, parsed.Bindings)
		a.refuseTwin(f, refuse)
	}
}

func (f *Function) readTrigger(trigger functionapp.Object) (notes []functionapp.Diagnostic, err error) {
	switch f.Type {
	case functionapp.ToolTrigger:
		var t functionapp.Tool
		t, notes, err = functionapp.ReadTool(trigger)
		f.Tool, f.binding = &t, t.Binding
	case functionapp.ResourceTrigger:
		var r functionapp.Resource
		if r, notes, err = functionapp.ReadResource(trigger); err == nil && functionapp.IsTemplate(r.URI) {
			f.template, err = functionapp.ParseTemplate(r.URI)
		}
		f.Resource, f.binding = &r, r.Binding
	case functionapp.PromptTrigger:
		var p functionapp.Prompt
		p, notes, err = functionapp.ReadPrompt(trigger)
		f.Prompt, f.binding = &p, p.Binding
	default:
		f.Why = "has a " + string(f.Type)
	}
	if err != nil {
		f.Tool, f.Resource, f.Prompt = nil, nil, nil
	}
	return notes, err
}

// readOthers takes note of the bindings beside the trigger. Those that hand on
// an argument are served; there is no storage behind all others here.
func (a *App) readOthers(f *Function, trigger functionapp.Object, bindings []functionapp.Object) {
	for _, b := range bindings {
		name, _ := b.Text("name")
		switch kind := functionapp.TypeOf(b); kind {
		case f.Type:
		case functionapp.ToolProperty:
			argument, _ := b.Text("propertyName")
			f.inputs = append(f.inputs, input{name, argument})
			if f.Tool != nil && f.Tool.Input.JSON() == nil && trigger.Get("toolProperties") == nil {
				a.addProperty(f, b, argument)
			}
		case functionapp.PromptArgument:
			argument, _ := b.Text("argumentName")
			f.inputs = append(f.inputs, input{name, argument})
		case functionapp.ToolTrigger, functionapp.ResourceTrigger, functionapp.PromptTrigger:
		default:
			a.Faults = append(a.Faults, tenon.Diagnostic{
				File: f.File, Line: f.Line,
				Message: fmt.Sprintf("function %s: the binding %q of type %s is not provided: nothing comes in or goes out there", f.Name, name, kind),
			})
		}
	}
}

// addProperty adds the argument of a binding to a tool whose trigger names none:
// the binding wants it, so that callers have to see it.
func (a *App) addProperty(f *Function, b functionapp.Object, argument string) {
	p, err := functionapp.ReadProperty(b)
	if err == nil && argument == "" {
		err = errors.New("propertyName: is missing")
	}
	if err != nil {
		a.Faults = append(a.Faults, tenon.Diagnostic{File: f.File, Line: f.Line, Message: fmt.Sprintf("function %s: the argument of a binding was left out: %v", f.Name, err)})
		return
	}
	f.Tool.Properties = append(f.Tool.Properties, p)
}

// refuseTwin leaves out what another function serves already. Azure's host
// compares without regard to case.
func (a *App) refuseTwin(f *Function, refuse func(error)) {
	for _, other := range a.Functions {
		if what := f.Serves(); what != "" && strings.EqualFold(what, other.Serves()) {
			f.Tool, f.Resource, f.Prompt = nil, nil, nil
			refuse(fmt.Errorf("the %s is already registered by function %s", what, other.Name))
			return
		}
	}
}

// Serves says what f is to clients, such as "tool get_weather"; empty: nothing.
func (f *Function) Serves() string {
	switch {
	case f.Tool != nil:
		return "tool " + f.Tool.Name
	case f.Resource != nil:
		return "resource " + f.Resource.URI
	case f.Prompt != nil:
		return "prompt " + f.Prompt.Name
	}
	return ""
}

// find returns the function with that name, or nil.
func (a *App) find(name string) *Function {
	i := slices.IndexFunc(a.Functions, func(f Function) bool { return f.Name == name })
	if i < 0 || a.Functions[i].Serves() == "" {
		return nil
	}
	return &a.Functions[i]
}

// readFile reads a file of bounded size.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the folder is the operator's
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return text, err
}
