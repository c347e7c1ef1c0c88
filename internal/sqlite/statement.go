package sqlite

import (
	"errors"
	"strings"
)

// Statement is one statement of SQL.
type Statement struct {
	Text  string // without the semicolon and the comments behind it
	Verb  string // its first word in capitals
	Marks int    // places where a value is bound, if none of them has a name
}

// Reads reports whether the statement is written as a question.
func (s Statement) Reads() bool {
	return s.Verb == "SELECT" || s.Verb == "WITH" || s.Verb == "VALUES"
}

// One reads a text that must hold one statement. It tells where statements and
// comments end, as SQLite does; what the statement says is SQLite's business.
func One(text string) (Statement, error) {
	if strings.ContainsRune(text, 0) {
		return Statement{}, errors.New("the SQL holds a byte 0")
	}
	from, end, marks := -1, len(text), 0
	closed := false
	for i := 0; i < len(text); {
		next := skip(text, i)
		switch {
		case next > i:
		case closed:
			return Statement{}, errors.New("the SQL holds more than one statement")
		case text[i] == ';':
			closed = from >= 0 // before the statement it is an empty one
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
		return Statement{}, errors.New("the SQL holds no statement")
	}
	s := Statement{Text: text[from:end], Marks: marks}
	word := 0
	for word < len(s.Text) && isLetter(s.Text[word]) {
		word++
	}
	s.Verb = strings.ToUpper(s.Text[:word])
	return s, nil
}

// skip is behind the white space or the comment at i; i where there is none.
func skip(text string, i int) int {
	switch {
	case strings.IndexByte(" \t\n\f\r", text[i]) >= 0:
		return i + 1
	case strings.HasPrefix(text[i:], "\uFEFF"):
		return i + len("\uFEFF")
	case strings.HasPrefix(text[i:], "--"):
		return behind(text, i+2, "\n")
	case strings.HasPrefix(text[i:], "/*"):
		return behind(text, i+2, "*/")
	}
	return i
}

// token is behind the token at i. Only those that can hold a semicolon count;
// of the others it takes a byte at a time.
func token(text string, i int) int {
	switch q := text[i]; q {
	case '\'', '"', '`':
		for j := i + 1; j < len(text); j++ {
			if text[j] != q {
				continue
			}
			if j+1 < len(text) && text[j+1] == q { // a doubled quote stands for itself
				j++
				continue
			}
			return j + 1
		}
		return len(text)
	case '[':
		return behind(text, i+1, "]")
	}
	return i + 1
}

func behind(text string, from int, mark string) int {
	if at := strings.Index(text[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(text)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
