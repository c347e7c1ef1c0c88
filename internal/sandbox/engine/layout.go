//go:build amd64 || arm64

package engine

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// The versions whose layouts were verified. A new version of either wants what
// TestEngineIsTheOneThatWasVerified says.
const (
	wrapperPath, wrapperVersion = "modernc.org/quickjs", "v0.27.0"
	libraryPath, libraryVersion = "modernc.org/libquickjs", "v0.14.0"
)

// verified holds the layouts of these versions, one a line, as describe writes
// them. They are the same for amd64 and arm64 and for all systems.
//
//go:embed layouts.txt
var verified string

// layoutError says why this process may not touch the engine's memory; nil: it
// may. Nothing of it changes while a process runs.
var layoutError = sync.OnceValue(func() error { //nolint:gochecknoglobals // computed once
	return errors.Join(checkVersions(linkedVersions()), checkLayouts(layouts(), verified))
})

// libraryType is a type whose memory is read or written here, by its name.
type libraryType struct {
	name string
	of   reflect.Type
}

// layouts returns every type of the libraries whose memory is read or written
// here. The fields of the wrapper are private to it: the compiler does not check
// them.
func layouts() []libraryType {
	all := []libraryType{
		{"Value", reflect.TypeFor[quickjs.Value]()},
		{"JSValue", reflect.TypeFor[lib.TJSValue]()},
		{"JSMallocBlockHeader", reflect.TypeFor[lib.TJSMallocBlockHeader]()},
		{"JSString", reflect.TypeFor[lib.TJSString]()},
		{"JSObject", reflect.TypeFor[lib.TJSObject]()},
		{"JSShape", reflect.TypeFor[lib.TJSShape]()},
		{"JSProperty", reflect.TypeFor[lib.TJSProperty]()},
		{"JSPropertyEnum", reflect.TypeFor[lib.TJSPropertyEnum]()},
		{"JSPropertyDescriptor", reflect.TypeFor[lib.TJSPropertyDescriptor]()},
		{"JSMallocContext", reflect.TypeFor[lib.TJSMallocContext]()},
	}
	vm := reflect.TypeFor[quickjs.VM]()
	all = append(all, libraryType{"VM.cContext", field(vm, "cContext")}, libraryType{"VM.runtime", field(vm, "runtime")})
	if runtime := field(vm, "runtime"); runtime != nil && runtime.Kind() == reflect.Pointer {
		all = append(all, libraryType{"runtime.tls", field(runtime.Elem(), "tls")})
	}
	return all
}

func field(of reflect.Type, name string) reflect.Type {
	if of.Kind() != reflect.Struct {
		return nil
	}
	if f, ok := of.FieldByName(name); ok {
		return f.Type
	}
	return nil
}

// describe returns a layout as text: its size, and the name, the offset and the
// type of each field. The types of fields are written out, those of unions too.
func (l libraryType) describe() string {
	if l.of == nil {
		return l.name + " is not there"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", l.name, l.of.Size())
	if l.of.Kind() != reflect.Struct {
		return b.String() + " " + l.of.String()
	}
	for f := range l.of.Fields() {
		fmt.Fprintf(&b, "; %s %d %s", f.Name, f.Offset, f.Type)
	}
	return b.String()
}

// checkLayouts compares layouts with those that were verified.
func checkLayouts(found []libraryType, verified string) error {
	want := map[string]string{}
	for line := range strings.Lines(verified) {
		name, _, _ := strings.Cut(line, " ")
		want[name] = strings.TrimSuffix(line, "\n")
	}
	var wrong []error
	for _, l := range found {
		if is := l.describe(); is != want[l.name] {
			wrong = append(wrong, fmt.Errorf("the engine's memory has another layout than was verified: %s; it was %s", is, want[l.name]))
		}
		delete(want, l.name)
	}
	for name := range want {
		wrong = append(wrong, fmt.Errorf("the engine's memory has another layout than was verified: %s is not there", name))
	}
	return errors.Join(wrong...)
}

// linkedVersions returns the versions of the modules in this program, by path;
// none where it does not say.
func linkedVersions() map[string]string {
	versions := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range info.Deps {
		if versions[m.Path] = m.Version; m.Replace != nil {
			versions[m.Path] = m.Replace.Path + " " + m.Replace.Version
		}
	}
	return versions
}

// checkVersions finds what a layout does not show: a program that embeds this
// package chooses the versions of its libraries by itself.
func checkVersions(linked map[string]string) error {
	for path, want := range map[string]string{wrapperPath: wrapperVersion, libraryPath: libraryVersion} {
		if is := linked[path]; is != "" && is != want {
			return fmt.Errorf("the layouts of %s were verified for %s, not for %s", path, want, is)
		}
	}
	return nil
}

// access returns what the wrapper keeps to itself: the engine's context, and its
// thread.
func access(vm *quickjs.VM) (ctx uintptr, tls *libc.TLS) {
	v := reflect.ValueOf(vm).Elem()
	runtime := v.FieldByName("runtime").Elem()
	return uintptr(v.FieldByName("cContext").Uint()), (*libc.TLS)(runtime.FieldByName("tls").UnsafePointer())
}
