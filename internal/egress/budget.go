package egress

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Budget bounds the bytes of several answers together, whatever the number of
// them that are read at once. It is safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Take takes n bytes; false: so many are not left, and from now on none are.
func (b *Budget) Take(n int64) bool { return b.used.Add(n) <= b.limit }

// Left tells how many bytes are left.
func (b *Budget) Left() int64 { return max(b.limit-b.used.Load(), 0) }

// DoWithin is [Do] for an answer whose bytes a budget pays: an announced length
// before anything of it is read, else each piece as it is read.
func DoWithin(c *http.Client, r *http.Request, maxBody int64, b *Budget) (Response, error) {
	var o Stream
	if err := o.open(c, r, maxBody); err != nil {
		return o.Response, err
	}
	switch n := o.answer.ContentLength; {
	case o.answer.Body == http.NoBody || r.Method == http.MethodHead:
	case n > 0 && n <= maxBody:
		if !b.Take(n) {
			_ = o.Close() // nothing is read from it
			return o.Response, bodyError(r, &tooLargeError{limit: b.limit, all: true})
		}
	case n < 0:
		o.answer.Body = &paid{o.answer.Body, b}
	}
	return o.Whole()
}

// paid is a body whose bytes a budget pays.
type paid struct {
	io.ReadCloser

	budget *Budget
}

// most bounds what is read before it is paid.
const most = 64 << 10

func (p *paid) Read(to []byte) (int, error) {
	n, err := p.ReadCloser.Read(to[:min(len(to), most)])
	if !p.budget.Take(int64(n)) {
		return 0, &tooLargeError{limit: p.budget.limit, all: true}
	}
	return n, err
}
