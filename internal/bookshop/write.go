package bookshop

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const maxBook = 64 << 10 // bytes of a book in a request

func (s *Shop) createBook(w http.ResponseWriter, r *http.Request) *problem {
	body, p := readBody(r)
	if p != nil {
		return p
	}
	rec, p := parseBook(body)
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.taken(rec.ISBN, ""); p != nil {
		return p
	}
	rec.ID, rec.CreatedAt = bookID(s.next), s.now().UTC().Truncate(time.Second)
	s.next++
	s.books = append(s.books, rec)
	w.Header().Set("Location", "/books/"+rec.ID)
	writeJSON(w, http.StatusCreated, rec.book)
	return nil
}

func (s *Shop) replaceBook(w http.ResponseWriter, r *http.Request) *problem {
	return s.change(w, r, func(_ record, body []byte) ([]byte, *problem) { return body, nil })
}

func (s *Shop) updateBook(w http.ResponseWriter, r *http.Request) *problem {
	return s.change(w, r, merge)
}

// change puts another book in the place of the one that the path names.
func (s *Shop) change(w http.ResponseWriter, r *http.Request, build func(old record, body []byte) ([]byte, *problem)) *problem {
	body, p := readBody(r)
	if p != nil {
		return p
	}
	id := r.PathValue("bookId")
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index(id)
	if !ok {
		return noBook(id)
	}
	old := s.books[i]
	if body, p = build(old, body); p != nil {
		return p
	}
	rec, p := parseBook(body)
	if p != nil {
		return p
	}
	if p := s.taken(rec.ISBN, id); p != nil {
		return p
	}
	rec.ID, rec.CreatedAt = old.ID, old.CreatedAt
	s.books = slices.Clone(s.books)
	s.books[i] = rec
	writeJSON(w, http.StatusOK, rec.book)
	return nil
}

// merge lays the members of a patch over the old book (RFC 7396, first level).
func merge(old record, patch []byte) ([]byte, *problem) {
	whole, err := json.Marshal(old)
	if err != nil {
		return nil, newProblem(http.StatusInternalServerError, "The book cannot be read.")
	}
	members := map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(whole, &members), json.Unmarshal(patch, &members)); err != nil {
		return nil, badRequest("The body must be a JSON object.")
	}
	merged, err := json.Marshal(members)
	if err != nil {
		return nil, badRequest("The body must be a JSON object.")
	}
	return merged, nil
}

func (s *Shop) deleteBook(w http.ResponseWriter, r *http.Request) *problem {
	id := r.PathValue("bookId")
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index(id)
	if !ok {
		return noBook(id)
	}
	s.books = slices.Delete(slices.Clone(s.books), i, i+1)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// taken refuses an ISBN that another book has; the caller holds the lock.
func (s *Shop) taken(isbn, except string) *problem {
	for i := range s.books {
		if s.books[i].ISBN == isbn && s.books[i].ID != except {
			return conflict("The book " + s.books[i].ID + " already has the ISBN " + isbn + ".")
		}
	}
	return nil
}

func readBody(r *http.Request) ([]byte, *problem) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBook+1))
	if err != nil {
		return nil, badRequest("The body could not be read.")
	}
	if len(body) > maxBook {
		return nil, badRequest("A book has at most 65536 bytes.")
	}
	return body, nil
}

// parseBook reads a book that a client sent. What only the shop may set is
// accepted and has no effect, so that a book that was read can be sent back.
func parseBook(body []byte) (record, *problem) {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	var rec record
	err := dec.Decode(&rec)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		at := "/" + strings.ReplaceAll(strings.TrimPrefix(wrongType.Field, "book."), ".", "/")
		return record{}, invalid([]fieldError{{Pointer: at, Detail: "must not be a JSON " + wrongType.Value}})
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field"):
		return record{}, invalid([]fieldError{{Pointer: "", Detail: strings.TrimPrefix(err.Error(), "json: ")}})
	case err != nil:
		return record{}, badRequest("The body is not a book in JSON.")
	case dec.More():
		return record{}, badRequest("There is something behind the book.")
	}
	if errs := rec.check(); errs != nil {
		return record{}, invalid(errs)
	}
	rec.normalize()
	return rec, nil
}
