package server

import (
	"bytes"
	"encoding/base64"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// piece is a part of a response that is not copied into its buffer: it precedes
// buf[at], with the encoding in which it is written.
type piece struct {
	at  int
	src []byte // must not be changed
	as  form
}

// form is how bytes stand in an answer.
type form uint8

const (
	asIs     form = iota
	asString      // a JSON string of this text
	asBase64
)

// debt is what a response holds of a quota until it is written.
type debt struct {
	quota       *quota
	account     account
	n           int64
	reservation *reservation  // bytes of answers, instead of the above
	holders     *atomic.Int32 // who have to be done with it; nil: only the answer
}

func (d debt) settle() {
	switch {
	case d.holders != nil && d.holders.Add(-1) > 0:
	case d.reservation != nil:
		d.reservation.settle(0)
	default:
		d.quota.give(d.account, d.n)
	}
}

const (
	large = 64 << 10 // from which on bytes are not copied
	chunk = 30 << 10 // that are put into their form at once; three divide it
)

// put adds bytes, as a piece where they are many.
func (a *answer) put(src []byte, as form) {
	switch {
	case len(src) >= large:
		a.refer(src, as)
	case as == asString:
		a.buf = rawjson.AppendString(a.buf, src)
	case as == asBase64:
		a.buf = base64.StdEncoding.AppendEncode(a.buf, src)
	default:
		a.buf = append(a.buf, src...)
	}
}

// refer adds bytes that stay where they are.
func (a *answer) refer(src []byte, as form) {
	a.pieces = append(a.pieces, piece{at: len(a.buf), src: src, as: as})
}

// join adds all of another answer.
func (a *answer) join(b *answer) {
	at := 0
	for _, p := range b.pieces {
		a.buf = append(a.buf, b.buf[at:p.at]...)
		at = p.at
		a.refer(p.src, p.as)
	}
	a.buf = append(a.buf, b.buf[at:]...)
}

// size is the number of bytes that the answer has.
func (a *answer) size() int {
	n := len(a.buf)
	for _, p := range a.pieces {
		switch p.as {
		case asIs:
			n += len(p.src)
		case asBase64:
			n += base64.StdEncoding.EncodedLen(len(p.src))
		case asString:
			_ = escaped(p.src, func(part []byte) error { n += len(part); return nil })
		}
	}
	return n
}

// holds is the number of bytes of memory that the answer needs until it is
// written: two pieces may be the same bytes.
func (a *answer) holds() (n int64) {
	n = int64(cap(a.buf))
	for i, p := range a.pieces {
		same := false
		for _, q := range a.pieces[:i] {
			same = same || len(p.src) > 0 && len(q.src) > 0 && &p.src[0] == &q.src[0]
		}
		if !same {
			n += int64(len(p.src))
		}
	}
	return n
}

// each hands the answer's bytes to write, in their order. In one line there are
// no line ends: JSON has none inside of strings, so they are white space of an
// upstream. What write gets is good until it returns.
func (a *answer) each(oneLine bool, write func([]byte) error) error {
	at := 0
	for _, p := range a.pieces {
		if err := plainly(a.buf[at:p.at], oneLine, write); err != nil {
			return err
		}
		at = p.at
		var err error
		switch p.as {
		case asIs:
			err = plainly(p.src, oneLine, write)
		case asString:
			err = escaped(p.src, write)
		case asBase64:
			err = encoded(p.src, write)
		}
		if err != nil {
			return err
		}
	}
	return plainly(a.buf[at:], oneLine, write)
}

func plainly(src []byte, oneLine bool, write func([]byte) error) error {
	if len(src) == 0 {
		return nil
	}
	if !oneLine || bytes.IndexByte(src, '\n') < 0 && bytes.IndexByte(src, '\r') < 0 {
		return write(src)
	}
	buf := make([]byte, min(chunk, len(src)))
	for len(src) > 0 {
		n := copy(buf, src)
		inOneLine(buf[:n])
		if err := write(buf[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

// inOneLine replaces line ends, which are white space in JSON.
func inOneLine(b []byte) {
	for _, end := range [...]byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, end)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

func escaped(src []byte, write func([]byte) error) error {
	buf := make([]byte, 0, chunk+chunk/4)
	if err := write([]byte{'"'}); err != nil {
		return err
	}
	for len(src) > 0 {
		n := min(chunk, len(src))
		for back := 0; n < len(src) && back < utf8.UTFMax-1 && !utf8.RuneStart(src[n]); back++ {
			n-- // a character is not torn apart
		}
		buf = rawjson.AppendString(buf[:0], src[:n])
		if err := write(buf[1 : len(buf)-1]); err != nil {
			return err
		}
		src = src[n:]
	}
	return write([]byte{'"'})
}

func encoded(src []byte, write func([]byte) error) error {
	buf := make([]byte, 0, base64.StdEncoding.EncodedLen(chunk))
	for len(src) > 0 {
		n := min(chunk, len(src))
		if err := write(base64.StdEncoding.AppendEncode(buf[:0], src[:n])); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

// flat is the answer as one text without line ends, which no longer belongs to
// it.
func (a *answer) flat() []byte {
	if len(a.pieces) == 0 {
		b := a.buf
		a.buf = nil
		inOneLine(b)
		return bytes.TrimSpace(b)
	}
	b := make([]byte, 0, a.size())
	_ = a.each(true, func(part []byte) error {
		b = append(b, part...)
		return nil
	})
	return bytes.TrimSpace(b)
}
