package egress

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Budget bounds the bytes of several responses together, even if they are read
// concurrently. It is safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Take takes n bytes. It returns false if fewer are left; the budget is then
// exhausted.
func (b *Budget) Take(n int64) bool { return b.used.Add(n) <= b.limit }

// Remaining returns the number of bytes that are left.
func (b *Budget) Remaining() int64 { return max(b.limit-b.used.Load(), 0) }

// DoWithin is [Do] for a response whose bytes are taken from a budget: all of a
// declared length before reading, otherwise each piece as it is read.
func DoWithin(c *http.Client, r *http.Request, maxBody int64, b *Budget) (Response, error) {
	var o Stream
	if err := o.open(c, r, maxBody); err != nil {
		return o.Response, err
	}
	switch n := o.answer.ContentLength; {
	case o.answer.Body == http.NoBody || r.Method == http.MethodHead:
	case n > 0 && n <= maxBody:
		if !b.Take(n) {
			_ = o.Close() // nothing is read
			return o.Response, bodyError(r, &tooLargeError{limit: b.limit, total: true})
		}
	case n < 0:
		o.answer.Body = &budgetReader{o.answer.Body, b}
	}
	return o.ReadAll()
}

// budgetReader is a body whose bytes are taken from a budget.
type budgetReader struct {
	io.ReadCloser

	budget *Budget
}

// maxUnpaid bounds what is read before it is taken from the budget.
const maxUnpaid = 64 << 10

func (p *budgetReader) Read(to []byte) (int, error) {
	n, err := p.ReadCloser.Read(to[:min(len(to), maxUnpaid)])
	if !p.budget.Take(int64(n)) {
		return 0, &tooLargeError{limit: p.budget.limit, total: true}
	}
	return n, err
}
