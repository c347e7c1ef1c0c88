package egress

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/tenon-mcp/tenon/internal/inflight"
)

const (
	maxPreallocated = 1 << 20  // bytes that are allocated in advance because of a Content-Length
	initialBuffer   = 16 << 10 // initial buffer for bodies of unknown length
	maxPooledBuffer = 4 << 20  // largest buffer that is reused
)

// tooLargeError is the error for a body with more than limit bytes, or for a
// budget that is exceeded.
type tooLargeError struct {
	limit int64
	total bool
}

func (e *tooLargeError) Error() string {
	if e.total {
		return fmt.Sprintf("the responses of one call are larger than %d bytes together", e.limit)
	}
	return fmt.Sprintf("the response is larger than %d bytes", e.limit)
}

var errSwitched = errors.New("the upstream switched to another protocol")

// readBody reads the response body, of at most limit bytes. It returns the
// bytes that were read even with an error.
//
//nolint:contextcheck,nolintlint // the request has the context
func readBody(d *transport, answer *http.Response, limit int64) ([]byte, error) {
	limit = min(max(limit, 0), math.MaxInt64-1)
	switch n := answer.ContentLength; {
	case answer.StatusCode == http.StatusSwitchingProtocols:
		return nil, errSwitched
	case answer.Request.Method == http.MethodHead || n == 0:
		return nil, nil
	case n > limit:
		return nil, &tooLargeError{limit: limit}
	case n > 0 && n <= maxPreallocated:
		return readExactly(answer.Body, int(n))
	}
	body := inflight.Reader(answer.Request.Context(), answer.Body, answer.ContentLength)
	if answer.ContentLength > 0 || d == nil {
		return readAll(body, nil, limit, answer.ContentLength)
	}
	return d.readPooled(body, limit)
}

// readExactly reads a body of known length.
func readExactly(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) { // the body is empty, but n bytes were declared
		err = io.ErrUnexpectedEOF
	}
	return b[:got], err
}

// readPooled reads into a reusable buffer and makes one copy of the exact size.
// A buffer that is too large for reuse becomes the result.
func (d *transport) readPooled(r io.Reader, limit int64) ([]byte, error) {
	kept, ok := d.scratch.Get().(*[]byte)
	if !ok {
		kept = new(make([]byte, 0, initialBuffer))
	}
	b, err := readAll(r, (*kept)[:0], limit, -1)
	if cap(b) > maxPooledBuffer && len(b) > cap(b)/2 {
		return b, err
	}
	own := append([]byte(nil), b...)
	if cap(b) <= maxPooledBuffer {
		*kept = b
		d.scratch.Put(kept)
	}
	return own, err
}

// readAll appends the content of r to b, and fails after limit bytes. announced
// is the Content-Length, which bounds the allocation; negative: unknown.
func readAll(r io.Reader, b []byte, limit, announced int64) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			more := max(len(b), 512) // append would grow by a quarter and copy a large body five times
			if left := announced + 1 - int64(len(b)); left > 0 {
				more = int(min(int64(max(more, maxPreallocated)), left))
			}
			b = slices.Grow(b, more)
		}
		// One byte more than the limit shows that a body is too large.
		space := min(int64(cap(b)-len(b)), limit-int64(len(b))+1)
		n, err := r.Read(b[len(b) : len(b)+int(space)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return b[:limit], &tooLargeError{limit: limit}
		case err == io.EOF: // a wrapped one is not the end
			return b, nil
		case err != nil:
			return b, err
		}
	}
}
