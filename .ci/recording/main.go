// Command recording runs `tenon demo --once` in a terminal and draws what it prints as
// an SVG that scrolls from call to call: `recording [-check] TENON FILE`, on Linux.
//
// It does not know what the demo shows: a line in bold begins a scene. With -check it
// only compares the drawing with a new run, but for ports and durations.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func main() {
	check := flag.Bool("check", false, "only compare FILE with a new run")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "recording: name the binary and the file")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *check); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(tenon, file string, check bool) error {
	text, err := inTerminal(tenon, "demo", "--once")
	if err != nil {
		return err
	}
	drawn := draw("$ tenon demo", strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r", ""), "\n"), "\n"))
	if !check {
		return os.WriteFile(file, []byte(drawn), 0o644)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if masked(string(old)) != masked(drawn) {
		return fmt.Errorf("%s is not what the demo prints now: make recording", file)
	}
	return nil
}

// masked replaces what differs from run to run.
func masked(s string) string {
	s = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(s, "127.0.0.1:PORT")
	s = regexp.MustCompile(`\([0-9.]+(µs|ms|s)\)`).ReplaceAllString(s, "(TIME)")
	return regexp.MustCompile(` {2,}`).ReplaceAllString(s, "  ") // beside a port
}

// inTerminal runs a command whose output is a terminal, and returns what it printed.
func inTerminal(name string, args ...string) (string, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = master.Close() }()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return "", err
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	c := exec.Command(name, args...)
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	err = c.Start()
	_ = terminal.Close() // the command has its own
	if err != nil {
		return "", err
	}
	var out strings.Builder
	buffer := make([]byte, 64<<10)
	for {
		n, err := master.Read(buffer)
		out.Write(buffer[:n])
		if errors.Is(err, syscall.EIO) { // nobody has it open any longer
			break
		}
		if err != nil {
			return "", err
		}
	}
	if err := c.Wait(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", c, err, out.String())
	}
	return out.String(), nil
}
