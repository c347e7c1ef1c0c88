// Package bookshop is a small second-hand bookshop with a REST API: the
// service that the demo and the tests put tools in front of. It has the
// features of real APIs on a few hundred lines: pages, several media types,
// problems, fields that are only read or only written, a slow report, numbers
// that no float holds, and one answer that breaks its own schema.
//
// It does not know that it is used through tools: it serves plain HTTP and
// describes itself in openapi.yaml, nothing else.
//
// It stands outside the path, in the place of the upstream.
package bookshop

import (
	"bytes"
	_ "embed" // for the document
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"
)

// BrokenStock is the book whose stock is answered with a count that is a
// string and without the warehouse, against the schema of the operation.
const BrokenStock = "b1007"

// Options for a shop. The zero value works.
type Options struct {
	Now func() time.Time // dates new books; nil: time.Now
}

// Shop is the service. It is safe for concurrent use.
type Shop struct {
	mux *http.ServeMux
	now func() time.Time

	mu       sync.RWMutex
	books    []record // sorted by id
	next     int      // number of the next book
	requests map[string]int
}

var _ http.Handler = (*Shop)(nil)

// New returns a shop with the books that it always starts with.
func New(o Options) *Shop {
	s := &Shop{mux: http.NewServeMux(), now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	s.Reset()
	s.routes()
	return s
}

// Reset puts the first books back and forgets what was counted.
func (s *Shop) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books = firstBooks()
	s.next = firstNumber + len(s.books)
	s.requests = map[string]int{}
}

// Requests tells how often each operation was asked for, by operation id.
func (s *Shop) Requests() map[string]int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.requests)
}

//go:embed openapi.yaml
var document []byte

// Document is the shop's OpenAPI 3.1 document, in YAML, for a shop that is
// served at baseURL.
func (s *Shop) Document(baseURL string) []byte {
	quoted, err := json.Marshal(baseURL) // a JSON string is a YAML string
	if err != nil {
		return document
	}
	return bytes.Replace(document, []byte(`"http://bookshop.invalid"`), quoted, 1)
}

// ServeHTTP answers one request.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mux.ServeHTTP(w, r)
}

func (s *Shop) routes() {
	s.handle("GET /books", "listBooks", s.listBooks)
	s.handle("POST /books", "createBook", s.createBook)
	s.handle("GET /books/search", "searchBooks", s.searchBooks)
	s.handle("GET /books/{bookId}", "getBook", s.getBook)
	s.handle("PUT /books/{bookId}", "replaceBook", s.replaceBook)
	s.handle("PATCH /books/{bookId}", "updateBook", s.updateBook)
	s.handle("DELETE /books/{bookId}", "deleteBook", s.deleteBook)
	s.handle("GET /books/{bookId}/cover", "getCover", s.getCover)
	s.handle("GET /books/{bookId}/stock", "getStock", s.getStock)
	s.handle("GET /categories", "listCategories", s.listCategories)
	s.handle("GET /exports/books.csv", "exportBooks", s.exportBooks)
	s.handle("GET /reports/sales", "salesReport", s.salesReport)
	s.mux.HandleFunc("GET /openapi.yaml", s.serveDocument)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		notFound("The shop has nothing at this path.").write(w)
	})
}

// handle counts the operation and writes the problem that its function gives.
func (s *Shop) handle(pattern, operation string, answer func(http.ResponseWriter, *http.Request) *problem) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[operation]++
		s.mu.Unlock()
		if p := answer(w, r); p != nil {
			p.write(w)
		}
	})
}

func (s *Shop) serveDocument(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(s.Document("http://" + r.Host)) //nolint:gosec // G705: YAML, and the host is quoted
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // our own types encode; a client that left needs no answer
}
