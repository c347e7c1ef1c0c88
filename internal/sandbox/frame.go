package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is four bytes of length, one of kind, and parts: texts with four
// bytes of length before each. Numbers are little-endian.
type frame struct {
	kind   kind
	parts  [][]byte
	buffer []byte // buffer that holds the parts
}

type kind byte

// What the parent sends.
const (
	loadFrame   kind = 'L' // key, module, glue, data, memory, time limits of libraries and module, then name and source of each library
	dropFrame   kind = 'D' // key
	callFrame   kind = 'C' // key, function, milliseconds, arguments, optional body
	answerFrame kind = 'A' // id, "1" or "0", JSON or reason, text
)

// What the worker sends.
const (
	doneFrame   kind = 'R' // JSON
	failFrame   kind = 'F' // kind of error, message
	pauseFrame  kind = 'W' // id, name and arguments of each new host call; the worker pauses until a response arrives
	resumeFrame kind = 'G' // a timer ended the pause
)

// maxParts limits a frame; a program has a handful of libraries.
const maxParts = 512

var errFrame = errors.New("not a frame")

func writeFrame(w *bufio.Writer, k kind, parts ...[]byte) error {
	size := 1
	for _, p := range parts {
		size += 4 + len(p)
	}
	var head [5]byte
	binary.LittleEndian.PutUint32(head[:], uint32(size))
	head[4] = byte(k)
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	for _, p := range parts {
		binary.LittleEndian.PutUint32(head[:], uint32(len(p))) //nolint:gosec // callers limit the size
		if _, err := w.Write(head[:4]); err != nil {
			return err
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return w.Flush()
}

// maxReused limits the buffer that is reused for later frames.
const maxReused = 4 << 20

// readFrame reads one frame of at most limit bytes, using buf as its buffer
// where it is large enough. Memory is allocated as data arrives. io.EOF means
// that the other side has closed.
func readFrame(r io.Reader, limit int, buf []byte) (frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size < 1 || size > int64(limit) {
		return frame{}, fmt.Errorf("%w: %d bytes", errFrame, size)
	}
	b := buf[:min(size, int64(cap(buf)))]
	if len(b) == 0 {
		b = make([]byte, min(size, 1<<20))
	}
	for got := 0; ; {
		n, err := io.ReadFull(r, b[got:])
		if got += n; err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		if int64(got) == size {
			f, err := parseFrame(b)
			f.buffer = b
			return f, err
		}
		b = append(b, make([]byte, min(int64(got), size-int64(got)))...)
	}
}

func parseFrame(b []byte) (frame, error) {
	f := frame{kind: kind(b[0])}
	for b = b[1:]; len(b) > 0; {
		if len(b) < 4 || len(f.parts) == maxParts {
			return frame{}, errFrame
		}
		n := int64(binary.LittleEndian.Uint32(b))
		if b = b[4:]; n > int64(len(b)) {
			return frame{}, errFrame
		}
		f.parts = append(f.parts, b[:n:n])
		b = b[n:]
	}
	return f, nil
}
