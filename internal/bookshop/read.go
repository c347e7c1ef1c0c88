package bookshop

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// page is one page of the list of books.
type page struct {
	Items      []book  `json:"items"`
	Total      int     `json:"total"`
	NextCursor *string `json:"nextCursor"`
}

func (s *Shop) listBooks(w http.ResponseWriter, r *http.Request) *problem {
	q := r.URL.Query()
	limit, p := number(q, "limit", 5, 1, 50)
	if p != nil {
		return p
	}
	after, err := base64.RawURLEncoding.DecodeString(q.Get("cursor"))
	if err != nil || len(after) > 0 && !strings.HasPrefix(string(after), "b") {
		return badRequest("The cursor is not one of ours; take nextCursor of the last page as it is.")
	}
	genre := q.Get("genre")
	if genre != "" && !slices.Contains(genres(), genre) {
		return badRequest("The genre must be one of " + strings.Join(genres(), ", ") + ".")
	}
	all := s.find(func(b *book) bool { return genre == "" || b.Genre == genre })
	from := slices.IndexFunc(all, func(b book) bool { return b.ID > string(after) })
	if from < 0 {
		from = len(all)
	}
	got := page{Items: all[from:min(from+limit, len(all))], Total: len(all)}
	if from+limit < len(all) {
		got.NextCursor = new(base64.RawURLEncoding.EncodeToString([]byte(all[from+limit-1].ID)))
	}
	writeJSON(w, http.StatusOK, got)
	return nil
}

func (s *Shop) searchBooks(w http.ResponseWriter, r *http.Request) *problem {
	q := r.URL.Query()
	low, p := number(q, "price[min]", 0, 0, 1_000_000)
	if p != nil {
		return p
	}
	high, p := number(q, "price[max]", 1_000_000, 0, 1_000_000)
	if p != nil {
		return p
	}
	words := strings.Fields(strings.ToLower(q.Get("q")))
	writeJSON(w, http.StatusOK, s.find(func(b *book) bool {
		return within(b.PriceCents, low, high) && b.hasTags(q["tags"]) && b.hasWords(words)
	}))
	return nil
}

func (b *book) hasTags(tags []string) bool {
	for _, tag := range tags {
		if !slices.Contains(b.Tags, tag) {
			return false
		}
	}
	return true
}

func (b *book) hasWords(words []string) bool {
	var text strings.Builder
	text.WriteString(b.Title)
	if b.Subtitle != nil {
		text.WriteString(" " + *b.Subtitle)
	}
	for _, a := range b.Authors {
		text.WriteString(" " + a.Name)
	}
	lower := strings.ToLower(text.String())
	for _, word := range words {
		if !strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

func (s *Shop) getBook(w http.ResponseWriter, r *http.Request) *problem {
	b, p := s.wanted(r)
	if p != nil {
		return p
	}
	writeJSON(w, http.StatusOK, b)
	return nil
}

// find returns the books that fit, in the order of their ids; never nil.
// Books in the shop are replaced and never changed, so they can be shared.
func (s *Shop) find(fits func(*book) bool) []book {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []book{}
	for i := range s.books {
		if fits(&s.books[i].book) {
			found = append(found, s.books[i].book)
		}
	}
	return found
}

// wanted is the book that the path names.
func (s *Shop) wanted(r *http.Request) (book, *problem) {
	id := r.PathValue("bookId")
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index(id)
	if !ok {
		return book{}, noBook(id)
	}
	return s.books[i].book, nil
}

// index finds a book; the caller holds the lock.
func (s *Shop) index(id string) (int, bool) {
	return slices.BinarySearchFunc(s.books, id, func(b record, id string) int { return cmp.Compare(b.ID, id) })
}

// number reads a whole number of the query.
func number(q url.Values, name string, otherwise, low, high int) (int, *problem) {
	if !q.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || !within(n, low, high) {
		return 0, badRequest(name + " must be a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high) + ".")
	}
	return n, nil
}
