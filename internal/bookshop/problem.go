package bookshop

import (
	"encoding/json"
	"net/http"
)

// problem is an error answer (RFC 9457).
type problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail"`
	Errors []fieldError `json:"errors,omitempty"`
}

// fieldError says what is wrong at one place of the request's body.
type fieldError struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

func newProblem(status int, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

func badRequest(detail string) *problem { return newProblem(http.StatusBadRequest, detail) }

func notFound(detail string) *problem { return newProblem(http.StatusNotFound, detail) }

func noBook(id string) *problem { return notFound("There is no book with the id " + id + ".") }

func conflict(detail string) *problem { return newProblem(http.StatusConflict, detail) }

func invalid(errs []fieldError) *problem {
	p := newProblem(http.StatusUnprocessableEntity, "The book is not complete or not right.")
	p.Errors = errs
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that left needs no answer
}
