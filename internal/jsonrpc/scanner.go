package server

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// scanner goes over a message once, from the first byte to the last. It
// checks all of it and keeps nothing: a tape of a hostile message would take
// many times the memory of the message.
type scanner struct {
	src   []byte
	pos   int
	depth int
}

// fail says what is wrong at the position.
func (s *scanner) fail(what string) error {
	if s.pos >= len(s.src) {
		what = "the message ends too early"
	}
	return &syntaxError{offset: min(s.pos, len(s.src)), what: what}
}

type syntaxError struct {
	offset int
	what   string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.offset, e.what) }

// document reads the one value of a message through read.
func (s *scanner) document(read func() error) error {
	if !utf8.Valid(s.src) {
		return &syntaxError{what: "the message is not UTF-8"}
	}
	s.space()
	if err := read(); err != nil {
		return err
	}
	if s.space(); s.pos != len(s.src) {
		return s.fail("a message is one JSON value, more follows")
	}
	return nil
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value goes over any value and returns its text.
func (s *scanner) value() ([]byte, error) {
	start := s.pos
	err := s.skip()
	return s.src[start:s.pos], err
}

func (s *scanner) skip() error {
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '{':
		return s.members(func([]byte) error { return s.skip() })
	case c == '[':
		return s.array()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.fail("not a JSON value")
}

// members goes over an object. The function is given each key as it is
// written, with its quotes, and must go over the value.
func (s *scanner) members(member func(key []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.space(); s.peek() == '}' {
		return s.leave()
	}
	for {
		start := s.pos
		if s.peek() != '"' {
			return s.fail("a member begins with its name")
		}
		if err := s.text(); err != nil {
			return err
		}
		key := s.src[start:s.pos]
		if s.space(); s.peek() != ':' {
			return s.fail("a colon follows a member's name")
		}
		s.pos++
		s.space()
		if err := member(key); err != nil {
			return err
		}
		if done, err := s.next('}'); done || err != nil {
			return err
		}
	}
}

func (s *scanner) array() error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.space(); s.peek() == ']' {
		return s.leave()
	}
	for {
		if err := s.skip(); err != nil {
			return err
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// next goes over the comma to the next element, or over the closing bracket.
func (s *scanner) next(closing byte) (done bool, err error) {
	s.space()
	switch s.peek() {
	case closing:
		return true, s.leave()
	case ',':
		s.pos++
		s.space()
		return false, nil
	}
	return true, s.fail("a comma or " + string(closing) + " belongs here")
}

func (s *scanner) enter() error {
	if s.depth++; s.depth > rawjson.MaxDepth {
		return s.fail("nested too deep")
	}
	s.pos++
	return nil
}

func (s *scanner) leave() error {
	s.depth--
	s.pos++
	return nil
}

// text goes over a string, eight bytes at a time where nothing is special.
func (s *scanner) text() error {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	s.pos++
	for s.pos < len(s.src) {
		if s.pos+8 <= len(s.src) {
			w := binary.LittleEndian.Uint64(s.src[s.pos:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			// The lowest bit set is exact; higher ones may be borrowed.
			special := ((w - ones*' ') &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
			if special &= high; special == 0 {
				s.pos += 8
				continue
			}
			s.pos += bits.TrailingZeros64(special) >> 3
		}
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.fail("a control character in a string")
		default:
			s.pos++
		}
	}
	return s.fail("")
}

func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if !hexadecimal(s.peek()) {
				return s.fail("four hexadecimal digits follow \\u")
			}
		}
		s.pos++
		return nil
	}
	return s.fail("not an escape of JSON")
}

func hexadecimal(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.peek()|0x20 != 'e' {
		return nil
	}
	s.pos++
	if c := s.peek(); c == '+' || c == '-' {
		s.pos++
	}
	return s.digits()
}

func (s *scanner) digits() error {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	if s.pos == start {
		return s.fail("a digit belongs here")
	}
	return nil
}

func (s *scanner) word(w string) error {
	if len(s.src)-s.pos < len(w) || string(s.src[s.pos:s.pos+len(w)]) != w {
		return s.fail("not a JSON value")
	}
	s.pos += len(w)
	return nil
}
