package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads lines of bounded length.
type lineReader struct {
	in    *bufio.Reader
	limit int64
}

var errLineTooLong = errors.New("the line is too long")

// next returns the next line that is not blank, without its end, in memory of
// its own. A last line may come together with the error that ended the input.
// A line that is too long is gone over and reported.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > r.limit+1; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		default:
			return line, err
		}
	}
}
