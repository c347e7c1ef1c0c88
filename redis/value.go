package redis

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"

	"github.com/tenon-mcp/tenon"
)

// The first byte of a value. A number, which the store counts itself, has none: it
// begins with a digit or a minus sign.
const (
	plain  = 'p'
	packed = 'z' // DEFLATE (RFC 1951)
)

// packAbove is the size from which a value is compressed, in bytes: below it takes
// longer than to send it.
const packAbove = 4 << 10

// pack is a value as it is kept.
func (s *Store) pack(value []byte) ([]byte, error) {
	if len(value) > s.maxValue {
		return nil, fmt.Errorf("%w: a value of %d bytes is larger than %d", tenon.ErrStoreFull, len(value), s.maxValue)
	}
	if len(value) < packAbove {
		return append([]byte{plain}, value...), nil
	}
	var b bytes.Buffer
	b.WriteByte(packed)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(value); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack is the value that is kept as text. What another program has written is an
// error, and so is one that is larger than any that is put.
func (s *Store) unpack(text []byte) ([]byte, error) {
	switch {
	case len(text) == 0:
	case text[0] == plain:
		return text[1:], nil
	case text[0] == '-', text[0] >= '0' && text[0] <= '9':
		return text, nil
	case text[0] == packed:
		value, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(text[1:])), int64(s.maxValue)+1))
		if err == nil && len(value) > s.maxValue {
			err = fmt.Errorf("a value is larger than %d bytes", s.maxValue)
		}
		return value, err
	}
	return nil, errors.New("a value is none of tenon's")
}
