package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// wrongFiles makes folders of functions whose files are none, or say what no
// function can.
func wrongFiles(dir string) error {
	var failed []error
	add := func(name string, f func(file string) error) {
		folder := filepath.Join(dir, name)
		failed = append(failed, os.MkdirAll(folder, 0o700), f(filepath.Join(folder, "function.json")))
	}
	linkTo := func(target string) func(string) error {
		return func(file string) error { return os.Symlink(target, file) }
	}
	add("Pipe", func(file string) error { return syscall.Mkfifo(file, 0o600) })
	add("Folder", func(file string) error { return os.Mkdir(file, 0o700) })
	add("Endless", linkTo("/dev/zero"))
	add("Terminal", linkTo("/dev/tty"))
	add("Passwords", linkTo("/etc/shadow"))
	add("Itself", linkTo("function.json"))
	add("Sparse", func(file string) error {
		return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 1<<40))
	})
	add("Deep", func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("["), 4<<20), 0o600) })
	add("Bad\x1b[31m\nname", func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) })
	var properties strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&properties, `,{"propertyName":"p%d","propertyType":"\u001b[3","isRequired":true}`, i)
	}
	long := strings.Repeat("long ", 800<<10)
	for name, trigger := range map[string]string{
		"ManyProperties": `"toolName":"many","description":"","toolProperties":[` + properties.String()[1:] + `]`,
		"Long":           `"toolName":"long","description":"` + long + `"`,
		"LongName":       `"toolName":"` + long + `","description":""`,
		"Colours":        `"toolName":"\u001b[31mred\n\u0000","description":"\u001b[31mred\u202e"`,
		"Twin":           `"toolName":"GOOD","description":""`,
		"Own":            `"toolName":"describe","description":"","metadata":"{\"a\":"`,
		"Recursive":      `"toolName":"recursive","description":"","outputSchema":"{\"type\":\"object\",\"$ref\":\"#\"}"`,
		"Foreign":        `"toolName":"foreign","description":"","outputSchema":"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"file:///etc/passwd\"}}}"`,
	} {
		failed = append(failed, addFunction(dir, name, trigger))
	}
	for i := range 9 { // more than an app may have in all
		failed = append(failed, addFunction(dir, fmt.Sprintf("Zlong%d", i), fmt.Sprintf(`"toolName":"zlong%d","description":%q`, i, long)))
	}
	return errors.Join(failed...)
}

// appFiles is a function app whose files are pipes, devices, links and more than
// anybody reads, and that changes under its server into one whose worker only
// dies. What is right in it is served all the time.
func appFiles(ctx context.Context, tenon string) (string, error) {
	dir, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(newApp(dir, "polite", "Good"), wrongFiles(dir)); err != nil {
		return "", err
	}
	t := &target{}
	if err := t.start(ctx, tenon, nil, "serve", "--http", "127.0.0.1:0", dir); err != nil {
		return "", err
	}
	defer t.stop()
	good := func(when string) error {
		o, err := t.outcomeOf(ctx, "good")
		if err != nil || o.text() != "good" {
			err = fmt.Errorf("%s: %.500s %w", when, fmt.Sprint(o), err)
		}
		return err
	}
	if err := good("beside wrong files"); err != nil {
		return "", err
	}
	began := time.Now()
	list, err := t.post(ctx, message("tools/list", ""))
	if err != nil || !strings.Contains(list, `"good"`) || time.Since(began) > 5*time.Second {
		return "", fmt.Errorf("the list after %v: %.300s %w", time.Since(began), list, err)
	}
	var arguments strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&arguments, `,"p%d":1`, i)
	}
	if _, err := t.call(ctx, "many", "{"+arguments.String()[1:]+"}"); err != nil || time.Since(began) > 10*time.Second {
		return "", fmt.Errorf("a call with many arguments after %v: %w", time.Since(began), err)
	}
	// The app changes: a new function is served; then files that are none stand
	// where it was read, and then there is a worker that only dies.
	if err := addFunction(dir, "Twice", `"toolName":"late","description":""`); err != nil {
		return "", err
	}
	if !waitFor(15*time.Second, func() bool { o, _ := t.outcomeOf(ctx, "late"); return o.text() != "" && !o.Result.IsError }) {
		return "", errors.New("a new function is not served:\n" + t.logged()[max(0, len(t.logged())-3000):])
	}
	file := filepath.Join(dir, "Twice", "function.json")
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		return "", err
	}
	if err := newApp(dir, "loop"); err != nil {
		return "", err
	}
	starts := filepath.Join(dir, "starts")
	waitFor(10*time.Second, func() bool { _, err := os.Stat(starts); return err == nil })
	for range 20 {
		if err := good("beside a worker that only dies"); err != nil {
			return "", err
		}
		time.Sleep(100 * time.Millisecond)
	}
	died, _ := os.ReadFile(starts)
	peak := t.megabytes("VmHWM")
	told := fmt.Sprintf("list %d KB, a worker that only dies was started %d times, peak %d MB, log %d KB", len(list)>>10, len(died), peak, t.bytes>>10)
	if len(died) == 0 || len(died) > 10 || peak > peakAllowed {
		return "", errors.New(told)
	}
	if err := t.readable(logAllowed); err != nil {
		return "", err
	}
	return told, t.endsIn(dir)
}
