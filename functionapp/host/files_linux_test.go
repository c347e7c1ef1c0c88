package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

// TestFilesThatAreNone: a pipe that nobody writes to, a device without an end and
// a file of a terabyte cost their functions alone.
func TestFilesThatAreNone(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Echo", Envelope: true})
	add := func(name string, f func(file string) error) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := f(filepath.Join(dir, name, "function.json")); err != nil {
			t.Fatal(err)
		}
	}
	add("Pipe", func(file string) error { return syscall.Mkfifo(file, 0o600) })
	add("Device", func(file string) error { return os.Symlink("/dev/zero", file) })
	add("Sparse", func(file string) error {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(file, 1<<40)
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "local.settings.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, _ := serve(t, dir, host.Options{})
	if got := call(t, g, "echo", `{"n":1}`); got.IsError {
		t.Errorf("%+v", got)
	}
	app, err := host.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var diagnostics []string
	for _, f := range app.Diagnostics {
		diagnostics = append(diagnostics, f.String())
	}
	for _, want := range []string{"local.settings.json: is not a regular", "Pipe/function.json: is not a regular", "Device/function.json: is not a regular", "Sparse/function.json: it is larger"} {
		if !strings.Contains(strings.ReplaceAll(strings.Join(diagnostics, "\n"), "open ", ""), want) {
			t.Errorf("%q is not in %q", want, diagnostics)
		}
	}
}
