package jsonrpc

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Scanner goes over a message once, from the first byte to the last. It
// checks all of it and keeps nothing: a tape of a hostile message would take
// many times the memory of the message.
type Scanner struct {
	Src   []byte
	pos   int
	depth int
}

// fail says what is wrong at the position.
func (s *Scanner) fail(what string) error {
	if s.pos >= len(s.Src) {
		what = "the message ends too early"
	}
	return &syntaxError{offset: min(s.pos, len(s.Src)), what: what}
}

type syntaxError struct {
	offset int
	what   string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.offset, e.what) }

// Document reads the one value of a message through read.
func (s *Scanner) Document(read func() error) error {
	if !utf8.Valid(s.Src) {
		return &syntaxError{what: "the message is not UTF-8"}
	}
	s.Space()
	if err := read(); err != nil {
		return err
	}
	if s.Space(); s.pos != len(s.Src) {
		return s.fail("a message is one JSON value, more follows")
	}
	return nil
}

// Peek returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.pos < len(s.Src) {
		return s.Src[s.pos]
	}
	return 0
}

// Space skips white space.
func (s *Scanner) Space() {
	for s.pos < len(s.Src) {
		switch s.Src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// Value goes over any value and returns its text.
func (s *Scanner) Value() ([]byte, error) {
	start := s.pos
	err := s.skip()
	return s.Src[start:s.pos], err
}

func (s *Scanner) skip() error {
	switch c := s.Peek(); {
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
func (s *Scanner) members(member func(key []byte) error) error {
	if err := s.Enter(); err != nil {
		return err
	}
	if s.Space(); s.Peek() == '}' {
		return s.Leave()
	}
	for {
		start := s.pos
		if s.Peek() != '"' {
			return s.fail("a member begins with its name")
		}
		if err := s.text(); err != nil {
			return err
		}
		key := s.Src[start:s.pos]
		if s.Space(); s.Peek() != ':' {
			return s.fail("a colon follows a member's name")
		}
		s.pos++
		s.Space()
		if err := member(key); err != nil {
			return err
		}
		if done, err := s.Next('}'); done || err != nil {
			return err
		}
	}
}

func (s *Scanner) array() error {
	if err := s.Enter(); err != nil {
		return err
	}
	if s.Space(); s.Peek() == ']' {
		return s.Leave()
	}
	for {
		if err := s.skip(); err != nil {
			return err
		}
		if done, err := s.Next(']'); done || err != nil {
			return err
		}
	}
}

// Next goes over the comma to the next element, or over the closing bracket.
func (s *Scanner) Next(closing byte) (done bool, err error) {
	s.Space()
	switch s.Peek() {
	case closing:
		return true, s.Leave()
	case ',':
		s.pos++
		s.Space()
		return false, nil
	}
	return true, s.fail("a comma or " + string(closing) + " belongs here")
}

// Enter counts one level of nesting, up to the bound.
func (s *Scanner) Enter() error {
	if s.depth++; s.depth > rawjson.MaxDepth {
		return s.fail("nested too deep")
	}
	s.pos++
	return nil
}

// Leave ends a level of nesting.
func (s *Scanner) Leave() error {
	s.depth--
	s.pos++
	return nil
}

// text goes over a string, eight bytes at a time where nothing is special.
func (s *Scanner) text() error {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	s.pos++
	for s.pos < len(s.Src) {
		if s.pos+8 <= len(s.Src) {
			w := binary.LittleEndian.Uint64(s.Src[s.pos:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			// The lowest bit set is exact; higher ones may be borrowed.
			special := ((w - ones*' ') &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
			if special &= high; special == 0 {
				s.pos += 8
				continue
			}
			s.pos += bits.TrailingZeros64(special) >> 3
		}
		switch c := s.Src[s.pos]; {
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

func (s *Scanner) escape() error {
	s.pos++
	switch s.Peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if !hexadecimal(s.Peek()) {
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

func (s *Scanner) number() error {
	if s.Peek() == '-' {
		s.pos++
	}
	if s.Peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.Peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.Peek()|0x20 != 'e' {
		return nil
	}
	s.pos++
	if c := s.Peek(); c == '+' || c == '-' {
		s.pos++
	}
	return s.digits()
}

func (s *Scanner) digits() error {
	start := s.pos
	for c := s.Peek(); c >= '0' && c <= '9'; c = s.Peek() {
		s.pos++
	}
	if s.pos == start {
		return s.fail("a digit belongs here")
	}
	return nil
}

func (s *Scanner) word(w string) error {
	if len(s.Src)-s.pos < len(w) || string(s.Src[s.pos:s.pos+len(w)]) != w {
		return s.fail("not a JSON value")
	}
	s.pos += len(w)
	return nil
}
