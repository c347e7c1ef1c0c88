package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logged returns what a log of this format was told by say, and the lines that
// it wrote in the end.
func logged(format string, say func(e env)) []string {
	var out bytes.Buffer
	e := env{err: &out}
	flush := e.serve(format)
	say(e)
	flush()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestTheSameFailureIsLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := logged("text", func(e env) {
			log := e.logger(slog.LevelInfo)
			for i := range 250 { // 2.5 seconds
				log.Warn("call failed", "tool", "order", "code", "network_error", "error", fmt.Sprintf("dial %d", i))
				time.Sleep(10 * time.Millisecond)
			}
		})
		var more []string
		total := 0
		for _, line := range lines {
			_, n, ok := strings.Cut(line, " more=")
			if !ok {
				total++
				continue
			}
			var count int
			if _, err := fmt.Sscan(n, &count); err != nil {
				t.Fatal(err)
			}
			total += count
			more = append(more, n)
		}
		if len(lines) != 4 || total != 250 {
			t.Errorf("want 4 lines that tell of 250 failures, got %d that tell of %d (%v):\n%s", len(lines), total, more, strings.Join(lines, "\n"))
		}
	})
}

func TestOtherFailuresAreNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := logged("text", func(e env) {
			log := e.logger(slog.LevelInfo)
			for range 3 {
				log.Warn("call failed", "tool", "order", "code", "network_error")
				log.Warn("call failed", "tool", "order", "code", "timeout")
				log.Warn("call failed", "tool", "list", "code", "timeout")
				log.With("source", "a").Warn("call failed", "tool", "list", "code", "timeout")
				log.Info("call", "tool", "order")
			}
		})
		if len(lines) != 4+3+4 {
			t.Errorf("want four failures, three calls and four counts, got %d lines:\n%s", len(lines), strings.Join(lines, "\n"))
		}
	})
}

func (s *failures) remembered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func TestManyFailuresDoNotGrowTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := logged("text", func(e env) {
			log := e.logger(slog.LevelInfo)
			for i := range 2 * maxFailures {
				log.Warn("call failed", "tool", fmt.Sprint(i))
			}
			if n := e.log.failures.remembered(); n > maxFailures {
				t.Errorf("%d failures are remembered", n)
			}
			time.Sleep(3 * time.Second)
			if n := e.log.failures.remembered(); n != 0 {
				t.Errorf("%d failures are remembered when all is quiet", n)
			}
		})
		if len(lines) != 2*maxFailures {
			t.Errorf("%d lines", len(lines))
		}
	})
}

func TestAllThatAServerSaysIsJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := logged("json", func(e env) {
			fmt.Fprint(e.err, "tenon: listening ")
			fmt.Fprintln(e.err, "on x\n  a line below it")
			fmt.Fprintln(e.err, "tenon: warning: careful")
			e.logger(slog.LevelInfo).Info("call", "tool", "order")
		})
		var got []string
		for _, line := range lines {
			var r struct{ Level, Msg, Tool string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			got = append(got, strings.TrimSpace(r.Level+" "+r.Msg+" "+r.Tool))
		}
		want := "INFO listening on x|INFO a line below it|WARN careful|INFO call order"
		if strings.Join(got, "|") != want {
			t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
		}
	})
}
