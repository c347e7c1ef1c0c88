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
	"github.com/tenon-mcp/tenon/internal/watch"
)

const (
	maxFile        = 4 << 20  // maximum bytes of a file of the app
	maxApp         = 32 << 20 // maximum bytes of all files
	maxFunctions   = 10000
	maxDiagnostics = 20 // diagnostics listed for one function
)

// App is a function app as its folder describes it.
type App struct {
	Dir         string
	Host        functionapp.Host
	Functions   []Function // sorted by name
	Diagnostics []tenon.Diagnostic

	settings map[string]string // of local.settings.json
	served   map[string]string // functions by what they serve, ignoring case
	bytes    int               // total bytes of function files
}

// Function is one function of an app. At most one of Tool, Resource and Prompt
// is set; if none is, the function is not served, and Why has the reason.
type Function struct {
	Name     string // name of the function and its folder
	File     string // its function.json
	Line     int    // position of its trigger
	Type     functionapp.Type
	Tool     *functionapp.Tool
	Resource *functionapp.Resource
	Prompt   *functionapp.Prompt
	Why      string
	Wrong    bool // Why is a problem, which stands in App.Diagnostics

	binding  string // name of the trigger
	inputs   []input
	template *functionapp.Template // for a resource with variables
}

// input is an additional binding that receives one argument of the call.
type input struct{ binding, argument string }

// Read reads an app's folder and runs nothing. environ, "NAME=value", resolves
// %NAME% in host.json in addition to the app's settings. An error in a function
// excludes that function and is reported in App.Diagnostics; the returned error
// means that there is no app.
func Read(dir string, environ []string) (*App, error) {
	a := &App{Dir: dir}
	if err := a.readSettings(); err != nil {
		a.addDiagnostic(filepath.Join(dir, functionapp.SettingsFile), nil, err)
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
	a.served = map[string]string{}
	for _, e := range entries {
		file := filepath.Join(a.Dir, e.Name(), functionapp.FunctionFile)
		if _, err := os.Stat(file); err != nil {
			continue // not a function folder
		}
		if len(a.Functions) == maxFunctions {
			a.Diagnostics = append(a.Diagnostics, tenon.Diagnostic{File: a.Dir, Message: fmt.Sprintf("more than %d functions; the others were left out", maxFunctions)})
			break
		}
		f := Function{Name: e.Name(), File: file}
		before := len(a.Diagnostics)
		a.readFunction(&f)
		if more := len(a.Diagnostics) - before - maxDiagnostics; more > 0 {
			a.Diagnostics = append(a.Diagnostics[:before+maxDiagnostics], tenon.Diagnostic{File: file, Line: f.Line, Message: fmt.Sprintf("function %s: %d more of these", f.Name, more)})
		}
		a.Functions = append(a.Functions, f)
	}
	return nil
}

// readFunction reads one function. Its errors affect only that function.
func (a *App) readFunction(f *Function) {
	text, err := readFile(f.File)
	if a.bytes += len(text); err == nil && a.bytes > maxApp {
		err = fmt.Errorf("the functions before it have more than %d bytes already", maxApp)
	}
	if err != nil {
		f.Why, f.Wrong = "cannot be read", true
		a.addDiagnostic(f.File, nil, err)
		return
	}
	refuse := func(err error) {
		f.Why, f.Wrong = "is wrong", true
		a.addDiagnostic(f.File, text, fmt.Errorf("function %s is not served: %w", f.Name, err))
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

// readOthers records the additional bindings. Those that pass an argument are
// supported; there is no storage for others here.
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
			a.Diagnostics = append(a.Diagnostics, tenon.Diagnostic{
				File: f.File, Line: f.Line,
				Message: cut(fmt.Sprintf("function %s: the binding %q of type %s is not provided: nothing comes in or goes out there", f.Name, name, kind)),
			})
		}
	}
}

// addProperty adds the argument of a binding to a tool whose trigger does not
// declare it, so that callers see it.
func (a *App) addProperty(f *Function, b functionapp.Object, argument string) {
	p, err := functionapp.ReadProperty(b)
	if err == nil && argument == "" {
		err = errors.New("propertyName: is missing")
	}
	if err != nil {
		a.Diagnostics = append(a.Diagnostics, tenon.Diagnostic{File: f.File, Line: f.Line, Message: cut(fmt.Sprintf("function %s: the argument of a binding was left out: %v", f.Name, err))})
		return
	}
	f.Tool.Properties = append(f.Tool.Properties, p)
}

// refuseTwin excludes what another function already serves. Names are compared
// ignoring case, like Azure's host does.
func (a *App) refuseTwin(f *Function, refuse func(error)) {
	what := f.Serves()
	if what == "" {
		return
	}
	folded := strings.ToLower(strings.ToUpper(what)) // some letters have two lower-case forms
	if other, twice := a.served[folded]; twice {
		f.Tool, f.Resource, f.Prompt = nil, nil, nil
		refuse(fmt.Errorf("the %s is already registered by function %s", what, other))
		return
	}
	a.served[folded] = f.Name
}

// Serves returns what f is to clients, such as "tool get_weather", or "".
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

// readFile reads a file of limited size.
func readFile(name string) ([]byte, error) {
	f, err := watch.Open(name)
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
