package sandbox

import (
	"bufio"
	"bytes"
)

// MaxBytes limits the result of a host function.
const MaxBytes = maxBytes

// Reframe reads and rewrites a frame.
func Reframe(b []byte) ([]byte, error) {
	f, err := readFrame(bytes.NewReader(b), 1<<16, nil)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeFrame(bufio.NewWriter(&out), f.kind, f.parts...)
	return out.Bytes(), err
}

// CallBuiltin calls a host function.
func CallBuiltin(name string, args ...string) (string, error) { return callBuiltin(name, args) }

// PIDs returns the processes of a pool's workers.
func PIDs(p *Pool) (all []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.all {
		all = append(all, h.child.PID())
	}
	return all
}
