package main

import (
	"fmt"
	"time"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// stdioLoad keeps a window of calls in flight over a pipe.
type stdioLoad struct {
	process *process
	call    *message
	length  int // of every answer
	out     []byte
}

func dialStdio(v *variant, tool string, want *sample.Forecast) (load, error) {
	call, err := newMessage(tool, v.stateful, 0)
	if err != nil {
		return nil, err
	}
	l := &stdioLoad{process: v.process, call: call}
	if v.stateful && v.session == "" {
		v.session = "stdio"
		if _, err := fmt.Fprintf(v.process.in, "%s\n", initText); err != nil {
			return nil, err
		}
		if line, err := v.process.out.ReadSlice('\n'); err != nil {
			return nil, fmt.Errorf("initialize: %w: %.300s", err, line)
		}
		if _, err := fmt.Fprintf(v.process.in, "%s\n", readyMsg); err != nil {
			return nil, err
		}
	}
	if err := l.send(1); err != nil {
		return nil, err
	}
	line, err := v.process.out.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	l.length = len(line)
	return l, verify(line, want)
}

func (l *stdioLoad) send(n int) error {
	l.out = l.out[:0]
	for range n {
		l.out = append(append(l.out, l.call.stamp()...), '\n')
	}
	_, err := l.process.in.Write(l.out)
	return err
}

// run sends as many calls as answers came, so that the window stays full, and
// in the end waits for all.
func (l *stdioLoad) run(d time.Duration) (int, error) {
	end := time.Now().Add(d)
	if err := l.send(window); err != nil {
		return 0, err
	}
	total := 0
	for flying := window; flying > 0; {
		n, err := l.receive()
		if err != nil {
			return total, err
		}
		total += n
		flying -= n
		if time.Now().Before(end) {
			if err := l.send(n); err != nil {
				return total, err
			}
			flying += n
		}
	}
	return total, nil
}

// receive reads the answers that have come, at least one.
func (l *stdioLoad) receive() (int, error) {
	for n := 1; ; n++ {
		line, err := l.process.out.ReadSlice('\n')
		if err != nil {
			return n, err
		}
		if len(line) != l.length {
			return n, fmt.Errorf("%d bytes after %d: %.300s", len(line), l.length, line)
		}
		if l.process.out.Buffered() < l.length {
			return n, nil
		}
	}
}

func (l *stdioLoad) close() {}
