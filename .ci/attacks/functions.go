package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// wrongFunctions are Go functions whose result is none. That of one that ended
// its goroutine is an error of the protocol.
func wrongFunctions() []wrong {
	const written, inside = "cannot be written", "incident"
	return []wrong{
		{"pointer_ring", written, "yes"},
		{"list_ring", written, "yes"},
		{"map_ring", written, "yes"},
		{"nan", written, "yes"},
		{"infinity", written, "yes"},
		{"loose_ring", written, "yes"},
		{"channel", written, "yes"},
		{"func", written, "yes"},
		{"complex", written, "yes"},
		{"loose_nan", written, "yes"},
		{"marshal_deep", written, "yes"},
		{"marshal_wrong", written, "yes"},
		{"raw_wrong", "violates", "yes"},
		{"nil_result", "nil", "yes"},
		{"huge_error", "bytes in all", "yes"},
		{"own_nil", inside, "unknown"},
		{"typed_nil", inside, "yes"},
		{"error_panics", inside, "yes"},
		{"marshal_panics", inside, "unknown"},
		{"panics", inside, "unknown"},
		{"nil_map", inside, "unknown"},
		{"index", inside, "unknown"},
		{"nil_pointer", inside, "unknown"},
		{"nil_panic", inside, "unknown"},
		{"ends", inside, ""},
		{"marshal_ends", inside, ""},
	}
}

const stuckCalls = 5

// functions is a program with Go functions that panic, end their goroutines,
// return what is no value, ask and report without end, and never return. Each
// caller but those of the last gets one true answer, and others are served.
func functions(ctx context.Context, _ string) (string, error) {
	dir, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "embedded")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./.ci/attacks/embedded").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w", said, err)
	}
	t := &target{}
	if err := t.start(ctx, program, []string{"GOMEMLIMIT=512MiB"}); err != nil {
		return "", err
	}
	defer t.stop()
	if err := t.goodNumber(ctx, "the first"); err != nil {
		return "", err
	}
	began := t.goroutines(ctx)
	all := wrongFunctions()
	err = together(len(all), func(i int) error {
		return errors.Join(t.wrongFunction(ctx, all[i]), t.goodNumber(ctx, "after "+all[i].function))
	})
	if err == nil {
		err = t.reportsToNobody(ctx)
	}
	if err == nil {
		err = together(4, func(int) error {
			got, err := t.call(ctx, "huge", "{}")
			if err == nil && !strings.Contains(got, `"executed":"yes"`) {
				err = fmt.Errorf("a huge result: %.300s", got)
			}
			return err
		})
	}
	rounds := 0
	if err == nil {
		rounds, err = t.asksOnAndOn(ctx)
	}
	if err == nil {
		err = t.mutated(ctx)
	}
	if err == nil {
		err = t.stuck(ctx)
	}
	if err != nil {
		return "", err
	}
	http.DefaultClient.CloseIdleConnections()
	left := 0
	if !waitFor(10*time.Second, func() bool { left = t.goroutines(ctx); return left <= began+3*stuckCalls }) {
		return "", fmt.Errorf("%d goroutines at the start, %d in the end", began, left)
	}
	peak := t.megabytes("VmHWM")
	told := fmt.Sprintf("%d functions, %d rounds of questions, peak %d MB", len(all), rounds, peak)
	if peak > 2*peakAllowed {
		return "", fmt.Errorf("%s; %d MB are allowed for the peak", told, 2*peakAllowed)
	}
	return told, t.readable(logAllowed)
}

func (t *target) goodNumber(ctx context.Context, which string) error {
	got, err := t.call(ctx, "good", "{}")
	if err != nil || !strings.Contains(got, `"structuredContent":{"n":1}`) {
		err = fmt.Errorf("a good call, %s: %.500s %w", which, got, err)
	}
	return err
}

func (t *target) wrongFunction(ctx context.Context, w wrong) error {
	o, err := t.outcomeOf(ctx, w.function)
	text := o.text()
	fits := o.Result.IsError && o.Result.Meta.Contract.Executed == w.executed
	if w.executed == "" && o.Error != nil {
		text, fits = o.Error.Message, true
	}
	if err == nil && (!fits || !strings.Contains(text, w.want) || len(text) > 1<<20) {
		err = fmt.Errorf("%s: %.600s", w.function, fmt.Sprint(o))
	}
	return err
}

// goroutines is how many the program has.
func (t *target) goroutines(ctx context.Context) (n int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.addr+"/goroutines", http.NoBody)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	_ = json.NewDecoder(res.Body).Decode(&n)
	return n
}

// reportsToNobody calls what reports without end, and reads nothing of it.
func (t *target) reportsToNobody(ctx context.Context) error {
	before := t.megabytes("VmRSS")
	body := message("tools/call", `"name":"reports","arguments":{},"_meta":{"progressToken":1}`)
	var held []net.Conn
	for range 4 {
		c, err := net.Dial("tcp", t.addr)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		held = append(held, c)
		if _, err := io.WriteString(c, strings.Replace(raw(body), "Accept: application/json", "Accept: application/json, text/event-stream", 1)); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	if err := t.goodNumber(ctx, "beside endless reports"); err != nil {
		return err
	}
	if after := t.megabytes("VmRSS"); after > before+200 {
		return fmt.Errorf("reports that nobody reads take %d MB", after-before)
	}
	// Who reads on gets the answer in the end.
	_ = held[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReaderSize(held[0], 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("endless reports end without an answer: %w", err)
		}
		if strings.Contains(line, `"id":1`) && strings.Contains(line, "took longer") {
			return nil
		}
	}
}

// asksOnAndOn answers questions as long as there are more.
func (t *target) asksOnAndOn(ctx context.Context) (rounds int, err error) {
	more := ""
	for rounds = range 40 {
		body, headers := modern("tools/call", "asks", `"name":"asks","arguments":{}`+more, `{"elicitation":{"form":{}}}`)
		got, err := t.post(ctx, body, headers...)
		if err != nil {
			return rounds, err
		}
		var asked struct {
			Result struct {
				State    string                     `json:"requestState"`
				Requests map[string]json.RawMessage `json:"inputRequests"`
			}
		}
		if err := json.Unmarshal([]byte(got), &asked); err != nil || asked.Result.State == "" {
			return rounds, t.goodNumber(ctx, "after many questions: "+got[:min(len(got), 300)])
		}
		answers := map[string]any{}
		for key := range asked.Result.Requests {
			answers[key] = map[string]any{"action": "accept", "content": map[string]any{"n": 1}}
		}
		text, _ := json.Marshal(answers)
		more = `,"requestState":"` + asked.Result.State + `","inputResponses":` + string(text)
		if len(more) > 1<<20 {
			return rounds, fmt.Errorf("the state has %d bytes after %d rounds", len(more), rounds)
		}
	}
	return rounds, t.goodNumber(ctx, "beside endless questions")
}

// mutated calls what goes on to change what it returned: every answer is JSON.
func (t *target) mutated(ctx context.Context) error {
	return together(8, func(int) error {
		got, err := t.call(ctx, "mutates", `{"texts":["a"]}`)
		if err != nil || !json.Valid([]byte(got)) {
			err = fmt.Errorf("changed after it was returned: %.300s %w", got, err)
		}
		return err
	})
}

// stuck makes calls that never end, and others beside them.
func (t *target) stuck(ctx context.Context) error {
	short, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	_ = together(stuckCalls, func(int) error { _, err := t.call(short, "blocks", "{}"); return err })
	return together(20, func(i int) error { return t.goodNumber(ctx, fmt.Sprint(i, " beside some that never end")) })
}
