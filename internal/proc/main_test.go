package proc_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/proc"
)

// The test binary is its own child: the variable selects what the child does.
const actAs = "PROC_TEST_ACT"

func TestMain(m *testing.M) {
	if act := os.Getenv(actAs); act != "" {
		os.Exit(perform(act))
	}
	os.Exit(m.Run())
}

func perform(act string) int {
	switch act {
	case "environment":
		for _, v := range os.Environ() {
			fmt.Println(v)
		}
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "fail":
		fmt.Fprintln(os.Stderr, "warning: it is late")
		fmt.Fprint(os.Stderr, "error: no more")
		return 7
	case "shout":
		for i := range 5000 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
	case "long line":
		fmt.Print(strings.Repeat("x", 20000) + "\nend\n")
	case "hang":
		fmt.Println("hanging")
		time.Sleep(time.Hour) // select{} would end as a deadlock
	case "deaf":
		ignoreTerm()
		fmt.Println("deaf")
		time.Sleep(time.Hour)
	case "grandchild":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), actAs+"=hang")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 1
		}
		time.Sleep(time.Hour)
	case "daemon": // in a session of its own
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), actAs+"=hang")
		cmd.Stdout = os.Stdout
		ownSession(cmd)
		if cmd.Start() != nil {
			return 1
		}
		fmt.Println(cmd.Process.Pid)
	case "orphan":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), actAs+"=hang")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 1
		}
		fmt.Println("gone")
	case "parent":
		child, err := proc.Start(proc.Command{Path: os.Args[0], Env: []string{actAs + "=silent"}, Pipes: true})
		if err != nil {
			return 1
		}
		fmt.Println(child.PID())
		time.Sleep(time.Hour)
	case "silent":
		time.Sleep(time.Hour)
	case "greedy":
		fill()
		time.Sleep(time.Hour)
	}
	return 0
}

var kept [][]byte

func fill() {
	for range 128 {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = byte(i)
		}
		kept = append(kept, b)
		time.Sleep(time.Millisecond)
	}
}

// start starts the test binary as a child with that behaviour.
func start(t *testing.T, act string, c proc.Command) *proc.Child {
	t.Helper()
	c.Path = os.Args[0]
	c.Env = append(c.Env, actAs+"="+act)
	child, err := proc.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Close)
	return child
}

// firstLine returns the first line of a child with pipes.
func firstLine(t *testing.T, child *proc.Child) {
	t.Helper()
	if _, err := bufio.NewReader(child.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}
