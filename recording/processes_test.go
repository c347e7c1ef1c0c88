package recording_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/recording"
)

// TestMain is the other process of TestProcesses as well.
func TestMain(m *testing.M) {
	if path := os.Getenv("TENON_TEST_RECORD"); path != "" {
		w, err := recording.Create(path)
		for n := 0; err == nil; n++ { // until it is killed
			err = w.Write(call(fmt.Sprintf("%s-%d", os.Getenv("TENON_TEST_NAME"), n), strings.Repeat("x", n%2000)))
			fmt.Println(n)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestProcesses: what processes record in one folder or one file is all there and whole,
// also when each of them is killed at some moment.
func TestProcesses(t *testing.T) {
	for _, name := range []string{"folder", "calls.ndjson"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			const writers, least = 3, 60
			var all [writers]*exec.Cmd
			var said [writers]*bufio.Scanner
			for i := range all {
				p := exec.Command(os.Args[0])
				p.Env = append(os.Environ(), "TENON_TEST_RECORD="+path, fmt.Sprintf("TENON_TEST_NAME=%d", i))
				p.Stderr = os.Stderr
				out, err := p.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				all[i], said[i] = p, bufio.NewScanner(out)
			}
			var written [writers]int
			for i, p := range all {
				for written[i] < least && said[i].Scan() {
					written[i]++
				}
				_ = p.Process.Kill()
				for said[i].Scan() {
					written[i]++
				}
				_ = p.Wait() // it was killed
			}
			write(t, path, call("after", "1"))
			calls, err := recording.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			var next [writers]int
			for _, c := range calls {
				var i, n int
				if _, err := fmt.Sscanf(c.Tool, "%d-%d", &i, &n); err != nil {
					continue
				}
				if n != next[i] {
					t.Fatalf("%s, want %d", c.Tool, next[i])
				}
				next[i]++
			}
			for i := range next {
				if next[i] < written[i] || next[i] > written[i]+1 { // the last one may not have been told of
					t.Errorf("process %d wrote %d calls, %d are there", i, written[i], next[i])
				}
			}
			if calls[len(calls)-1].Tool != "after" {
				t.Error("nothing can be added")
			}
		})
	}
}
