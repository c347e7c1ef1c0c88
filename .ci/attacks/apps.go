package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// wrong is a function of the hostile worker, and what its caller must get.
type wrong struct{ function, want, executed string }

// dyingWrongs is how many of them, the last, end the worker.
const dyingWrongs = 3

// wrongs are answers that are none.
func wrongs() []wrong {
	return []wrong{
		{"EndlessBody", "more than", "yes"},
		{"EndlessHead", "broke", "unknown"},
		{"EndlessStatus", "broke", "unknown"},
		{"Informing", "broke", "unknown"},
		{"Never", "in time", "unknown"},
		{"Drip", "in time", "unknown"},
		{"DripHead", "in time", "unknown"},
		{"TooLong", "broke", "unknown"},
		{"TwoLengths", "broke", "unknown"},
		{"BadChunk", "broke", "unknown"},
		{"Bomb", "no answer", "yes"},
		{"Outside", "HTTP 302", "yes"},
		{"OutsideAgain", "HTTP 307", "yes"},
		{"LocalFile", "HTTP 302", "yes"},
		{"Cut", "no answer", "yes"},
		{"Markup", "no answer", "yes"},
		{"Deep", "no answer", "yes"},
		{"Nothing", "no answer", "yes"},
		{"Binary", "no answer", "yes"},
		{"Exit", "exit code 3", "unknown"},
		{"ExitInside", "exit code 4", "unknown"},
		{"Fork", "it ran the function", "unknown"},
	}
}

// outcome is what a caller got.
type outcome struct {
	Error  *struct{ Message string }
	Result struct {
		IsError bool
		Content []struct{ Text string }
		Meta    struct {
			Contract struct{ Executed string } `json:"tenon/contract"`
		} `json:"_meta"`
	}
}

func (o outcome) text() string {
	var b strings.Builder
	for _, c := range o.Result.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// outcomeOf makes a call.
func (t *target) outcomeOf(ctx context.Context, tool string) (o outcome, err error) {
	got, err := t.call(ctx, tool, "{}")
	if err == nil {
		err = json.Unmarshal([]byte(got), &o)
	}
	if err != nil {
		err = fmt.Errorf("%s: %.300s: %w", tool, got, err)
	}
	return o, err
}

// newApp makes a folder with functions whose tools have their names.
func newApp(dir, manner string, functions ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	host, _ := json.Marshal(map[string]any{"version": "2.0", "customHandler": map[string]any{"description": map[string]any{
		"defaultExecutablePath": self, "arguments": []string{asWorker, manner},
	}}})
	if err := os.WriteFile(filepath.Join(dir, "host.json"), host, 0o600); err != nil {
		return err
	}
	for _, f := range functions {
		if err := addFunction(dir, f, fmt.Sprintf(`"toolName":%q,"description":""`, strings.ToLower(f))); err != nil {
			return err
		}
	}
	return nil
}

func addFunction(dir, name, trigger string) error {
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text := `{"bindings":[{"name":"context","type":"mcpToolTrigger","direction":"in",` + trigger + `}]}`
	return os.WriteFile(filepath.Join(folder, "function.json"), []byte(text), 0o600)
}

// workers are function apps whose worker answers by everything that is no answer,
// dies, leaves children behind and fills the log. Each caller gets one true
// answer, other callers are served, and in the end nothing is left of it.
func workers(ctx context.Context, tenon string) (string, error) {
	var outside atomic.Int64
	canary, err := upstream(ctx, func(http.ResponseWriter, *http.Request) { outside.Add(1) })
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all := []string{"Good", "Forged", "Twice", "Surrogate", "Number", "Environment", "ManyLogs", "Flood", "Flat"}
	for _, w := range wrongs() {
		all = append(all, w.function)
	}
	if err := newApp(dir, "plain", all...); err != nil {
		return "", err
	}
	t := &target{}
	if err := t.start(ctx, tenon, []string{"TENON_SECRET=" + secret}, "serve", "--http", "127.0.0.1:0", "--allow-private-host", "127.0.0.1",
		"--verbose", "--timeout", "2s", "--drain", "1s", "--worker-env", "CANARY="+canary, dir); err != nil {
		return "", err
	}
	defer t.stop()
	if err := t.wrongAnswers(ctx); err != nil {
		return "", err
	}
	if n := outside.Load(); n > 0 {
		return "", fmt.Errorf("%d redirects were followed", n)
	}
	if err := t.strangeAnswers(ctx); err != nil {
		return "", err
	}
	peak := t.megabytes("VmHWM")
	told := fmt.Sprintf("%d answers that are none, peak %d MB, log %d KB", len(wrongs()), peak, t.bytes>>10)
	if peak > peakAllowed {
		return "", fmt.Errorf("%s; %d MB are allowed for the peak", told, peakAllowed)
	}
	if err := t.readable(logAllowed); err != nil {
		return "", err
	}
	return told, t.endsIn(dir)
}

// logAllowed is the most that a server logs of an attack.
const logAllowed = 2 << 20

// wrongAnswers makes the calls whose answers are none, beside them good ones.
func (t *target) wrongAnswers(ctx context.Context) error {
	all := wrongs()
	var dying []wrong
	for len(all) > 0 && len(dying) < dyingWrongs {
		dying, all = append(dying, all[len(all)-1]), all[:len(all)-1]
	}
	over := make(chan struct{})
	beside := make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				beside <- nil
				return
			default:
			}
			if o, err := t.outcomeOf(ctx, "good"); err != nil || o.text() != "good" {
				beside <- fmt.Errorf("call %d beside wrong answers: %.500s %w", n, fmt.Sprint(o), err)
				return
			}
		}
	}()
	err := together(len(all), func(i int) error { return t.wrongAnswer(ctx, all[i]) })
	close(over)
	if other := <-beside; err == nil {
		err = other
	}
	for _, w := range dying {
		if err == nil {
			err = t.wrongAnswer(ctx, w)
		}
		if err == nil && !waitFor(10*time.Second, func() bool { o, _ := t.outcomeOf(ctx, "good"); return o.text() == "good" }) {
			err = errors.New("no worker answers after " + w.function)
		}
	}
	return err
}

func (t *target) wrongAnswer(ctx context.Context, w wrong) error {
	o, err := t.outcomeOf(ctx, strings.ToLower(w.function))
	if err == nil && (!o.Result.IsError || o.Result.Meta.Contract.Executed != w.executed || !strings.Contains(o.text(), w.want) || len(o.text()) > 2000) {
		err = fmt.Errorf("%s: %.1000s", w.function, fmt.Sprint(o))
	}
	return err
}

// strangeAnswers makes the calls whose answers are answers.
func (t *target) strangeAnswers(ctx context.Context) error {
	for range 20 { // an answer in the answer of another is nobody's
		if o, err := t.outcomeOf(ctx, "forged"); err != nil || o.text() != "own" {
			return fmt.Errorf("forged: %+v %w", o, err)
		}
		if o, err := t.outcomeOf(ctx, "good"); err != nil || o.text() != "good" {
			return fmt.Errorf("after a forged one: %+v %w", o, err)
		}
	}
	for tool, fits := range map[string]func(outcome) bool{
		"number":      func(o outcome) bool { return o.text() == "1e400" },
		"twice":       func(o outcome) bool { return o.text() == "first" || o.text() == "second" },
		"surrogate":   func(o outcome) bool { return strings.Contains(o.text(), "half") || o.Result.IsError },
		"environment": func(o outcome) bool { return !strings.Contains(o.text(), secret) && !o.Result.IsError },
		"manylogs":    func(o outcome) bool { return o.text() == "logged" },
	} {
		if o, err := t.outcomeOf(ctx, tool); err != nil || !fits(o) {
			return fmt.Errorf("%s: %.1000s %w", tool, fmt.Sprint(o), err)
		}
	}
	if err := together(8, func(int) error {
		o, err := t.outcomeOf(ctx, "flat")
		if err == nil && (o.Result.Meta.Contract.Executed == "no" || !o.Result.IsError && len(o.text()) < 30<<20) {
			err = fmt.Errorf("flat: %.500s", fmt.Sprint(o))
		}
		return err
	}); err != nil {
		return err
	}
	if o, err := t.outcomeOf(ctx, "flood"); err != nil || o.Result.Meta.Contract.Executed == "no" {
		return fmt.Errorf("flood: %.1000s %w", fmt.Sprint(o), err)
	}
	if o, err := t.outcomeOf(ctx, "good"); err != nil || o.text() != "good" {
		return fmt.Errorf("after a flood: %+v %w", o, err)
	}
	return nil
}

// endsIn asks the server to end and looks whether a process is left in dir.
func (t *target) endsIn(dir string) error {
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		_, _ = t.cmd.Process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(15 * time.Second):
		return errors.New("the server does not end")
	}
	if left := processesIn(dir); len(left) > 0 {
		return fmt.Errorf("these processes are left: %v", left)
	}
	return nil
}

// processesIn are the processes that run in a folder.
func processesIn(dir string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && (to == dir || strings.HasPrefix(to, dir+"/")) {
			pids = append(pids, strings.Split(link, "/")[2])
		}
	}
	return pids
}
