package sqlite

import (
	"errors"
	"strings"
)

// Statement is one statement of SQL.
type Statement struct {
	Text  string // without the semicolon and the comments behind it
	Verb  string // its first word in upper case
	Marks int    // positional parameters
}

// Reads reports whether the statement is a query.
func (s Statement) Reads() bool {
	return s.Verb == "SELECT" || s.Verb == "WITH" || s.Verb == "VALUES"
}

// Parse parses a text that must contain exactly one statement. It finds the ends
// of statements and comments like SQLite; the rest is left to SQLite.
func Parse(text string) (Statement, error) {
	if strings.ContainsRune(text, 0) {
		return Statement{}, errors.New("the SQL contains a NUL byte")
	}
	from, end, marks := -1, len(text), 0
	closed := false
	for i := 0; i < len(text); {
		next := skip(text, i)
		switch {
		case next > i:
		case closed:
			return Statement{}, errors.New("the SQL contains more than one statement")
		case text[i] == ';':
			closed = from >= 0 // a leading semicolon is an empty statement
			next = i + 1
		default:
			if from < 0 {
				from = i
			}
			if text[i] == '?' {
				marks++
			}
			next = token(text, i)
			end = next
		}
		i = next
	}
	if from < 0 {
		return Statement{}, errors.New("the SQL contains no statement")
	}
	s := Statement{Text: text[from:end], Marks: marks}
	word := 0
	for word < len(s.Text) && isLetter(s.Text[word]) {
		word++
	}
	s.Verb = strings.ToUpper(s.Text[:word])
	return s, nil
}

// skip returns the offset after white space or a comment at i, else i.
func skip(text string, i int) int {
	switch {
	case strings.IndexByte(" \t\n\f\r", text[i]) >= 0:
		return i + 1
	case strings.HasPrefix(text[i:], "\uFEFF"):
		return i + len("\uFEFF")
	case strings.HasPrefix(text[i:], "--"):
		return after(text, i+2, "\n")
	case strings.HasPrefix(text[i:], "/*"):
		return after(text, i+2, "*/")
	}
	return i
}

// token returns the offset after the token at i. Only tokens that can contain a
// semicolon matter; others are skipped byte by byte.
func token(text string, i int) int {
	switch q := text[i]; q {
	case '\'', '"', '`':
		for j := i + 1; j < len(text); j++ {
			if text[j] != q {
				continue
			}
			if j+1 < len(text) && text[j+1] == q { // a doubled quote is an escaped quote
				j++
				continue
			}
			return j + 1
		}
		return len(text)
	case '[':
		return after(text, i+1, "]")
	}
	return i + 1
}

func after(text string, from int, mark string) int {
	if at := strings.Index(text[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(text)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
