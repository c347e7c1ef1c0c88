package proc

import (
	"fmt"
	"os"
)

// Exit describes how a child ended.
type Exit struct {
	Code   int    // exit code; -1: ended by a signal
	Signal string // name of the signal, or empty
	Killed string // reason why the parent killed it, or empty
	Tail   string // last output on stderr
}

// String returns a summary without the tail.
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
