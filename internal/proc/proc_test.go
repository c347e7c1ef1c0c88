package proc_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/proc"
)

func TestAChildSeesItsOwnEnvironmentAndNoOther(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "ours")
	child := start(t, "environment", proc.Command{Env: []string{"GIVEN=yes"}, Pipes: true})
	got, err := io.ReadAll(child.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(got))
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "SYSTEMROOT=") })
	if diff := cmp.Diff([]string{"GIVEN=yes", actAs + "=environment"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsWrittenToAChildComesBack(t *testing.T) {
	child := start(t, "echo", proc.Command{Pipes: true})
	text := strings.Repeat("to and fro ", 100_000)
	go func() {
		_, _ = io.WriteString(child.Stdin, text)
		child.Stdin.Close()
	}()
	got, err := io.ReadAll(child.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != text {
		t.Errorf("%d bytes came back of %d", len(got), len(text))
	}
	<-child.Done()
	if diff := cmp.Diff(proc.Exit{}, child.Exit()); diff != "" {
		t.Error(diff)
	}
}

func TestHowAChildEnds(t *testing.T) {
	tests := []struct {
		name, act string
		end       func(*proc.Child)
		want      string
	}{
		{"by itself", "fail", func(*proc.Child) {}, "exit code 7"},
		{"killed", "hang", func(c *proc.Child) { c.Kill("too slow"); c.Kill("second reason") }, "killed: too slow"},
		{"closed", "hang", (*proc.Child).Close, "killed: it is no longer needed"},
		{"asked to", "hang", func(c *proc.Child) { c.Stop(time.Minute) }, "ended by signal: terminated"},
		{"asked in vain", "deaf", func(c *proc.Child) { c.Stop(time.Millisecond) }, "killed: it did not end within 1ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			child := start(t, tt.act, proc.Command{Pipes: true})
			if tt.act != "fail" {
				firstLine(t, child)
			}
			tt.end(child)
			<-child.Done()
			if got := child.Exit().String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			child.Kill("after its end")
			child.Terminate()
			if _, ok := child.Resident(); ok {
				t.Error("a child that has ended holds memory")
			}
			child.Close()
			if got := child.Exit().String(); got != tt.want {
				t.Errorf("after Close: got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLinesAndTail(t *testing.T) {
	tests := []struct {
		name, act string
		max       int
		first     string
		count     int
		tail      string
	}{
		{"errors, the last without an end", "fail", 0, "true warning: it is late", 2, "warning: it is late\nerror: no more"},
		{"a tail begins with a line", "shout", 22, "true line 0", 5000, "line 4998\nline 4999"},
		{"output, cut where a line is too long", "long line", 0, "false " + strings.Repeat("x", 8192), 4, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string // Line is never called twice at once, and not after Done
			child := start(t, tt.act, proc.Command{TailBytes: tt.max, Line: func(failing bool, line string) {
				got = append(got, map[bool]string{true: "true ", false: "false "}[failing]+line)
			}})
			<-child.Done()
			if len(got) != tt.count || got[0] != tt.first {
				t.Errorf("got %d lines, the first %.100q", len(got), got[0])
			}
			if tail := child.Exit().Tail; tail != tt.tail {
				t.Errorf("tail: got %q, want %q", tail, tt.tail)
			}
		})
	}
}

func TestAGroupEndsTogether(t *testing.T) {
	for _, act := range []string{"grandchild", "orphan"} {
		t.Run(act, func(t *testing.T) {
			child := start(t, act, proc.Command{Pipes: true})
			firstLine(t, child)
			if act == "grandchild" {
				child.Kill("test")
			}
			// The grandchild holds the output open as long as it lives.
			if _, err := io.ReadAll(child.Stdout); err != nil {
				t.Fatal(err)
			}
			<-child.Done()
		})
	}
}

func TestStartFails(t *testing.T) {
	before := descriptors(t)
	for _, c := range []proc.Command{
		{Path: filepath.Join(t.TempDir(), "nothing"), Pipes: true},
		{Path: os.Args[0], Dir: filepath.Join(t.TempDir(), "nowhere"), Pipes: true},
	} {
		if child, err := proc.Start(c); err == nil {
			child.Close()
			t.Errorf("%v: started", c)
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
