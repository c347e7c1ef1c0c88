package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// readSettings reads the optional local.settings.json: environment variables
// for the worker.
func (a *App) readSettings() error {
	a.settings = map[string]string{}
	text, err := readFile(filepath.Join(a.Dir, functionapp.SettingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := rawjson.Parse(functionapp.Relaxed(rawjson.WithoutMark(text)))
	if err != nil {
		return err
	}
	if doc.IsTrue(doc.Get(doc.Root(), "IsEncrypted")) {
		return errors.New("the values are encrypted (IsEncrypted) and were left out")
	}
	values := doc.Get(doc.Root(), "Values")
	for n := doc.First(values); n != rawjson.None; n = doc.Next(n) {
		name, value := doc.Key(n), string(doc.Raw(n))
		if doc.Kind(n) == rawjson.String {
			value = doc.Str(n)
		}
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("the value %q cannot stand in an environment; it and what follows were left out", name)
		}
		a.settings[name] = value
	}
	return nil
}

// lookup finds a name in environ, else in the app's settings.
func (a *App) lookup(environ []string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		for _, v := range slices.Backward(environ) {
			if value, found := strings.CutPrefix(v, name+"="); found {
				return value, true
			}
		}
		value, found := a.settings[name]
		return value, found
	}
}

// environment returns the worker's environment: the app's settings, overridden
// by the operator's, overridden by those of this start.
func (a *App) environment(environ []string, own ...string) []string {
	var all []string
	for name, value := range a.settings {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return append(append(all, environ...), own...)
}

// disabled reports whether the app's settings or the function itself disable
// it. An underscore may replace a point in names of variables. A function may
// refer to a setting.
func (a *App) disabled(function string, f functionapp.Function) bool {
	for _, name := range [...]string{"AzureWebJobs." + function + ".Disabled", "AzureWebJobs_" + function + "_Disabled"} {
		if value, found := a.setting(name); found && isOn(value) {
			return true
		}
	}
	text := strings.Trim(string(f.Others.Get("disabled")), `"`)
	if value, found := a.setting(strings.Trim(text, "%")); found && text != "" {
		return isOn(value)
	}
	return isOn(text)
}

func isOn(value string) bool { return strings.EqualFold(value, "true") || value == "1" }

// setting finds one of the app's settings, ignoring case.
func (a *App) setting(name string) (value string, found bool) {
	if value, found = a.settings[name]; found {
		return value, true
	}
	for key, value := range a.settings {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}
