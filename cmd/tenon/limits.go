package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/server"
)

// limitFlags bound what callers can hold of the server.
type limitFlags struct {
	calls, callsEach, page int
	message, inFlight      int64
}

func (l *limitFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&l.calls, "max-concurrent-calls", 256, "calls at a time, in all, until their answers were read; as many again wait for a place")
	fs.IntVar(&l.callsEach, "max-calls-per-caller", 0, "of them those of one caller: a key or credential, else a session, else an address (0: half)")
	fs.Int64Var(&l.message, "max-message-bytes", 4<<20, "bytes of one message to the server")
	fs.Int64Var(&l.inFlight, "max-bytes-in-flight", 256<<20, "bytes of all messages that are read, and of all answers from the first byte that is read of them until they are written, in halves; one caller may have half of each, and waits for more")
	fs.IntVar(&l.page, "page-size", 500, "tools of one page of a list; a page is at most 1 MiB")
}

func (l *limitFlags) check() error {
	for _, f := range []struct {
		name      string
		n, lowest int64 // 0 is the default
	}{
		{"max-concurrent-calls", int64(l.calls), 0},
		{"max-calls-per-caller", int64(l.callsEach), 0},
		{"max-message-bytes", l.message, 1 << 10},
		{"max-bytes-in-flight", l.inFlight, 1 << 20},
		{"page-size", int64(l.page), 0},
	} {
		if f.n != 0 && f.n < f.lowest || f.n < 0 {
			return usagef("--%s is at least %d, not %d", f.name, f.lowest, f.n)
		}
	}
	return nil
}

// set fills in the server's options.
func (l *limitFlags) set(o *server.Options) {
	o.MaxConcurrent, o.MaxPerCaller, o.MaxBody, o.MaxInFlight, o.PageSize = l.calls, l.callsEach, l.message, l.inFlight, l.page
}
