package proc

import (
	"fmt"
	"os"
)

// Exit says how a child ended.
type Exit struct {
	Code   int    // its exit code; -1: a signal ended it
	Signal string // the signal's name; empty: none
	Killed string // why this side killed it; empty: this side did not
	Tail   string // the last of its errors
}

// String says it in a few words, without the tail.
func (e Exit) String() string {
	switch {
	case e.Killed != "":
		return "killed: " + e.Killed
	case e.Signal != "":
		return "ended by signal: " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

func exitOf(s *os.ProcessState) Exit {
	return Exit{Code: s.ExitCode(), Signal: signalOf(s)}
}
